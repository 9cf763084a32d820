// The size of the window over the life of a thread: a drawing of our own, since its marks are buttons, its colours follow
// the theme, and what it shows is also there as text.

import { at, exactly, h, number, plural, s, short } from "./dom.js";

const CAUSES = { compaction: "Compaction", undo: "Undo", redo: "Redo", move: "Move" };
const GLYPHS = { compaction: "▼", undo: "↶", redo: "↷", move: "⤴" };

/** Points that fall on the same place of the drawing become one. */
function thin(points, x) {
  const out = [];
  for (const point of points) {
    const place = Math.round(x(point));
    const last = out.at(-1);
    if (last && last.place === place && out.at(-2)?.place === place) out[out.length - 1] = { place, point };
    else out.push({ place, point });
  }
  return out.map(({ point }) => point);
}

/**
 * `lines`: {limit, trigger, soft, keep} in tokens. `by`: "messages" or "time". `pick` hears which mark was chosen.
 */
export function chart(curve, lines, { width, height, by = "messages", pick }) {
  const { points, marks } = curve;
  const pad = { left: 40, right: 12, top: 18, bottom: 20 };
  const inner = { w: Math.max(40, width - pad.left - pad.right), h: height - pad.top - pad.bottom };
  const value = (point) => (by === "time" ? point.ms : point.messages);
  const first = points.length ? Math.min(...points.slice(0, 1).map(value), by === "time" ? value(points[0]) : 0) : 0;
  const last = points.length ? Math.max(value(points.at(-1)), first + 1) : 1;
  const highest = Math.max(1, ...points.map((point) => point.tokens), ...marks.flatMap((mark) => [mark.before, mark.after]));
  const floor = Math.max(highest, lines.trigger ?? 0, lines.soft ?? 0, lines.keep ?? 0);
  const shows = (line) => line && line <= floor * 1.25;
  const top = Math.max(floor, ...Object.values(lines).filter(shows)) * 1.06;
  const x = (point) => pad.left + (inner.w * (value(point) - first)) / (last - first);
  const y = (tokens) => pad.top + inner.h * (1 - tokens / top);
  const shown = thin(points, x);
  const path = shown.map((point, index) => `${index ? "L" : "M"}${x(point).toFixed(1)} ${y(point.tokens).toFixed(1)}`).join("");
  const area = shown.length ? `${path}L${x(shown.at(-1)).toFixed(1)} ${y(0)}L${x(shown[0]).toFixed(1)} ${y(0)}Z` : "";
  const names = { trigger: "trigger", soft: "soft trigger", keep: "keep", limit: "limit" };
  const drawn = Object.entries(names).filter(([name]) => shows(lines[name]));
  const step = nice(top / 3);
  const ticks = [];
  for (let tick = 0; tick <= top; tick += step) ticks.push(tick);
  const what = `Window over ${by === "time" ? "time" : "messages"}: ${points.length ? `${number(points.at(-1).tokens)} tokens now, at most ${number(highest)}` : "nothing yet"}. ${marks.length} changes. ${drawn.map(([name]) => `${names[name]} ${number(lines[name])}`).join(", ")}`;
  const drawing = s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": what },
    ticks.map((tick) => [s("line", { class: "grid", x1: pad.left, x2: width - pad.right, y1: y(tick), y2: y(tick) }), s("text", { class: "tick-text", x: pad.left - 6, y: y(tick) + 3.5, "text-anchor": "end" }, short(tick))]),
    area ? s("path", { class: "area", d: area }) : null,
    path ? s("path", { class: "curve", d: path }) : null,
    drawn.map(([name]) => [
      s("line", { class: `limit at-${name}`, x1: pad.left, x2: width - pad.right, y1: y(lines[name]), y2: y(lines[name]) }),
      s("text", { class: `limit-text at-${name}`, x: width - pad.right - 2, y: y(lines[name]) + (name === "soft" ? 10 : -3), "text-anchor": "end" }, names[name]),
    ]),
    points.filter((point) => point.reported).map((point) => s("circle", { class: "reported", cx: x(point), cy: y(Math.min(top, point.reported)), r: 1.6 })),
    marks.map((mark) => s("line", { class: `mark ${mark.cause}`, x1: x(mark), x2: x(mark), y1: y(mark.before), y2: y(mark.after) })),
    s("text", { class: "tick-text", x: pad.left, y: height - 5 }, points.length ? edge(points[0], by) : ""),
    s("text", { class: "tick-text", x: width - pad.right, y: height - 5, "text-anchor": "end" }, points.length ? edge(points.at(-1), by) : ""),
  );
  // Marks at one place stand on top of each other.
  const placed = [];
  const buttons = marks.slice(-60).map((mark) => {
    const near = placed.filter((place) => Math.abs(place - x(mark)) < 12).length;
    placed.push(x(mark));
    const text = `${CAUSES[mark.cause] ?? mark.cause}${mark.record === null ? "" : ` ${mark.record + 1}`}: ${number(mark.before)} → ${number(mark.after)} tokens, after ${number(mark.messages)} messages`;
    return h("button", { type: "button", class: `chart-mark ${mark.cause}`, title: text, "aria-label": text, onclick: () => pick?.(mark), vars: { left: `${x(mark)}px`, top: `${Math.max(0, y(Math.max(mark.before, mark.after)) - 17 - near * 14)}px` } }, GLYPHS[mark.cause] ?? "•");
  });
  const hint = h("div", { class: "chart-hint", hidden: true });
  const cursor = s("line", { class: "cursor", y1: pad.top, y2: height - pad.bottom, x1: 0, x2: 0, visibility: "hidden" });
  drawing.append(cursor);
  const box = h("div", { class: "chart-box", vars: { height: `${height}px` } }, drawing, buttons, hint);
  box.addEventListener("pointermove", (event) => {
    if (points.length === 0) return;
    const place = event.clientX - box.getBoundingClientRect().left;
    let nearest = points[0];
    for (const point of points) if (Math.abs(x(point) - place) <= Math.abs(x(nearest) - place)) nearest = point;
    hint.hidden = false;
    hint.textContent = `${number(nearest.tokens)} tokens · ${number(nearest.messages)} messages · ${nearest.ms ? exactly(nearest.ms) : ""}`;
    hint.style.left = `${Math.min(Math.max(x(nearest), 90), width - 90)}px`;
    cursor.setAttribute("x1", x(nearest));
    cursor.setAttribute("x2", x(nearest));
    cursor.setAttribute("visibility", "visible");
  });
  box.addEventListener("pointerleave", () => {
    hint.hidden = true;
    cursor.setAttribute("visibility", "hidden");
  });
  return box;
}

function edge(point, by) {
  if (by === "messages") return plural(point.messages, "message");
  return point.ms ? at(point.ms).textContent : "";
}

/** A round step. */
function nice(raw) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  const lead = raw / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}
