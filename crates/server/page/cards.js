// Each compaction as a card: why, how, what went, what it cost and saves, what became of it, and the summary as written.

import { get, of } from "./api.js";
import { dollars, duration, h, number, percent, plural, show, when } from "./dom.js";
import { prose } from "./prose.js";

const MOMENTS = { pre_turn: "before a turn", mid_turn: "inside a turn", overflow: "the provider refused the request as too large", background: "beside the conversation", manual: "asked for by hand" };
const OUTCOMES = {
  compacted: ["compacted", "good"], pruned: ["shortened", "good"], skipped: ["not needed", null], nothing_to_compact: ["nothing to do", null],
  rejected: ["not better", "near"], failed: ["failed", "bad"], cancelled: ["stopped", "near"], disabled: ["disabled", null],
  conflict: ["conflict", "near"], deferred: ["put off", null], config_error: ["configuration", "bad"],
};
const STRATEGIES = { replay: "replay", transcript: "transcript", digest: "extract", prune: "shortening" };
const REASONS = {
  fixed_part_over_trigger: "System prompt and tools alone reach the trigger.",
  irreducible: "Folding what may go would not make it smaller.",
  not_smaller: "The result was not smaller by the minimum gain.",
  target_missed: "What has to stay is larger than the target.",
  over_limit: "Even so it is larger than the window leaves room for.",
  breaker_open: "Earlier attempts failed; none is made until the cooldown is over.",
  attempt_running: "Another attempt is running.",
  still_streaming: "A reply is still streaming.",
  digest_after_failure: "Every model failed; an extract, made without a model, took the summary's place.",
  waits_for_cache: "The provider's cache is warm, and it would not pay soon enough.",
  spend_cap: "Summaries of this thread may not cost more.",
};
const WHY = { price: "that costs less", cache: "the cache decided", told: "as asked", not_possible: "no request could be sent once more", other_model: "another model writes it", too_large: "it does not fit once more", refused: "the model did not take it whole" };

/** A reason as a sentence. */
export function reason(value) {
  if (typeof value === "string") return REASONS[value] ?? `${value.replaceAll("_", " ")}.`;
  const [name, detail] = Object.entries(value ?? {})[0] ?? ["", ""];
  if (name === "unfounded") return `${plural(detail, "name, number or quotation", "names, numbers or quotations")} of the summary do not stand in the messages.`;
  if (name === "overridden") return `${plural(detail, "claim")} of the summary about the work are not what the log shows.`;
  if (name === "dangling_call") return `Call ${detail} was never answered.`;
  if (name === "replayed") return `The model was sent the conversation once more (${WHY[detail] ?? detail}).`;
  if (name === "transcribed") return `The model was sent a transcript (${WHY[detail] ?? detail}).`;
  return name.replaceAll("_", " ");
}

/** What went wrong, in words. */
function failure(value) {
  if (!value) return null;
  if (typeof value === "string") return value.replaceAll("_", " ");
  const [kind, detail] = Object.entries(value)[0] ?? ["unknown", null];
  const more = typeof detail === "string" ? detail : detail?.message ?? detail?.detail ?? (detail && Object.keys(detail).length ? JSON.stringify(detail) : "");
  return `${kind.replaceAll("_", " ")}${more ? `: ${more}` : ""}`;
}

/** Attempts with the records that they put in force, newest first. */
export function joined(attempts, log) {
  const byRecord = new Map(log.map((entry) => [entry.record, entry]));
  const cards = [];
  const shown = new Set();
  for (const attempt of attempts) {
    const records = attempt.records.map((id) => byRecord.get(id)).filter(Boolean);
    records.forEach((entry) => shown.add(entry.record));
    // A pruning that comes first is part of the same attempt.
    cards.push({ attempt, entry: records.at(-1), pruned: records.length > 1 ? records[0] : null });
  }
  for (const entry of log) if (!shown.has(entry.record)) cards.push({ attempt: null, entry });
  const order = (card) => card.attempt?.seq ?? card.entry?.record ?? 0;
  const known = cards.filter((card) => card.attempt);
  const unknown = cards.filter((card) => !card.attempt);
  return [...known.sort((a, b) => order(b) - order(a)), ...unknown];
}

export async function load(thread, signal) {
  const [attempts, log] = await Promise.all([get(of(thread, "/attempts"), { limit: 100 }, signal), get(of(thread, "/log"), { limit: 200 }, signal)]);
  return joined(attempts, log);
}

const fact = (name, value, title) => (value === null || value === undefined || value === "–" ? null : h("div", { class: "fact", title }, h("dt", {}, name), h("dd", {}, value)));

