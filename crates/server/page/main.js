// The page: which view an address means, what stands above all of them, and who is signed in.

import { about, get, hasToken, setToken } from "./api.js";
import { h, show } from "./dom.js";
import { list } from "./list.js";
import { login } from "./login.js";
import { thread } from "./thread.js";

const main = document.getElementById("main");
const top = document.getElementById("top");
let view = new AbortController();

/** Themes: what the system says, light, dark. */
const THEMES = ["auto", "light", "dark"];
const theme = () => localStorage.getItem("conspectus-theme") ?? "auto";

function dress() {
  const chosen = theme();
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

const where = h("span", { id: "where", class: "where" });

function bar() {
  const info = about.info;
  const next = () => {
    localStorage.setItem("conspectus-theme", THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
    dress();
    bar();
  };
  const out = () => {
    setToken(null);
    about.info = null;
    bar();
    ask();
  };
  show(
    top,
    h("a", { class: "brand", href: "/", "data-go": true }, h("span", { class: "mark", "aria-hidden": "true" }), "Conspectus"),
    where,
    h("span", { class: "grow" }),
    info?.role === "read" ? h("span", { class: "chip", "data-tone": "near", title: "This token only reads" }, "read only") : null,
    info?.needs_token ? h("span", { class: "chip", title: "Tenant" }, info.tenant) : null,
    h("button", { type: "button", class: "ghost small", onclick: next, title: "Colours: as the system, light or dark" }, { auto: "Auto", light: "Light", dark: "Dark" }[theme()]),
    info ? h("span", { class: "version dim", title: "Version" }, info.version) : null,
    hasToken() ? h("button", { type: "button", class: "ghost small", onclick: out }, "Sign out") : null,
  );
  document.body.dataset.role = info?.role ?? "write";
}

function ask(why) {
  view.abort();
  login(main, why, () => {
    bar();
    open();
  });
}

/** Goes to an address of this page. */
export function go(path) {
  if (path !== location.pathname + location.search + location.hash) history.pushState(null, "", path);
  open();
}

let shown = null;

function open() {
  const found = /^\/threads\/([A-Za-z0-9_-]{1,64})(?:\/([a-z]+))?\/?$/.exec(location.pathname);
  if (found && shown?.id === found[1] && !shown.signal.aborted) {
    shown.tab(found[2] ?? "conversation");
    return;
  }
  view.abort();
  view = new AbortController();
  const { signal } = view;
  where.replaceChildren();
  shown = null;
  if (found) shown = { id: found[1], signal, ...thread(main, found[1], found[2] ?? "conversation", { go, signal }) };
  else if (location.pathname === "/") list(main, { go, signal });
  else show(main, h("div", { class: "centre" }, h("div", { class: "empty" }, h("h1", {}, "There is nothing here"), h("p", {}, h("a", { href: "/", "data-go": true }, "All threads")))));
  scrollTo(0, 0);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
addEventListener("popstate", open);
document.addEventListener("conspectus-login", (event) => {
  if (!document.querySelector("form.login")) ask(hasToken() ? event.detail : undefined);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("input, textarea, select")) return;
  const field = document.querySelector("#find, #recall");
  if (!field) return;
  event.preventDefault();
  field.focus();
});

dress();
bar();
// What the service is, and the view, at the same time: the view is there first.
get("/info").then(
  (info) => {
    about.info = info;
    bar();
    document.dispatchEvent(new CustomEvent("conspectus-info"));
  },
  () => {},
);
open();
