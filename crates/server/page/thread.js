// One thread: its conversation, the window, compactions, the tree, and what the model sees, kept live.

import { follow, get, of, patch, post } from "./api.js";
import { branch, compactDialog, redo, rename, rewind, undo } from "./actions.js";
import * as cards from "./cards.js";
import { chart } from "./chart.js";
import { chat } from "./chat.js";
import { dollars, gauge, h, number, percent, plural, short, show, soon } from "./dom.js";
import { History, nothing } from "./history.js";
import { limitsOf, STATUS, titleOf } from "./list.js";
import { recall, registries } from "./registries.js";
import * as request from "./request.js";
import { failed, toast } from "./toast.js";
import * as tree from "./tree.js";

const TABS = [["conversation", "Conversation"], ["window", "Window"], ["request", "What the model sees"], ["compactions", "Compactions"], ["tree", "Tree"]];
/** Events that change what is known of messages that were read before. */
const MOVES = new Set(["committed", "undone", "redone", "rewound", "purged", "pinned", "imported"]);

export function thread(main, id, tab, { go, signal }) {
  const data = { status: null, info: null, curve: null, cards: null };
  let shownTab = tab;
  let by = "messages";

  const scroller = h("div", { class: "scroller", tabindex: 0, role: "feed", "aria-label": "Conversation", id: "feed" });
  const live = h("div", { class: "live" });
  const down = h("button", { type: "button", class: "to-end", hidden: true, onclick: () => messages.list.toEnd() }, "↓ Newest");
  const blank = h("div", { class: "blank", hidden: true });
  const heading = h("h1", { class: "thread-title" }, id);
  const about_ = h("div", { class: "thread-about" });
  const acts = h("div", { class: "thread-acts write", role: "group", "aria-label": "Actions" });
  const banner = h("div", { class: "banner", role: "status", hidden: true });
  const windowBox = h("div", { class: "window-box" });
  const registryBox = h("div", { class: "registries" });
  const requestBox = h("div", { class: "request-view" });
  const cardsChart = h("div", { class: "cards-chart" });
  const cardsBox = h("div", { class: "cards" });
  const treeBox = h("div", { class: "tree-view" });
  const liveDot = h("span", { class: "live-dot", "data-state": "wait", title: "Not connected yet" });

  const view = {
    id,
    go,
    title: () => (data.info ? titleOf(data.info) : id),
    changed: () => refresh({ moved: true }),
    working: (text) => {
      banner.hidden = !text;
      banner.textContent = text ?? "";
    },
    toEnd: () => messages.list.toEnd(),
    follow: () => messages.list.sticks && messages.list.toEnd(),
    total: () => messages.total,
    recall: (words) => {
      if (shownTab !== "window" && getComputedStyle(side).display === "none") go(`/threads/${id}/window`);
      const field = side.querySelector("#recall");
      field.value = words;
      field.form.requestSubmit();
      field.focus();
    },
  };
  const jump = (position) => {
    if (shownTab !== "conversation") {
      history.pushState(null, "", `/threads/${id}#m${position + 1}`);
      setTab("conversation");
    }
    messages.show(position).catch((error) => failed("It could not be shown", error));
  };
  const openCard = (record) => {
    go(`/threads/${id}/compactions`);
    const seek = (tries) => {
      const card = document.getElementById(`record-${record}`);
      if (!card) return tries > 0 && setTimeout(() => seek(tries - 1), 60);
      card.scrollIntoView({ block: "start" });
      card.focus({ preventScroll: true });
    };
    seek(30);
  };
  const act = (name, entry) => {
    if (name === "branch") branch(view, entry);
    else if (name === "rewind") rewind(view, entry.message_id ? { message_id: entry.message_id } : { message_id: entry.id }, entry.words ?? `Message ${entry.position + 1}`);
    else if (name === "card") openCard(entry);
    else if (name === "pinned") loadRegistries();
    else if (name === "undo") undo(view);
    else if (name === "apply") apply(entry);
  };
  const apply = async (preview) => {
    try {
      await post(of(id, "/apply"), { preview });
      toast("done", "Put in force", null, { label: "Undo", run: () => undo(view) });
    } catch (error) {
      failed(error.code === "preview_stale" ? "The conversation changed below the preview" : "It could not be put in force", error);
    }
    refresh({ moved: true });
  };

  const composer = chat(view, live, signal);
  const side = h("aside", { class: "side", "aria-label": "Window and registries" }, windowBox, recall({ thread: id, jump }), registryBox);
  const panes = {
    conversation: h("section", { class: "pane conversation", "aria-label": "Conversation" }, h("div", { class: "feed-box" }, scroller, blank, down), composer.element),
    request: h("section", { class: "pane request", "aria-label": "What the model sees" }, requestBox),
    compactions: h("section", { class: "pane scrolls", "aria-label": "Compactions", tabindex: -1 }, cardsChart, cardsBox),
    tree: h("section", { class: "pane scrolls", "aria-label": "Tree", tabindex: -1 }, treeBox),
  };
  const tabs = h("nav", { class: "tabs", "aria-label": "Views of this thread" }, TABS.map(([name, title]) => h("a", { href: name === "conversation" ? `/threads/${id}` : `/threads/${id}/${name}`, "data-go": true, "data-tab": name }, title)));
  const root = h("div", { class: "thread", "data-tab": tab }, h("header", { class: "thread-head" }, h("div", { class: "thread-name" }, heading, about_), acts), tabs, banner, h("div", { class: "thread-body" }, Object.values(panes), side));
  show(main, root);
  show(document.getElementById("where"), h("span", { "aria-hidden": "true" }, "/"), h("a", { href: "/", "data-go": true }, "Threads"), liveDot);
  document.title = `${id} · Conspectus`;
  const messages = new History(id, scroller, { on: { act }, tail: live });
  scroller.addEventListener("scroll", () => (down.hidden = messages.list.isAtEnd()), { passive: true });
  signal.addEventListener("abort", () => {
    messages.close();
    seen?.close();
    sizes.disconnect();
  });
  let seen = null;
  const sizes = new ResizeObserver(soon(() => drawChart(), 60));
  sizes.observe(windowBox);
  sizes.observe(cardsChart);

  // What a thread shows comes from several answers; each is drawn when it is there.
  async function loadStatus() {
    const [status, [info]] = await Promise.all([get(of(id, "/status"), {}, signal), post("/threads/search", { ids: [id] }, signal)]);
    data.status = status;
    data.info = info ?? data.info;
    drawHead();
    drawWindow();
    return status;
  }
  const limits = () => {
    const { budget, window } = data.status;
    const triggers = budget.triggers.map((one) => one.tokens).filter(Boolean);
    return limitsOf(data.info?.metadata, { limit: window.input_limit, trigger: triggers.length ? Math.min(...triggers) : null, soft: budget.soft_tokens, keep: budget.target_tokens });
  };
  function drawHead() {
    const { status, info } = data;
    const title = view.title();
    document.title = `${title} · Conspectus`;
    show(heading, title);
    const { text, tone } = STATUS[info?.status] ?? {};
    show(
      about_,
      title === id ? null : h("code", { class: "dim" }, id),
      text && info.status !== "idle" ? h("span", { class: "chip", "data-tone": tone }, text) : null,
      h("span", { class: "chip", title: "The model that it runs on" }, info?.metadata?.proxy?.model ?? status.model ?? "no model"),
      status.enabled ? null : h("span", { class: "chip", "data-tone": "near" }, "compaction off"),
      status.breaker.open ? h("span", { class: "chip", "data-tone": "bad", title: `${plural(status.breaker.failures, "failed attempt")} in a row; none is made by itself until the cooldown is over` }, "breaker open") : null,
      status.compaction_in_progress ? h("span", { class: "chip", "data-tone": "near" }, "compacting") : null,
      info?.origin ? h("a", { class: "chip", href: `/threads/${info.origin.thread}`, "data-go": true, title: "Branched off this thread" }, `off ${info.origin.thread}`) : null,
    );
    const button = (label, run, options) => h("button", { type: "button", class: "small", onclick: run, ...options }, label);
    const busy = document.activeElement?.parentElement === acts ? document.activeElement.textContent : null;
    show(
      acts,
      button("Compact…", () => compactDialog(view), { class: "small primary" }),
      button("Undo", () => undo(view), { disabled: !status.can_undo }),
      button("Redo", () => redo(view), { disabled: !status.can_redo }),
      button("Branch…", () => branch(view)),
      button("Rename…", () => rename(view, (body) => patch(of(id), body))),
    );
    if (busy) [...acts.children].find((one) => one.textContent === busy)?.focus();
  }
  function drawWindow() {
    const { status } = data;
    const { limit, trigger, soft } = limits();
    const held = data.info?.metadata?.proxy?.window;
    const next = held ? { reached: trigger !== null && status.size.tokens >= trigger, tokens_left: trigger === null ? null : Math.max(0, trigger - status.size.tokens) } : status.next;
    const left = next.tokens_left;
    const chartBox = h("div", { class: "chart-slot" });
    const proxied = proxy(data.info?.metadata);
    show(
      windowBox,
      h("div", { class: "line" }, h("h2", {}, "Window"), h("span", { class: "grow" }), h("span", { class: "num" }, h("b", {}, number(status.size.tokens)), h("span", { class: "dim" }, ` / ${number(limit)} tokens`))),
      gauge({ tokens: status.size.tokens, limit, trigger, soft, wide: true }),
      h("p", { class: "dim fine" }, next.reached ? "The trigger is reached: the next call compacts first." : trigger ? `Compacts at ${number(trigger)}${left ? `: ${number(left)} left${next.estimated_messages ? `, about ${plural(next.estimated_messages, "message")}` : ""}` : ""}.` : "No trigger by tokens."),
      chartBox,
      h(
        "dl",
        { class: "facts tight" },
        pair("Whole conversation", `${short(status.saved.whole_tokens)} tokens`),
        pair("Spared each call", status.saved.tokens ? `${short(status.saved.tokens)} (${percent(status.saved.tokens, status.saved.whole_tokens)})${status.saved.micros_per_call ? `, ${dollars(status.saved.micros_per_call)}` : ""}` : "–"),
        pair("Compactions", number(status.records)),
        pair("Paid for summaries", status.spent?.thread_micros ? dollars(status.spent.thread_micros) : "–"),
        pair("Window from", held ? "the proxy" : { given: "configuration, catalog", learnt: "a refusal", assumed: "an assumption" }[status.window.source] ?? String(status.window.source).replaceAll("_", " ")),
        proxied,
      ),
      status.warnings.length ? h("ul", { class: "reasons" }, status.warnings.map((text) => h("li", {}, text))) : null,
    );
    drawChart();
  }
  const pair = (name, value) => h("div", { class: "fact" }, h("dt", {}, name), h("dd", {}, value));
  /** What the proxy tells of a conversation that came through it. */
  function proxy(metadata) {
    const told = metadata?.proxy;
    if (!told) return null;
    return Object.entries(told).filter(([, value]) => typeof value === "number" || typeof value === "string").slice(0, 12).map(([name, value]) => pair(`Proxy: ${name.replace(/_micros$/, "").replaceAll("_", " ")}`, name.endsWith("_micros") ? dollars(value) : typeof value === "number" ? number(value) : value));
  }
  function drawChart() {
    if (!data.curve || !data.status || signal.aborted) return;
    const pick = (mark) => (mark.record === null ? go(`/threads/${id}/tree`) : openCard(mark.record));
    for (const [slot, height] of [[windowBox.querySelector(".chart-slot"), 150], [cardsChart, 220]]) {
      if (!slot || slot.clientWidth < 60) continue;
      const toggle = h("button", { type: "button", class: "ghost small chart-by", onclick: () => ((by = by === "messages" ? "time" : "messages"), drawChart()) }, by === "messages" ? "By message" : "By time");
      show(slot, chart(data.curve, limits(), { width: slot.clientWidth, height, by, pick }), toggle);
    }
  }
  async function loadCurve() {
    data.curve = await get(of(id, "/curve"), { points: 300 }, signal);
    // What is counted now knows of what was shortened since the last compaction, too.
    const newest = data.curve.points.at(-1);
    if (newest && data.status) newest.tokens = data.status.size.request;
    drawChart();
  }
  async function loadRegistries() {
    registries(registryBox, await get(of(id, "/registries"), {}, signal), { thread: id, jump, changed: () => refresh({ moved: true }) });
  }
  const loaders = {
    conversation: async () => {},
    window: async () => {},
    request: async () => {
      const parts = await get(of(id, "/request"), {}, signal);
      const place = requestBox.querySelector(".parts")?.scrollTop ?? 0;
      seen?.close();
      seen = request.draw(requestBox, parts, { limit: data.status?.window.input_limit, go });
      requestBox.querySelector(".parts").scrollTop = place;
    },
    compactions: async () => {
      data.cards = await cards.load(id, signal);
      cards.draw(cardsBox, data.cards, { act });
    },
    tree: async () => tree.draw(treeBox, await tree.load(id, signal), { act }),
  };
  const stale = new Set(Object.keys(loaders));
  async function loadTab() {
    if (!stale.has(shownTab)) return;
    stale.delete(shownTab);
    try {
      await loaders[shownTab]?.();
    } catch (error) {
      stale.add(shownTab);
      if (!signal.aborted && error.status !== 401) failed("It could not be read", error);
    }
  }
  function setTab(name) {
    shownTab = TABS.some(([known]) => known === name) ? name : "conversation";
    root.dataset.tab = shownTab;
    for (const link of tabs.children) {
      if (link.dataset.tab === shownTab) {
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest", inline: "nearest" });
      } else link.removeAttribute("aria-current");
    }
    if (shownTab === "conversation") messages.list.update();
    drawChart();
    loadTab();
  }

  // Several changes at once are one look.
  let pending = { moved: false, messages: false };
  const look = soon(async () => {
    const asked = pending;
    pending = { moved: false, messages: false };
    if (signal.aborted) return;
    Object.keys(loaders).forEach((name) => stale.add(name));
    try {
      const [, status] = await Promise.all([messages.load({ changed: asked.moved }).then(() => composer.stored((one) => messages.holds(one))), loadStatus()]);
      blank.hidden = messages.total > 0 || live.childElementCount > 0;
      await composer.refresh({ run: status.run, isStored: (one) => messages.holds(one) });
      loadTab();
      loadCurve().catch(() => {});
      loadRegistries().catch(() => {});
    } catch (error) {
      if (!signal.aborted && error.status !== 401) toast("warn", "It could not be read again", error.message);
    }
  }, 60);
  function refresh(what = {}) {
    pending.moved ||= Boolean(what.moved);
    look();
  }

  function told({ event }) {
    if (event.type === "progress") {
      view.working(`Compacting: ${event.done} of ${event.of} parts`);
      return;
    }
    if (event.type === "compaction") {
      if (event.event?.name === "compaction.start") view.working("Compacting…");
      else view.working(null);
    }
    refresh({ moved: MOVES.has(event.type) });
  }

  (async () => {
    setTab(tab);
    try {
      // The newest messages come first: to say where a thread stands takes longer, the more is in its window.
      await messages.load();
      const status = loadStatus();
      status.catch(() => {});
      nothing(blank);
      blank.hidden = messages.total > 0;
      const place = /^#m(\d+)$/.exec(location.hash);
      if (place) messages.show(Math.max(0, Number(place[1]) - 1));
      performance.mark("conspectus-painted");
      const known = await status;
      follow(id, known.last_event, {
        signal,
        told,
        state: (state) => {
          if (state === "live" && liveDot.dataset.state === "lost") refresh({ moved: true });
          liveDot.dataset.state = state;
          liveDot.title = { live: "Live", lost: "The connection broke off; it is taken up again", gone: "This thread is gone" }[state];
          if (state === "gone") view.working("This thread is gone, or the token is not taken any more.");
        },
      });
      composer.refresh({ run: known.run, isStored: (one) => messages.holds(one) });
      if (shownTab === "request") stale.add("request"), loadTab();
      await Promise.all([loadCurve(), loadRegistries()]);
    } catch (error) {
      if (signal.aborted || error.status === 401) return;
      show(main, h("div", { class: "centre" }, h("div", { class: "empty" }, h("h1", {}, error.status === 404 ? "There is no such thread" : "It cannot be shown"), h("p", {}, error.message), h("p", {}, h("a", { href: "/", "data-go": true }, "All threads")), error.status === 404 ? null : h("button", { type: "button", onclick: () => location.reload() }, "Try again"))));
    }
  })();
  addEventListener("hashchange", () => {
    const place = /^#m(\d+)$/.exec(location.hash);
    if (place) jump(Math.max(0, Number(place[1]) - 1));
  }, { signal });
  return { tab: setTab };
}
