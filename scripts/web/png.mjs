// Screenshots made small: at most 256 colours, found by how often they occur. Pictures of text lose nothing that is seen.

import zlib from "node:zlib";

const SIGN = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const crcs = new Uint32Array(256).map((_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crc = (data) => {
  let c = 0xffffffff;
  for (const byte of data) c = crcs[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
};

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

/** Width, height, and the pixels as rows of red, green, blue. */
function decode(png) {
  let at = SIGN.length;
  let head;
  const packed = [];
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    const name = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") head = { width: data.readUInt32BE(0), height: data.readUInt32BE(4), channels: data[9] === 6 ? 4 : 3, depth: data[8] };
    if (name === "IDAT") packed.push(data);
    at += length + 12;
  }
  const { width, height, channels } = head;
  const raw = zlib.inflateSync(Buffer.concat(packed));
  const line = width * channels;
  const pixels = Buffer.alloc(line * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; x += 1) {
      const value = raw[y * (line + 1) + 1 + x];
      const left = x >= channels ? pixels[y * line + x - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * line + x] : 0;
      const corner = x >= channels && y > 0 ? pixels[(y - 1) * line + x - channels] : 0;
      const paeth = () => {
        const p = left + up - corner;
        const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
        return a <= b && a <= c ? left : b <= c ? up : corner;
      };
      pixels[y * line + x] = value + [0, left, up, (left + up) >> 1, filter === 4 ? paeth() : 0][filter];
    }
  }
  return { width, height, channels, pixels };
}

export function small(png) {
  const { width, height, channels, pixels } = decode(png);
  const count = new Map();
  const colour = (at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  for (let at = 0; at < pixels.length; at += channels) count.set(colour(at), (count.get(colour(at)) ?? 0) + 1);
  const palette = [...count].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([value]) => value);
  const known = new Map(palette.map((value, index) => [value, index]));
  const nearest = (value) => {
    let best = 0;
    let least = Infinity;
    palette.forEach((other, index) => {
      const [r, g, b] = [(value >> 16) - (other >> 16), ((value >> 8) & 255) - ((other >> 8) & 255), (value & 255) - (other & 255)];
      const far = 3 * r * r + 6 * g * g + b * b;
      if (far < least) [least, best] = [far, index];
    });
    known.set(value, best);
    return best;
  };
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const value = colour((y * width + x) * channels);
      rows[y * (width + 1) + 1 + x] = known.get(value) ?? nearest(value);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((value) => [value >> 16, (value >> 8) & 255, value & 255]));
  return Buffer.concat([SIGN, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", zlib.deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
