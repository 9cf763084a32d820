// What the clients in JavaScript share: `CLIENT.mjs PROXY UPSTREAM`.
export const [proxy, upstream] = process.argv.slice(2);
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const long = "The lantern build failed with E-4417 while the mast was lowered; the second boiler's valve is turned by hand. ".repeat(12);
export const schema = { type: "object", properties: { cmd: { type: "string" } } };

export const check = (fine, what) => {
  if (!fine) throw new Error(JSON.stringify(what));
};

// What the upstream was asked.
const seen = async () => (await fetch(`${upstream}/seen`)).json();

// Has each of the conversations, which give the size of the client's list, and looks at what came of it.
export async function each(conversations) {
  for (const [name, conversation] of Object.entries(conversations)) {
    const before = (await seen()).length;
    const size = await conversation();
    const sent = (await seen()).slice(before);
    const largest = Math.max(...sent.map((entry) => entry.bytes));
    const refused = sent.filter((entry) => entry.refused).length;
    check(refused <= 1 && (largest * 2 < size || refused), { name, size, largest, refused });
    console.log(`${name}: ${sent.length} requests, the client's list ${size} bytes, the largest sent ${largest}, refused ${refused}`);
  }
}
