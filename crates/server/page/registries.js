// What code keeps of a conversation whatever is folded, with links to where it was said; and finding again what was.

import { get, of, remove } from "./api.js";
import { h, plural, show, when } from "./dom.js";
import { gist, LABELS, read } from "./message.js";
import { failed, toast } from "./toast.js";

const STATES = { running: ["running", "near"], done: ["done", "good"], failed: ["failed", "bad"], open: ["open", null], active: ["doing", "near"] };

const link = (position, on, text = `#${position + 1}`) => h("button", { type: "button", class: "link place", onclick: () => on.jump(position), "aria-label": `Go to message ${position + 1}` }, text);

function section(title, items, { note } = {}) {
  if (!items.length) return null;
  return h("details", { class: "registry", open: true, "data-name": title }, h("summary", {}, h("h3", {}, title), h("span", { class: "chip" }, items.length)), note ? h("p", { class: "dim" }, note) : null, h("ul", {}, items));
}

export function registries(box, all, on) {
  const state = (name) => {
    const [text, tone] = STATES[name] ?? [name, null];
    return h("span", { class: "chip", "data-tone": tone }, text);
  };
  const closed = new Set([...box.querySelectorAll("details.registry")].filter((one) => !one.open).map((one) => one.dataset.name));
  const changed = all.files.filter((file) => file.changed);
  const onlyRead = all.files.filter((file) => !file.changed);
  const file = (one) => h("li", {}, h("code", { class: "path", title: one.path }, one.path), h("span", { class: "dim" }, one.state), link(one.position, on));
  const facts = [
    all.test ? h("li", {}, h("span", {}, "Tests: ", h("code", {}, all.test.command)), h("span", { class: "chip", "data-tone": all.test.passed === false ? "bad" : all.test.passed ? "good" : null }, all.test.passed === false ? "failed" : all.test.passed ? "passed" : "ran")) : null,
    all.error ? h("li", {}, h("span", {}, h("code", {}, all.error.call), h("br"), all.error.text), link(all.error.message, on)) : null,
    all.branch ? h("li", {}, h("span", {}, "Branch ", h("code", {}, all.branch))) : null,
    all.commit ? h("li", {}, h("span", {}, "Commit ", all.commit.id ? h("code", {}, all.commit.id) : null, " ", all.commit.subject)) : null,
  ].filter(Boolean);
  const unpin = async (pin) => {
    try {
      await remove(of(on.thread, `/messages/${encodeURIComponent(pin.message_id)}/pin`));
      toast("done", "No longer pinned", "Compactions may fold it again.");
    } catch (error) {
      failed("It could not be unpinned", error);
    }
    on.changed();
  };
  const made = [
    section("Constraints", all.constraints.map((rule) => h("li", { class: "rule" }, h("span", {}, rule.text), h("span", { class: "line" }, rule.force === "plain" ? null : h("span", { class: "chip" }, rule.force), rule.folded ? h("span", { class: "chip", "data-tone": "fold", title: "Its message is folded; the rule stands beside the summary, word for word" }, "folded") : null, link(rule.position, on)))), { note: "In the user's own words; no summary can lose them." }),
    section("Pins", all.pins.map((pin) => h("li", {}, h("span", {}, pin.text || h("span", { class: "dim" }, LABELS[pin.role] ?? pin.role)), h("span", { class: "line" }, pin.folded ? h("span", { class: "chip", "data-tone": "fold", title: "It was folded before it was pinned; taking that compaction back brings it into the window" }, "folded") : null, pin.message_id ? h("button", { type: "button", class: "ghost small write", onclick: () => unpin(pin) }, "Unpin") : null, link(pin.position, on))))),
    section("Todos", all.todos.map((todo) => h("li", {}, h("span", {}, todo.text), state(todo.state)))),
    section("Delegations", all.delegations.map((work) => h("li", {}, h("span", {}, work.agent ? h("b", {}, `${work.agent}: `) : null, work.task, work.unmet.length ? h("span", { class: "dim" }, ` Unmet: ${work.unmet.join("; ")}`) : null), state(work.state)))),
    section("Skills", all.skills.map((skill) => h("li", {}, h("span", {}, h("b", {}, skill.name ?? skill.path ?? "skill"), skill.description ? ` ${skill.description}` : "")))),
    section("State of the work", facts),
    section("Files changed", changed.map(file)),
    section("Files read", onlyRead.slice(0, 60).map(file)),
    section("Rules that ended", all.past_constraints.map((rule) => h("li", {}, h("span", { class: "dim" }, h("s", {}, rule.text)), link(rule.superseded_by, on)))),
  ].filter(Boolean);
  show(box, made.length ? made : h("p", { class: "dim pad" }, "Nothing was captured yet: standing rules, todos, delegations, files and skills appear here."));
  for (const one of box.querySelectorAll("details.registry")) if (closed.has(one.dataset.name)) one.open = false;
}

/** The form that finds again what was said, whatever was folded. */
export function recall(on) {
  const found = h("div", { class: "found", role: "status" });
  const field = h("input", { type: "search", id: "recall", placeholder: "What was said about…", "aria-label": "Recall" });
  const only = h("input", { type: "checkbox", id: "recall-folded" });
  const form = h(
    "form",
    {
      class: "recall",
      role: "search",
      onsubmit: async (event) => {
        event.preventDefault();
        const q = field.value.trim();
        if (!q) return show(found);
        try {
          const { messages } = await get(of(on.thread, "/recall"), { q, limit: 20, folded_only: only.checked });
          show(
            found,
            h("p", { class: "dim" }, messages.length ? plural(messages.length, "message") : "Nothing like that was said."),
            h("ul", {}, messages.map((one) =>
              h("li", { class: "hit" },
                h("button", { type: "button", class: "hit-text", onclick: () => one.position !== null && on.jump(one.position), disabled: one.position === null },
                  h("span", { class: "line" }, h("b", {}, LABELS[read(one.message).role]), one.folded ? h("span", { class: "chip", "data-tone": "fold" }, "folded") : null, one.superseded_by.length ? h("span", { class: "chip", "data-tone": "near", title: "Later messages say something else of the same thing" }, "outdated") : null, h("span", { class: "grow" }), when(one.stored_ms), h("span", { class: "place" }, one.position === null ? "other branch" : `#${one.position + 1}`)),
                  h("span", { class: "gist" }, around(gist(one.message, 4000), q)),
                )))),
          );
        } catch (error) {
          failed("Nothing could be found", error);
        }
      },
    },
    h("div", { class: "line" }, field, h("button", { class: "small" }, "Find")),
    h("label", { class: "check" }, only, "Only what was folded"),
    found,
  );
  return form;
}

/** The text around the first of the words, which is marked. */
function around(text, query) {
  const words = query.toLowerCase().split(/\W+/u).filter((word) => word.length > 1);
  const low = text.toLowerCase();
  const hits = words.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(0, (hits.length ? Math.min(...hits) : 0) - 60);
  const piece = text.slice(from, from + 220);
  const out = [from > 0 ? "…" : ""];
  let rest = piece;
  while (rest) {
    const lowRest = rest.toLowerCase();
    const next = words.map((word) => ({ word, place: lowRest.indexOf(word) })).filter(({ place }) => place >= 0).sort((a, b) => a.place - b.place)[0];
    if (!next) break;
    out.push(rest.slice(0, next.place), h("mark", {}, rest.slice(next.place, next.place + next.word.length)));
    rest = rest.slice(next.place + next.word.length);
  }
  out.push(rest, from + 220 < text.length ? "…" : "");
  return out;
}
