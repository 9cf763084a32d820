// What the model sees: the exact next request, part by part, with tokens, and the beginning that the provider may hold.

import { h, number, percent, plural, show, short } from "./dom.js";
import { body, LABELS, read } from "./message.js";
import { Virtual } from "./virtual.js";

export const KINDS = { system: "System prompt", message: "Messages", shortened: "Shortened", rules: "Rules", summary: "Summary", reminder: "Reminders", acknowledgement: "Acknowledgement", answer: "Stand-in", fixed: "Tools and overhead" };
const WORDS = { system: "system prompt", shortened: "shortened", rules: "how to read the summary", summary: "summary", reminder: "reminder", acknowledgement: "acknowledgement", answer: "stand-in for an answer" };

/** The parts of a request as a list. `tone` says how a part is coloured. */
export function parts(request, { tone, cached } = {}) {
  const open = new Set();
  const element = h("div", { class: "parts", tabindex: 0, role: "group", "aria-label": "Parts of the request" });
  const until = cached ? request.cached.parts : -1;
  const render = (index) => {
    const part = request.parts[index];
    const message = request.messages[index];
    const { role } = read(message);
    return h(
      "article",
      { class: "part", "data-kind": part.kind, "data-role": role, "data-tone": tone?.(part) ?? "same", "data-cached": index < until, "aria-label": `Part ${index + 1}, ${WORDS[part.kind] ?? LABELS[role]}, ${number(part.tokens)} tokens` },
      h("header", { class: "row-head" }, h("span", { class: "role" }, LABELS[role]), WORDS[part.kind] ? h("span", { class: "chip", "data-tone": part.kind === "shortened" ? "short" : part.kind === "summary" || part.kind === "rules" ? "fold" : null }, WORDS[part.kind]) : null, h("span", { class: "grow" }), h("span", { class: "num" }, `${number(part.tokens)} tokens`), part.position === null ? null : h("span", { class: "place" }, `#${part.position + 1}`)),
      h("div", { class: "row-body" }, body(message, open, index)),
      index === until - 1 && until < request.parts.length ? h("p", { class: "cache-line" }, `So far the last request: ${number(request.cached.tokens)} tokens`) : null,
    );
  };
  let list;
  return {
    element,
    ready() {
      list = new Virtual(element, { render, guess: 120 });
      list.sticks = false;
      list.set(request.parts.length);
      element.scrollTop = 0;
    },
    close: () => list?.close(),
  };
}

/** The whole view. */
export function draw(box, request, { limit, window, go }) {
  const sums = new Map();
  const add = (kind, tokens) => sums.set(kind, (sums.get(kind) ?? 0) + tokens);
  if (request.size.fixed) add("fixed", request.size.fixed);
  request.parts.forEach((part) => add(part.kind, part.tokens));
  const total = [...sums.values()].reduce((sum, tokens) => sum + tokens, 0);
  const cached = request.cached;
  const fixed = request.size.fixed;
  const held = cached.parts > 0 ? cached.tokens + fixed : 0;
  const list = parts(request, { cached: true });
  const order = ["fixed", "system", "rules", "summary", "message", "shortened", "reminder", "acknowledgement", "answer"].filter((kind) => sums.has(kind));
  show(
    box,
    h(
      "div",
      { class: "request-head" },
      h("p", { class: "lead" }, h("b", {}, `${number(total)} tokens`), ` in ${plural(request.parts.length, "part")}`, limit ? h("span", { class: "dim" }, ` · ${percent(total, limit)} of ${short(limit)}`) : null),
      h("div", { class: "stack", role: "img", "aria-label": order.map((kind) => `${KINDS[kind]} ${number(sums.get(kind))}`).join(", ") }, order.map((kind) => h("span", { class: "slice", "data-kind": kind, title: `${KINDS[kind]}: ${number(sums.get(kind))}`, vars: { "flex-grow": sums.get(kind) } }))),
      h("ul", { class: "legend" }, order.map((kind) => h("li", {}, h("span", { class: "swatch", "data-kind": kind }), `${KINDS[kind]} `, h("b", {}, number(sums.get(kind)))))),
      h("div", { class: "stack thin", "aria-hidden": "true" }, h("span", { class: "slice cached", vars: { "flex-grow": held } }), h("span", { class: "slice rest", vars: { "flex-grow": Math.max(0, total - held) } })),
      h("p", { class: "cache-note" }, h("span", { class: "swatch cached" }), held ? [h("b", {}, `${number(held)} tokens (${percent(held, total)})`), " are the beginning of the last request; the cache is ", h("span", { class: "chip", "data-tone": cached.warmth === "warm" ? "good" : null }, cached.warmth), cached.reported !== null ? ` · the provider read ${number(cached.reported)} from it for the newest reply` : ""] : "Nothing of it is known to be in the provider's cache."),
    ),
    list.element,
  );
  list.ready();
  return list;
}
