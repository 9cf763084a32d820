// The whole conversation: every message as it came, with folds where compactions took messages out of the window. Pages
// are read when they come near the view.

import { get, mayWrite, of, post, remove } from "./api.js";
import { h, number, plural, show, soon } from "./dom.js";
import { row } from "./message.js";
import { failed, toast } from "./toast.js";
import { Virtual } from "./virtual.js";

const PAGE = 60;
/** Pages that are kept. */
const KEPT = 60;

export class History {
  /** `on`: {act(name, entry)} for what belongs to the whole page. */
  constructor(thread, scroller, { on, tail }) {
    this.thread = thread;
    this.on = on;
    this.pages = new Map();
    this.asked = new Map();
    this.total = 0;
    this.segments = [];
    /** Folds that are open, by their first place. */
    this.unfolded = new Set();
    this.open = new Set();
    this.short = new Map();
    this.hit = null;
    this.abort = new AbortController();
    this.list = new Virtual(scroller, { render: (index) => this.render(index), tail });
    this.fetchSoon = soon(() => this.fetch(), 30);
  }

  close() {
    this.abort.abort();
    this.list.close();
  }

  /** The newest page, and what is folded. `changed`: what is known of other messages may not hold any more. */
  async load({ changed = false, newest } = {}) {
    const page = newest ?? (await get(of(this.thread, "/messages"), { limit: PAGE }, this.abort.signal));
    const first = this.total === 0 && page.total > 0;
    const same = JSON.stringify(page.folded) === JSON.stringify(this.folded);
    if (changed) {
      for (const known of this.pages.values()) known.stale = true;
      this.short.clear();
    }
    this.summary = page.folds[0] ?? this.summary;
    this.folded = page.folded;
    const before = this.total;
    this.total = page.total;
    this.checkpoint = page.checkpoint_id;
    this.keep(page.messages);
    if (!same || page.total < before) this.layout();
    else if (page.total > before) {
      const rows = this.rows();
      const grown = page.total - before;
      this.extend();
      this.list.set(this.rows(), rows === 0 ? 0 : rows - 1);
      if (grown > 0) this.fetchSoon();
    }
    if (first && !this.list.sticks) this.list.toEnd();
    this.fetchSoon();
    return page;
  }

  keep(messages) {
    for (const message of messages) {
      const number = Math.floor(message.position / PAGE);
      let page = this.pages.get(number);
      if (!page) this.pages.set(number, (page = { entries: [], stale: false }));
      page.entries[message.position % PAGE] = message;
    }
  }

  entry(position) {
    return this.pages.get(Math.floor(position / PAGE))?.entries[position % PAGE];
  }

  holds(id) {
    for (const page of this.pages.values()) if (page.entries.some((entry) => entry?.id === id)) return true;
    return false;
  }

  extend() {
    const last = this.segments.at(-1);
    if (last?.kind === "run") last.last = this.total - 1;
    else this.layout();
  }

  /** Folds and what stands between them, in order. */
  layout() {
    const top = this.list.sticks ? null : this.list.topRow();
    const { position, fold } = top ? this.what(top.index) : {};
    const seen = position ?? fold?.first;
    this.segments = [];
    let next = 0;
    for (const [first, last] of this.folded ?? []) {
      if (first > next) this.segments.push({ kind: "run", first: next, last: first - 1 });
      this.segments.push({ kind: "fold", first, last });
      next = last + 1;
    }
    if (next < this.total) this.segments.push({ kind: "run", first: next, last: this.total - 1 });
    this.list.set(this.rows());
    if (seen !== undefined) this.list.to(this.indexOf(seen), top.below);
  }

  isOpen(segment) {
    return segment.kind === "run" || this.unfolded.has(segment.first);
  }

  size(segment) {
    const count = segment.last - segment.first + 1;
    return segment.kind === "run" ? count : 1 + (this.isOpen(segment) ? count : 0);
  }

  rows() {
    return this.segments.reduce((sum, segment) => sum + this.size(segment), 0);
  }

  /** What stands in a row: {fold} or {position}. */
  what(index) {
    let left = index;
    for (const segment of this.segments) {
      const size = this.size(segment);
      if (left < size) {
        if (segment.kind === "run") return { position: segment.first + left };
        return left === 0 ? { fold: segment } : { position: segment.first + left - 1, folded: true };
      }
      left -= size;
    }
    return {};
  }

  indexOf(position) {
    let index = 0;
    for (const segment of this.segments) {
      if (position <= segment.last) {
        if (segment.kind === "run") return index + position - segment.first;
        return index + (this.isOpen(segment) ? 1 + position - segment.first : 0);
      }
      index += this.size(segment);
    }
    return Math.max(0, index - 1);
  }

  render(index) {
    const { fold, position } = this.what(index);
    if (fold) return this.foldRow(fold, index);
    if (position === undefined) return h("div", {});
    const page = this.pages.get(Math.floor(position / PAGE));
    const entry = page?.entries[position % PAGE];
    if (!entry || page.stale) this.fetchSoon();
    if (!entry) return h("div", { class: "row waiting", "aria-busy": "true", "aria-label": `Message ${position + 1} is being read` }, h("span", { class: "dim" }, `#${position + 1}`));
    const marks = [];
    if (entry.folded) marks.push({ text: "folded", tone: "fold", title: "The model sees the summary in its place" });
    if (entry.shortened) marks.push({ text: "shortened", tone: "short", title: "The model sees parts of it; this is all of it" });
    if (entry.pinned) marks.push({ text: "pinned", tone: "good", title: "No compaction folds it" });
    const acts = [];
    if (entry.shortened) acts.push({ label: this.short.has(entry.id) ? "As it came" : "As the model sees it", run: () => this.toggleShort(entry), pressed: this.short.has(entry.id) ? "true" : "false" });
    if (mayWrite() && entry.id) {
      acts.push({ label: entry.pinned ? "Unpin" : "Pin", run: () => this.pin(entry) });
      acts.push({ label: "Branch", title: "A thread that goes on from here", run: () => this.on.act("branch", entry) });
      acts.push({ label: "Rewind", title: "Make this the newest message; what came behind stays on a branch", run: () => this.on.act("rewind", entry) });
    }
    const shown = this.short.get(entry.id);
    const made = row(shown ? { ...entry, message: shown } : entry, { open: this.open, marks, acts, highlight: this.hit === position });
    made.setAttribute("aria-posinset", position + 1);
    made.setAttribute("aria-setsize", this.total);
    return made;
  }

