// A long list of rows of any height, of which only those near the view exist. Rows are kept in blocks; heights of blocks
// that were seen are known, those of others are guessed, and what is looked at stays where it is when a guess is put right.

import { h } from "./dom.js";

const BLOCK = 24;
const AHEAD = 700;

export class Virtual {
  /** `render(index)` gives the element of a row; `scroller` is what scrolls. */
  constructor(scroller, { render, guess = 90, tail }) {
    this.scroller = scroller;
    this.render = render;
    this.guess = guess;
    this.count = 0;
    this.heights = [];
    this.blocks = new Map();
    this.above = h("div", { class: "space", "aria-hidden": "true" });
    this.below = h("div", { class: "space", "aria-hidden": "true" });
    this.tail = tail ?? h("div", {});
    scroller.replaceChildren(this.above, this.below, this.tail);
    this.sticks = true;
    /** Counts what was to be brought into view: an older one gives way. */
    this.aim = 0;
    this.last = 0;
    this.sizes = new ResizeObserver(() => this.measure());
    this.sizes.observe(scroller);
    this.sizes.observe(this.tail);
    this.onscroll = () => {
      if (this.frame) return;
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        // Only whoever scrolls up leaves the end; that something came below is no scrolling.
        const up = this.scroller.scrollTop < this.last - 2;
        if (this.isAtEnd()) this.sticks = true;
        else if (up) this.sticks = false;
        this.last = this.scroller.scrollTop;
        this.update();
      });
    };
    scroller.addEventListener("scroll", this.onscroll, { passive: true });
  }

  close() {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.scroller.removeEventListener("scroll", this.onscroll);
  }

  isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < 48;
  }

  rowsOf(block) {
    return Math.min(BLOCK, this.count - block * BLOCK);
  }

  height(block) {
    return this.heights[block] ?? this.rowsOf(block) * this.guess;
  }

  /** Where a block begins. */
  offset(block) {
    let sum = 0;
    for (let i = 0; i < block; i += 1) sum += this.height(i);
    return sum;
  }

  blockAt(y) {
    let sum = 0;
    const last = Math.ceil(this.count / BLOCK) - 1;
    for (let i = 0; i < last; i += 1) {
      const next = sum + this.height(i);
      if (next > y) return i;
      sum = next;
    }
    return Math.max(0, last);
  }

  /** So many rows now; those from `from` on are others than before. */
  set(count, from = 0) {
    this.count = count;
    const first = Math.floor(from / BLOCK);
    this.heights.length = Math.min(this.heights.length, Math.ceil(count / BLOCK));
    for (const [block, element] of this.blocks) {
      if (block >= first) {
        element.remove();
        this.blocks.delete(block);
      }
    }
    if (from === 0) this.heights = [];
    else this.heights.length = Math.min(this.heights.length, first);
    this.update();
  }

  /** These rows look different: they are made again where they are. */
  refresh(from, to) {
    for (const [block, element] of this.blocks) {
      if (block * BLOCK <= to && (block + 1) * BLOCK > from) {
        this.fill(element, block);
      }
    }
    this.measure();
  }

  fill(element, block) {
    const rows = [];
    for (let i = block * BLOCK; i < block * BLOCK + this.rowsOf(block); i += 1) rows.push(this.render(i));
    element.replaceChildren(...rows);
  }

  update() {
    if (!this.scroller.isConnected) return;
    const { clientHeight } = this.scroller;
    // Who stays at the end is shown the end at once, wherever the scroller still stands.
    const top = this.sticks ? Math.max(0, this.offset(Math.ceil(this.count / BLOCK)) - clientHeight) : this.scroller.scrollTop;
    const from = this.count ? this.blockAt(top - AHEAD) : 0;
    const to = this.count ? this.blockAt(top + clientHeight + AHEAD) : -1;
    for (const [block, element] of this.blocks) {
      if (block < from || block > to) {
        if (element.contains(document.activeElement)) continue;
        this.sizes.unobserve(element);
        element.remove();
        this.blocks.delete(block);
      }
    }
    for (let block = from; block <= to; block += 1) {
      if (this.blocks.has(block)) continue;
      const element = h("div", { class: "rows" });
      this.fill(element, block);
      const behind = [...this.blocks.keys()].filter((other) => other > block).sort((a, b) => a - b)[0];
      this.scroller.insertBefore(element, behind === undefined ? this.below : this.blocks.get(behind));
      this.blocks.set(block, element);
      this.sizes.observe(element);
    }
    this.measure();
  }

  /** Puts guesses right, and what is looked at back where it was. */
  measure() {
    const top = this.scroller.scrollTop;
    const anchor = this.count ? this.blockAt(top) : 0;
    const before = this.offset(anchor);
    for (const [block, element] of this.blocks) {
      const height = element.offsetHeight;
      if (height > 0) this.heights[block] = height;
    }
    // A block that has the focus stays when it is far away: then spaces stand around it.
    const shown = [...this.blocks.keys()].sort((a, b) => a - b);
    const first = shown[0] ?? 0;
    const last = shown.at(-1) ?? -1;
    let gap = 0;
    for (let i = first; i <= last; i += 1) if (!this.blocks.has(i)) gap += this.height(i);
    this.above.style.height = `${this.offset(first) + gap}px`;
    this.below.style.height = `${Math.max(0, this.offset(Math.ceil(this.count / BLOCK)) - this.offset(last + 1))}px`;
    const moved = this.offset(anchor) - before;
    if (this.sticks) this.scroller.scrollTop = this.scroller.scrollHeight;
    else if (Math.abs(moved) > 0.5) this.scroller.scrollTop = top + moved;
    if (this.sticks || Math.abs(moved) > 0.5) {
      this.last = this.scroller.scrollTop;
      this.onscroll();
    }
  }

  toEnd() {
    this.aim += 1;
    this.sticks = true;
    this.update();
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.last = this.scroller.scrollTop;
    this.onscroll();
  }

  /** The row at the upper edge of the view, and how far below that edge it begins. */
  topRow() {
    const edge = this.scroller.getBoundingClientRect().top;
    for (const [block, element] of [...this.blocks].sort((one, other) => one[0] - other[0])) {
      if (element.getBoundingClientRect().bottom <= edge) continue;
      for (let i = 0; i < element.children.length; i += 1) {
        const { top, bottom } = element.children[i].getBoundingClientRect();
        if (bottom > edge + 1) return { index: block * BLOCK + i, below: top - edge };
      }
    }
    return null;
  }

  /** Brings a row into view, so far below the upper edge; guesses are put right on the way. */
  to(index, below = 60) {
    this.sticks = false;
    const aim = (this.aim += 1);
    const block = Math.floor(index / BLOCK);
    const seek = (tries) => {
      if (aim !== this.aim) return undefined;
      this.scroller.scrollTop = Math.max(0, this.offset(block) - 80);
      this.last = this.scroller.scrollTop;
      this.sticks = false;
      this.update();
      const row = this.blocks.get(block)?.children[index % BLOCK];
      if (!row) return tries > 0 ? requestAnimationFrame(() => seek(tries - 1)) : undefined;
      const delta = row.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top - below;
      this.scroller.scrollTop += delta;
      this.last = this.scroller.scrollTop;
      this.sticks = false;
      if (tries > 0 && Math.abs(delta) > 4) requestAnimationFrame(() => seek(tries - 1));
      return row;
    };
    return seek(6);
  }

  row(index) {
    return this.blocks.get(Math.floor(index / BLOCK))?.children[index % BLOCK];
  }
}
