// The threads of a tenant: found, with how full their windows are and what compactions spare them.

import { about, post } from "./api.js";
import { dollars, gauge, h, number, plural, short, show, soon, when } from "./dom.js";
import { failed } from "./toast.js";

const PAGE = 40;
/** So often the list looks for what is new while it is seen, in milliseconds. */
const LOOK = 3000;

export const STATUS = {
  idle: { text: "idle", tone: null },
  busy: { text: "busy", tone: "near" },
  interrupted: { text: "asks", tone: "short" },
  error: { text: "failed", tone: "bad" },
};

export const titleOf = (thread) => thread.title || thread.metadata?.title || thread.thread_id;

export function list(main, { go, signal }) {
  document.title = "Threads · Conspectus";
  const params = new URLSearchParams(location.search);
  const state = { text: params.get("q") ?? "", status: params.get("status") ?? "", count: PAGE };
  const body = h("tbody", {});
  const more = h("button", { type: "button", class: "ghost", hidden: true, onclick: () => ((state.count += PAGE), load()) }, "Show more");
  const told = h("p", { class: "dim count", role: "status" });
  const address = () => {
    const query = new URLSearchParams();
    if (state.text) query.set("q", state.text);
    if (state.status) query.set("status", state.status);
    history.replaceState(null, "", query.size ? `/?${query}` : "/");
  };
  const find = soon(() => ((state.count = PAGE), address(), load()), 150);
  const search = h("input", { type: "search", id: "find", placeholder: "Search title or name", "aria-label": "Search threads", value: state.text, oninput: () => ((state.text = search.value.trim()), find()) });
  const status = h(
    "select",
    { "aria-label": "Status", onchange: () => ((state.status = status.value), find()) },
    h("option", { value: "" }, "Any status"),
    Object.entries(STATUS).map(([value, { text }]) => h("option", { value, selected: value === state.status }, text)),
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
      const query = { limit: Math.min(state.count + 1, 1000), sort_by: "updated_at", sort_order: "desc", select: ["window"] };
      if (state.text) query.text = state.text;
      if (state.status) query.status = state.status;
      const count = { text: state.text || null, status: state.status || null };
      const [threads, total] = await Promise.all([post("/threads/search", query, signal), post("/threads/count", count, signal)]);
      if (own !== asked || signal.aborted) return;
      const text = JSON.stringify([threads, total]);
      if (text === drawn) return;
      drawn = text;
      const held = document.activeElement?.closest?.("tr")?.dataset.id;
      told.textContent = plural(total, "thread");
      more.hidden = threads.length <= state.count;
      show(body, threads.slice(0, state.count).map((thread) => line(thread)));
      if (threads.length === 0) show(body, h("tr", {}, h("td", { colspan: 7, class: "empty" }, state.text || state.status ? "No thread is like that." : "There are no threads yet. They come by the API, the proxy, the agent, or the button above.")));
      if (held) body.querySelector(`tr[data-id="${CSS.escape(held)}"] a`)?.focus();
    } catch (error) {
      if (!signal.aborted && error.status !== 401 && drawn === "") show(body, h("tr", {}, h("td", { colspan: 7, class: "empty" }, error.message)));
    }
  }
  function line(thread) {
    const window = thread.window;
    const title = titleOf(thread);
    const proxied = Boolean(thread.metadata?.proxy);
    const { text, tone } = STATUS[thread.status] ?? { text: thread.status };
    return h(
      "tr",
      { "data-id": thread.thread_id, onclick: (event) => event.target.closest("a, button") || getSelection().toString() || go(`/threads/${thread.thread_id}`) },
      h("td", { class: "name" }, h("a", { href: `/threads/${thread.thread_id}`, "data-go": true }, title), h("span", { class: "under" }, title === thread.thread_id ? null : h("code", {}, thread.thread_id), thread.status === "idle" ? null : h("span", { class: "chip", "data-tone": tone }, text), proxied ? h("span", { class: "chip", title: "A conversation that came through the proxy" }, "proxy") : null, thread.origin ? h("span", { class: "chip", title: `Branched off ${thread.origin.thread}` }, "branch") : null)),
      h("td", { "data-name": "Model" }, thread.metadata?.proxy?.model ?? window?.model ?? thread.agent_name ?? h("span", { class: "dim" }, "–")),
      h("td", { class: "window", "data-name": "Window" }, window ? [gauge({ tokens: window.tokens, limit: window.input_limit, trigger: window.trigger_tokens, soft: window.soft_tokens }), h("span", { class: "under" }, `${short(window.tokens)} / ${short(window.input_limit)}`)] : "–"),
      h("td", { class: "num", "data-name": "Messages" }, number(thread.message_count)),
      h("td", { class: "num", "data-name": "Compactions" }, thread.record_count || h("span", { class: "dim" }, "–")),
      h("td", { class: "num", "data-name": "Spared a call" }, window?.saved_tokens ? [short(window.saved_tokens), h("span", { class: "under" }, window.saved_micros_per_call ? dollars(window.saved_micros_per_call) : "tokens")] : h("span", { class: "dim" }, "–")),
      h("td", { "data-name": "Last activity" }, when(Date.parse(thread.updated_at))),
    );
  }
  const timer = setInterval(() => document.visibilityState === "visible" && load(), LOOK);
  const seen = () => document.visibilityState === "visible" && load();
  document.addEventListener("visibilitychange", seen);
  signal.addEventListener("abort", () => (clearInterval(timer), document.removeEventListener("visibilitychange", seen)));
  load();
}