  foldRow(fold, index) {
    const count = fold.last - fold.first + 1;
    const isOpen = this.isOpen(fold);
    const toggle = () => {
      if (isOpen) this.unfolded.delete(fold.first);
      else this.unfolded.add(fold.first);
      this.list.sticks = false;
      this.list.set(this.rows(), Math.max(0, index));
      this.fetchSoon();
      requestAnimationFrame(() => this.list.row(index)?.querySelector("button")?.focus());
    };
    return h(
      "section",
      { class: "fold", "data-open": isOpen, "aria-label": `${plural(count, "message")} folded` },
      h("button", { type: "button", class: "fold-toggle", "aria-expanded": isOpen ? "true" : "false", onclick: toggle }, h("span", { class: "twist", "aria-hidden": "true" }), h("b", {}, `${plural(count, "message")} folded`), h("span", { class: "dim" }, `#${number(fold.first + 1)} – #${number(fold.last + 1)}`)),
      this.summary ? h("button", { type: "button", class: "ghost small", onclick: () => this.on.act("card", this.summary.record) }, "Summary") : null,
    );
  }

  /** Reads the pages that the rows in view need. */
  async fetch() {
    const needed = new Set();
    for (const block of this.list.blocks.keys()) {
      for (let index = block * 24; index < Math.min((block + 1) * 24, this.list.count); index += 1) {
        const { position } = this.what(index);
        if (position === undefined) continue;
        const page = this.pages.get(Math.floor(position / PAGE));
        if (!page || page.stale || !page.entries[position % PAGE]) needed.add(Math.floor(position / PAGE));
      }
    }
    await Promise.all([...needed].filter((number) => !this.asked.has(number)).map((number) => this.fetchPage(number)));
  }

  async fetchPage(page) {
    this.asked.set(page, true);
    try {
      const from = page * PAGE;
      const read = await get(of(this.thread, "/messages"), from === 0 ? { limit: PAGE, before: PAGE } : { limit: PAGE, after: from - 1 }, this.abort.signal);
      this.pages.delete(page);
      this.keep(read.messages);
      this.forget();
      this.redraw(from, from + PAGE - 1);
    } catch (error) {
      if (!this.abort.signal.aborted) setTimeout(() => this.fetchSoon(), 1500);
    } finally {
      this.asked.delete(page);
    }
  }

  forget() {
    const inView = new Set([...this.list.blocks.keys()].map((block) => this.what(block * 24)).map(({ position }) => Math.floor((position ?? 0) / PAGE)));
    for (const number of this.pages.keys()) {
      if (this.pages.size <= KEPT) return;
      if (![...inView].some((seen) => Math.abs(seen - number) < 4)) this.pages.delete(number);
    }
  }

  redraw(from, to) {
    this.list.refresh(this.indexOf(from), this.indexOf(Math.min(to, this.total - 1)));
  }

  /** Shows a message, out of its fold where it is in one. */
  async show(position) {
    const fold = this.segments.find((segment) => segment.kind === "fold" && segment.first <= position && position <= segment.last);
    if (fold && !this.isOpen(fold)) {
      this.unfolded.add(fold.first);
      this.list.sticks = false;
      this.list.set(this.rows());
    }
    this.hit = position;
    await this.fetchPage(Math.floor(position / PAGE));
    const index = this.indexOf(position);
    this.list.to(index);
    this.redraw(position, position);
    const aim = this.list.aim;
    setTimeout(() => {
      if (aim !== this.list.aim) return;
      this.list.to(index);
      this.list.row(index)?.focus({ preventScroll: true });
    }, 120);
  }

  async pin(entry) {
    try {
      const path = of(this.thread, `/messages/${encodeURIComponent(entry.id)}/pin`);
      await (entry.pinned ? remove(path) : post(path));
      toast("done", entry.pinned ? "No longer pinned" : "Pinned", entry.pinned ? "Compactions may fold it again." : "No compaction folds it from now on.");
      await this.fetchPage(Math.floor(entry.position / PAGE));
      this.on.act("pinned", entry);
    } catch (error) {
      failed("It could not be pinned", error);
    }
  }

  async toggleShort(entry) {
    if (this.short.has(entry.id)) this.short.delete(entry.id);
    else {
      try {
        const request = await get(of(this.thread, "/request"), {}, this.abort.signal);
        const index = request.parts.findIndex((part) => part.id === entry.id);
        if (index >= 0) this.short.set(entry.id, request.messages[index]);
      } catch (error) {
        failed("It could not be read", error);
      }
    }
    this.redraw(entry.position, entry.position);
  }
}

/** What stands where nothing was said yet. */
export const nothing = (box) => show(box, h("div", { class: "empty" }, h("p", {}, h("b", {}, "Nothing was said yet.")), h("p", { class: "dim" }, "Write below, or add messages by the API.")));
