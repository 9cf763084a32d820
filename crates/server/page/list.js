// The threads of a tenant: found, with how full their windows are and what compactions spare them.

import { about, followAll, post } from "./api.js";
import { dollars, gauge, h, number, plural, short, show, soon, when } from "./dom.js";
import { failed } from "./toast.js";

const PAGE = 40;
/** So often the list looks for what is new while no stream tells it, in milliseconds. */
const LOOK = 3000;
/** And so often while one does: for the age of what is shown, and for what other processes deleted. */
const LOOK_LIVE = 60_000;

export const STATUS = {
  idle: { text: "idle", tone: null },
  busy: { text: "busy", tone: "near" },
  interrupted: { text: "asks", tone: "short" },
  error: { text: "failed", tone: "bad" },
};

/** Limits of a window as they are drawn. A conversation that came through the proxy has the proxy's, which it tells with the thread. */
export function limitsOf(metadata, own) {
  const told = metadata?.proxy?.window;
  return told ? { limit: told.input_limit, trigger: told.trigger_tokens, soft: told.soft_tokens, keep: told.target_tokens } : own;
}

export const titleOf = (thread) => thread.title || thread.metadata?.title || thread.thread_id;

export function list(main, { go, signal }) {
  document.title = "Threads · Conspectus";
  const params = new URLSearchParams(location.search);
  const asking = { text: params.get("q") ?? "", status: params.get("status") ?? "", count: PAGE };
  const body = h("tbody", {});
  const more = h("button", { type: "button", class: "ghost", hidden: true, onclick: () => ((asking.count += PAGE), load()) }, "Show more");
  const told = h("p", { class: "dim count", role: "status" });
  const address = () => {
    const query = new URLSearchParams();
    if (asking.text) query.set("q", asking.text);
    if (asking.status) query.set("status", asking.status);
    history.replaceState(null, "", query.size ? `/?${query}` : "/");
  };
  const find = soon(() => ((asking.count = PAGE), address(), load()), 150);
  const search = h("input", { type: "search", id: "find", placeholder: "Search title or name", "aria-label": "Search threads", value: asking.text, oninput: () => ((asking.text = search.value.trim()), find()) });
  const status = h(
    "select",
    { "aria-label": "Status", onchange: () => ((asking.status = status.value), find()) },
    h("option", { value: "" }, "Any status"),
    Object.entries(STATUS).map(([value, { text }]) => h("option", { value, selected: value === asking.status }, text)),
  );
  const create = async () => {
    try {
      const made = await post("/threads", {});
      go(`/threads/${made.thread_id}`);
    } catch (error) {
      failed("No thread was made", error);
    }
  };
  const tenant = h("span", { class: "chip", title: "The tenant whose threads these are" }, about.info?.tenant ?? "…");
  const known = () => (tenant.textContent = about.info.tenant);
  if (!about.info) document.addEventListener("conspectus-info", known, { once: true });
  show(
    main,
    h(
      "div",
      { class: "page list-page" },
      h("div", { class: "page-head" }, h("h1", {}, "Threads"), tenant, told, h("span", { class: "grow" }), search, status, h("button", { type: "button", class: "primary write", onclick: create }, "New thread")),
      h(
        "table",
        { class: "threads" },
        h("caption", { class: "hidden" }, "Threads, the newest first"),
        h("thead", {}, h("tr", {}, ["Thread", "Model", "Window", "Messages", "Compactions", "Spared a call", "Last activity"].map((name) => h("th", { scope: "col" }, name)))),
        body,
      ),
      h("div", { class: "centre-line" }, more),
    ),
  );
  let drawn = "";
  let asked = 0;
  async function load() {
    const own = ++asked;
    try {
      const query = { limit: Math.min(asking.count + 1, 1000), sort_by: "updated_at", sort_order: "desc", select: ["window"] };
      if (asking.text) query.text = asking.text;
      if (asking.status) query.status = asking.status;
      const count = { text: asking.text || null, status: asking.status || null };
      const [threads, total] = await Promise.all([post("/threads/search", query, signal), post("/threads/count", count, signal)]);
      if (own !== asked || signal.aborted) return;
      const text = JSON.stringify([threads, total]);
      if (text === drawn) return;
      drawn = text;
      const held = document.activeElement?.closest?.("tr")?.dataset.id;
      told.textContent = plural(total, "thread");
      more.hidden = threads.length <= asking.count;
      show(body, threads.slice(0, asking.count).map((thread) => line(thread)));
      if (threads.length === 0) show(body, h("tr", {}, h("td", { colspan: 7, class: "empty" }, asking.text || asking.status ? "No thread is like that." : "There are no threads yet. They come by the API, the proxy, the agent, or the button above.")));
      if (held) body.querySelector(`tr[data-id="${CSS.escape(held)}"] a`)?.focus();
    } catch (error) {
      if (!signal.aborted && error.status !== 401 && drawn === "") show(body, h("tr", {}, h("td", { colspan: 7, class: "empty" }, error.message)));
    }
  }
  function line(thread) {
    const window = thread.window;
    const limits = limitsOf(thread.metadata, { limit: window?.input_limit, trigger: window?.trigger_tokens, soft: window?.soft_tokens });
    const title = titleOf(thread);
    const proxied = Boolean(thread.metadata?.proxy);
    const { text, tone } = STATUS[thread.status] ?? { text: thread.status };
    return h(
      "tr",
      { "data-id": thread.thread_id, onclick: (event) => event.target.closest("a, button") || getSelection().toString() || go(`/threads/${thread.thread_id}`) },
      h("td", { class: "name" }, h("a", { href: `/threads/${thread.thread_id}`, "data-go": true }, title), h("span", { class: "under" }, title === thread.thread_id ? null : h("code", {}, thread.thread_id), thread.status === "idle" ? null : h("span", { class: "chip", "data-tone": tone }, text), proxied ? h("span", { class: "chip", title: "A conversation that came through the proxy" }, "proxy") : null, thread.origin ? h("span", { class: "chip", title: `Branched off ${thread.origin.thread}` }, "branch") : null)),
      h("td", { "data-name": "Model" }, thread.metadata?.proxy?.model ?? window?.model ?? thread.agent_name ?? h("span", { class: "dim" }, "–")),
      h("td", { class: "window", "data-name": "Window" }, window ? [gauge({ tokens: window.tokens, ...limits }), h("span", { class: "under" }, `${short(window.tokens)} / ${short(limits.limit)}`)] : "–"),
      h("td", { class: "num", "data-name": "Messages" }, number(thread.message_count)),
      h("td", { class: "num", "data-name": "Compactions" }, thread.record_count || h("span", { class: "dim" }, "–")),
      h("td", { class: "num", "data-name": "Spared a call" }, window?.saved_tokens ? [short(window.saved_tokens), h("span", { class: "under" }, window.saved_micros_per_call ? dollars(window.saved_micros_per_call) : "tokens")] : h("span", { class: "dim" }, "–")),
      h("td", { "data-name": "Last activity" }, when(Date.parse(thread.updated_at))),
    );
  }
  const seen = () => document.visibilityState === "visible" && load();
  // Many changes at once are one look, and a thread that changes all the time does not put it off.
  let due = 0;
  const changed = () => (due ||= setTimeout(() => ((due = 0), seen()), 100));
  let heard = null;
  let timer = setInterval(seen, LOOK);
  const state = (now) => {
    if (now === heard) return;
    heard = now;
    main.querySelector(".list-page")?.setAttribute("data-stream", now);
    clearInterval(timer);
    timer = setInterval(seen, now === "live" ? LOOK_LIVE : LOOK);
    if (now === "live") seen();
  };
  followAll({ signal, changed, state });
  document.addEventListener("visibilitychange", seen);
  signal.addEventListener("abort", () => (clearInterval(timer), clearTimeout(due), document.removeEventListener("visibilitychange", seen)));
  load();
}
