// What people and models write, as text with a little form: fenced code, headings, lists, bold, inline code. Everything
// becomes elements of a closed set with text in them; links stay text.

import { h } from "./dom.js";

const INLINE = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;

function inline(text) {
  return text.split(INLINE).map((piece) => {
    if (piece.length > 2 && piece.startsWith("`") && piece.endsWith("`")) return h("code", {}, piece.slice(1, -1));
    if (piece.length > 4 && piece.startsWith("**") && piece.endsWith("**")) return h("b", {}, piece.slice(2, -2));
    return piece;
  });
}

/** Longer ones are shown as they are: form costs time. */
const FORMED = 60_000;

export function prose(text) {
  if (text.length > FORMED) return h("pre", { class: "plain" }, text);
  const out = h("div", { class: "prose" });
  let lines = [];
  const flush = () => {
    if (lines.length === 0) return;
    const joined = lines.join("\n");
    lines = [];
    if (joined.trim() === "") return;
    out.append(h("p", {}, inline(joined.replace(/^\n+|\n+$/g, ""))));
  };
  let fence = null;
  let list = null;
  for (const line of text.split("\n")) {
    if (fence) {
      if (line.trimEnd() === fence.mark) {
        out.append(h("pre", {}, h("code", {}, fence.lines.join("\n"))));
        fence = null;
      } else fence.lines.push(line);
      continue;
    }
    const opens = /^\s*(```+|~~~+)\s*[\w.+-]*\s*$/.exec(line);
    if (opens) {
      flush();
      list = null;
      fence = { mark: opens[1], lines: [] };
      continue;
    }
    const heading = /^#{1,6}\s+(.+)$/.exec(line);
    if (heading) {
      flush();
      list = null;
      out.append(h("p", { class: "head" }, inline(heading[1])));
      continue;
    }
    const item = /^(\s*)(?:[-*•]|\d{1,3}[.)])\s+(.*)$/.exec(line);
    if (item) {
      flush();
      if (!list) out.append((list = h("ul", {})));
      const marker = line.trimStart().split(/\s/, 1)[0];
      list.append(h("li", { "data-marker": /\d/.test(marker) ? marker : null, class: item[1].length > 1 ? "deep" : null }, inline(item[2])));
      continue;
    }
    if (list && /^\s{2,}\S/.test(line)) {
      list.lastElementChild.append("\n", ...inline(line.trim()));
      continue;
    }
    list = null;
    if (line.trim() === "") flush();
    else lines.push(line);
  }
  if (fence) out.append(h("pre", {}, h("code", {}, fence.lines.join("\n"))));
  flush();
  return out;
}
