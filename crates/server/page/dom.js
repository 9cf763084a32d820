// Elements from values. Text is only ever text: nothing here takes markup, so what a message says cannot run.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("data-")) {
      element.setAttribute(name, String(value));
      continue;
    }
    if (value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value") element.value = value;
    else if (name === "vars") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, children);
  return element;
}

function put(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) put(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** An element: `h("p", {class: "x", onclick: f}, "text", other)`. */
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);

/** The same of a drawing. */
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/** Puts these into an element in the place of what it has. */
export function show(element, ...children) {
  const made = document.createDocumentFragment();
  put(made, children);
  element.replaceChildren(made);
  return element;
}

const whole = new Intl.NumberFormat();
export const number = (n) => (n === null || n === undefined ? "–" : whole.format(n));

/** 12,345 as 12.3k. */
export function short(n) {
  if (n === null || n === undefined) return "–";
  if (Math.abs(n) < 1000) return String(n);
  if (Math.abs(n) < 99_950) return `${(n / 1000).toFixed(1).replace(/\.0$/, "")}k`;
  if (Math.abs(n) < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toFixed(1).replace(/\.0$/, "")}M`;
}

export const percent = (part, of) => (of > 0 ? `${Math.round((100 * part) / of)} %` : "–");

/** Micro-dollars. */
export function dollars(micros) {
  if (micros === null || micros === undefined) return "–";
  const value = micros / 1e6;
  const sign = value < 0 ? "−" : "";
  const size = Math.abs(value);
  if (size === 0) return "$0";
  if (size < 0.01) return `${sign}$${size.toFixed(4).replace(/0+$/, "")}`;
  return `${sign}$${size.toFixed(2)}`;
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(n < 10240 ? 1 : 0)} kB`;
  return `${(n / 1024 / 1024).toFixed(1)} MB`;
}

export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

// Times stand in the reader's own zone and language.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });

function relative(ms, now) {
  const past = now - ms;
  if (past < 45_000) return "now";
  if (past < 3_600_000) return ago.format(-Math.round(past / 60_000), "minute");
  if (past < 86_400_000) return ago.format(-Math.round(past / 3_600_000), "hour");
  if (past < 7 * 86_400_000) return ago.format(-Math.round(past / 86_400_000), "day");
  return (new Date(ms).getFullYear() === new Date(now).getFullYear() ? day : dayOfYear).format(ms);
}

/** A time as how long ago it was; the exact one is its title. */
export function when(ms) {
  if (!ms) return h("span", { class: "dim" }, "–");
  const date = new Date(ms);
  return h("time", { datetime: date.toISOString(), title: exact.format(date), "data-ms": ms }, relative(ms, Date.now()));
}

/** A time of day, with the date where that is not today's. */
export function at(ms) {
  if (!ms) return "";
  const date = new Date(ms);
  const today = new Date().toDateString() === date.toDateString();
  const text = today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
  return h("time", { datetime: date.toISOString(), title: exact.format(date) }, text);
}

export const exactly = (ms) => exact.format(new Date(ms));

setInterval(() => {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-ms]")) time.textContent = relative(Number(time.dataset.ms), now);
}, 20_000);

/** A gauge of the window with a tick at the trigger. */
export function gauge({ tokens, limit, trigger, soft, wide }) {
  const of = Math.max(limit ?? 0, tokens, 1);
  const share = Math.min(100, (100 * tokens) / of);
  const level = trigger && tokens >= trigger ? "over" : soft && tokens >= soft ? "near" : "fine";
  const label = `${number(tokens)} of ${number(limit)} tokens`;
  return h(
    "div",
    { class: wide ? "gauge wide" : "gauge", "data-level": level, role: "meter", "aria-label": "Window", "aria-valuemin": 0, "aria-valuemax": of, "aria-valuenow": tokens, "aria-valuetext": label, title: label },
    h("span", { class: "fill", vars: { width: `${share}%` } }),
    trigger ? h("span", { class: "tick", vars: { left: `${Math.min(100, (100 * trigger) / of)}%` } }) : null,
  );
}

/** So that many calls become one, soon. */
export function soon(work, ms = 80) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  };
}
