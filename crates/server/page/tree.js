// The tree of a thread, and the log of its heads: undo, redo and rewind are moves, and nothing is lost by them.

import { get, of, post } from "./api.js";
import { h, number, plural, show, when } from "./dom.js";

const CAUSES = { compaction: "Compaction", undo: "Undo", redo: "Redo", move: "Move", input: "Messages" };

export async function load(thread, signal) {
  const [tree, children] = await Promise.all([get(of(thread, "/tree"), {}, signal), post("/threads/search", { origin: thread, limit: 1000, sort_by: "updated_at", sort_order: "desc" }, signal)]);
  return { ...tree, children };
}

/** Segments, cut where others go off, as children of each other. */
function grown(segments) {
  const cuts = new Map();
  for (const { parent } of segments) if (parent !== null) cuts.set(parent, true);
  const pieces = [];
  for (const segment of segments) {
    let first = segment.first;
    let parent = segment.parent;
    for (let node = segment.first; node < segment.last; node += 1) {
      if (!cuts.has(node)) continue;
      pieces.push({ ...segment, first, last: node, parent, last_id: null });
      parent = node;
      first = node + 1;
    }
    pieces.push({ ...segment, first, parent });
  }
  const byParent = new Map();
  for (const piece of pieces) byParent.set(piece.parent, [...(byParent.get(piece.parent) ?? []), piece]);
  return byParent;
}

export function draw(box, tree, on) {
  const byParent = grown(tree.segments);
  const head = tree.segments.filter((segment) => segment.current).at(-1)?.last;
  // A chain of pieces without a choice stays on one level; only what goes off is set in.
  const branch = (from, depth) => {
    const items = [];
    let nexts = byParent.get(from) ?? [];
    while (nexts.length) {
      const main = nexts.find((piece) => piece.current) ?? nexts.at(-1);
      const sides = nexts.filter((piece) => piece !== main);
      for (const side of sides) items.push(h("li", { class: "side-branch" }, piece(side), depth < 12 ? h("ul", {}, branch(side.last, depth + 1)) : null));
      items.push(h("li", {}, piece(main)));
      nexts = byParent.get(main.last) ?? [];
    }
    return items;
  };
  const piece = (segment) => {
    const count = segment.last - segment.first + 1;
    const isHead = segment.last === head;
    return h(
      "div",
      { class: "segment", "data-current": segment.current, "aria-current": isHead ? "true" : null },
      h("span", { class: "node", "aria-hidden": "true" }),
      h("b", {}, plural(count, "message")),
      h("span", { class: "dim" }, segment.first === segment.last ? `no. ${segment.first + 1}` : `no. ${number(segment.first + 1)} – ${number(segment.last + 1)}`),
      isHead ? h("span", { class: "chip", "data-tone": "good" }, "now") : segment.current ? null : h("span", { class: "chip" }, "left"),
      when(segment.ms),
      h("span", { class: "grow" }),
      !segment.current && segment.last_id ? h("button", { type: "button", class: "small write", onclick: () => on.act("rewind", { message_id: segment.last_id, words: `Message no. ${segment.last + 1}` }) }, "Go there") : null,
    );
  };
  const rows = tree.heads.map((row, index) => ({ ...row, index })).reverse();
  const now = tree.heads.length - 1;
  const what = (row, before) => {
    if (row.cause === "compaction") return `Compaction ${row.record + 1} put in force`;
    if (row.cause === "undo") return `Compaction ${before?.record === null || before === undefined ? "" : before.record + 1} taken back`;
    if (row.cause === "redo") return `Compaction ${row.record + 1} put in force again`;
    if (row.cause === "move") return row.head === before?.head ? "Where it stood before a move" : row.head === null ? "Back to the beginning" : `Head moved to no. ${row.head + 1}`;
    return CAUSES[row.cause];
  };
  show(
    box,
    h(
      "section",
      { class: "tree-part", "aria-labelledby": "tree-title" },
      h("h2", { id: "tree-title" }, "Branches"),
      tree.origin ? h("p", {}, "Branched off ", h("a", { href: `/threads/${tree.origin.thread}`, "data-go": true }, tree.origin.thread)) : null,
      tree.segments.length ? h("ul", { class: "tree" }, branch(null, 0)) : h("p", { class: "dim" }, "No messages yet."),
      tree.children.length ? [h("h3", {}, "Threads that go off this one"), h("ul", { class: "plain-list" }, tree.children.map((child) => h("li", {}, h("a", { href: `/threads/${child.thread_id}`, "data-go": true }, child.title ?? child.thread_id), " ", when(Date.parse(child.updated_at)))))] : null,
    ),
    h(
      "section",
      { class: "tree-part", "aria-labelledby": "moves-title" },
      h("h2", { id: "moves-title" }, "Log of heads"),
      h("p", { class: "dim" }, "Each change of what the model sees is a row; none is ever removed."),
      rows.length
        ? h(
            "ol",
            { class: "heads", reversed: true },
            rows.map((row) =>
              h(
                "li",
                { "data-cause": row.cause, "data-now": row.index === now },
                h("span", { class: "head-glyph", "aria-hidden": "true" }, { compaction: "▼", undo: "↶", redo: "↷", move: "⤴" }[row.cause] ?? "•"),
                h("div", {}, h("b", {}, what(row, tree.heads[row.index - 1])), row.index === now ? h("span", { class: "chip", "data-tone": "good" }, "now") : null, h("span", { class: "under" }, row.record === null ? "nothing folded" : `compaction ${row.record + 1} in force`, row.head === null ? "" : `, newest no. ${row.head + 1}`)),
                h("span", { class: "grow" }),
                row.ms ? when(row.ms) : null,
                row.head !== null ? h("button", { type: "button", class: "ghost small write", onclick: () => on.act("branch", { checkpoint_id: row.checkpoint_id }) }, "Branch") : null,
              ),
            ),
          )
        : h("p", { class: "dim" }, "Nothing was compacted, taken back or moved yet."),
    ),
  );
}