function card({ attempt, entry, pruned }, { act }) {
  const stop = attempt?.stop;
  const measured = entry?.measured;
  const outcome = stop?.metadata.outcome ?? (entry ? (entry.summary_text ? "compacted" : "pruned") : null);
  const [word, tone] = attempt?.abandoned ? ["its process died", "bad"] : attempt?.exception ? ["broke off", "bad"] : outcome ? (OUTCOMES[outcome] ?? [outcome, null]) : ["under way", "near"];
  const dry = attempt?.dry_run;
  const strategy = stop?.metadata.strategy ?? (entry ? (entry.author === "digest" ? "digest" : entry.author ? null : "prune") : null);
  const before = measured?.tokens_before ?? stop?.measurements.tokens_before ?? null;
  const after = measured?.tokens_after ?? stop?.measurements.tokens_after ?? null;
  const change = measured?.change;
  const cost = measured?.cost;
  const writer = entry?.author?.model ?? stop?.metadata.model;
  const spent = measured?.spent_micros || stop?.measurements.spent_micros;
  const folded = (entry?.removed ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const breakEven = cost ? cost.break_even_tenths : stop?.measurements.break_even_tenths;
  const even = breakEven === null || breakEven === undefined ? (cost ? "never" : null) : breakEven === 0 ? "at once" : `${(breakEven / 10).toFixed(1)} calls`;
  const problems = [
    ...(attempt?.passed_over ?? []).map(({ model, failure: text }) => `${model ?? "The model"}: ${text}`),
    failure(stop?.metadata.failure),
    attempt?.exception ? attempt.exception.metadata?.reason : null,
  ].filter(Boolean);
  const story = [...new Set(problems)];
  const reasons = (entry?.reasons ?? stop?.metadata.reasons ?? []).map(reason);
  const usage = stop?.metadata.usage;
  const number_ = entry ? `Compaction ${entry.record + 1}` : dry ? "Preview" : `Attempt ${attempt.attempt}`;
  return h(
    "article",
    { class: "card", id: entry ? `record-${entry.record}` : null, "data-active": entry?.active, tabindex: -1, "aria-label": number_ },
    h(
      "header",
      { class: "card-head" },
      h("h3", {}, number_),
      h("span", { class: "chip", "data-tone": tone }, dry && outcome === "compacted" ? "preview made" : word),
      entry?.active ? h("span", { class: "chip", "data-tone": "good" }, "in force") : entry ? h("span", { class: "chip" }, entry.history.at(-1) === "undo" ? "taken back" : "built upon") : null,
      h("span", { class: "dim" }, MOMENTS[entry?.moment ?? attempt?.moment] ?? ""),
      h("span", { class: "grow" }),
      when(attempt?.ended_ms ?? attempt?.started_ms),
    ),
    before !== null && after !== null
      ? h(
          "div",
          { class: "sizes" },
          h("div", { class: "size" }, h("span", { class: "bar before", vars: { width: "100%" } }), h("span", {}, "before"), h("b", {}, number(before))),
          h("div", { class: "size" }, h("span", { class: "bar after", vars: { width: `${(100 * after) / Math.max(1, before)}%` } }), h("span", {}, "after"), h("b", {}, number(after), h("span", { class: "dim" }, ` ${percent(before - after, before)} less`))),
        )
      : null,
    h(
      "dl",
      { class: "facts" },
      fact("Strategy", strategy ? STRATEGIES[strategy] ?? strategy : writer ? "a model" : null),
      fact("Written by", writer ?? (entry?.author === "digest" ? "code" : null)),
      fact("Folded", measured ? `${plural(measured.messages_removed, "message")} of ${number(measured.messages_before)}` : null, folded ? `${number(folded)} with those of earlier compactions` : null),
      fact("Shortened", entry?.shortened ? plural(entry.shortened, "message") : pruned ? plural(pruned.shortened, "message") : null),
      fact("Summary", measured?.summary_tokens ? `${number(measured.summary_tokens)} tokens` : null),
      fact("Cache kept", change ? `${percent(change.same, change.same + change.before)} (${number(change.same)})` : null, "The beginning of the request that stays the same, so the provider's cache goes on holding it"),
      fact("Paid", spent ? dollars(spent) : null, "What the models of this attempt were paid"),
      fact("Costs", cost ? dollars(cost.now_micros) : null, "In all by the next request, what the cache loses included"),
      fact("Saves a call", cost ? dollars(cost.saved_micros) : null),
      fact("Even after", even),
      fact("Read, written", usage ? `${number(usage.input)}, ${number(usage.output)} tokens` : null),
      fact("Took", stop ? duration(stop.measurements.duration) : null),
    ),
    story.length ? h("div", { class: "card-problems" }, h("b", {}, "What failed"), h("ul", {}, story.map((text) => h("li", {}, text)))) : null,
    reasons.length ? h("ul", { class: "reasons" }, reasons.map((text) => h("li", {}, text))) : null,
    entry?.history.length > 1 ? h("p", { class: "moves" }, entry.history.map((cause, index) => [index ? " → " : "", { compaction: "put in force", undo: "taken back", redo: "put in force again", move: "left by a move", input: "input" }[cause] ?? cause])) : null,
    entry?.removed.length ? h("p", { class: "dim went" }, "Folded so far: ", entry.removed.slice(0, 12).map(([first, last], index) => [index ? ", " : "", first === last ? `no. ${first + 1}` : `no. ${first + 1} – ${last + 1}`]), entry.removed.length > 12 ? " …" : "") : null,
    entry?.summary_text ? h("details", { class: "summary", open: entry.active }, h("summary", {}, "The summary as written"), prose(entry.summary_text)) : null,
    h(
      "footer",
      {},
      entry?.active ? h("button", { type: "button", class: "small write", onclick: () => act("undo") }, "Undo") : null,
      attempt?.preview && !entry ? h("button", { type: "button", class: "small write", onclick: () => act("apply", attempt.preview) }, "Put in force") : null,
    ),
  );
}

/** The cards of a thread in an element. */
export function draw(box, cards, on) {
  const opened = new Set([...box.querySelectorAll("details.summary")].filter((one) => one.open !== (one.closest(".card").dataset.active === "true")).map((one) => one.closest(".card").id));
  show(box, cards.length ? cards.map((one) => card(one, on)) : h("div", { class: "empty" }, h("p", {}, h("b", {}, "No compaction yet.")), h("p", { class: "dim" }, "One comes when the window reaches the trigger, or when you ask for it.")));
  for (const id of opened) {
    const details = id && box.querySelector(`#${id} details.summary`);
    if (details) details.open = !details.open;
  }
}
