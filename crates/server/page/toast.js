// Short messages about what was done, or why it was not. They are read out, and stay while they are pointed at.

import { h } from "./dom.js";

const MOST = 4;

/** `kind`: done, info, warn or fail. `action`: {label, run}. */
export function toast(kind, title, detail, action) {
  const box = document.getElementById("toasts");
  const close = () => {
    clearTimeout(timer);
    card.remove();
  };
  const card = h(
    "div",
    { class: "toast", "data-kind": kind },
    h("div", { class: "toast-text" }, h("strong", {}, title), detail ? h("span", {}, detail) : null),
    action ? h("button", { type: "button", class: "small", onclick: () => (close(), action.run()) }, action.label) : null,
    h("button", { type: "button", class: "ghost small icon", "aria-label": "Dismiss", onclick: close }, "×"),
  );
  let timer;
  const arm = () => (timer = setTimeout(close, kind === "fail" ? 15_000 : 8_000));
  card.addEventListener("mouseenter", () => clearTimeout(timer));
  card.addEventListener("mouseleave", arm);
  card.addEventListener("focusin", () => clearTimeout(timer));
  card.addEventListener("focusout", arm);
  // A dialog that is open stands above everything else of the page, and so must its messages.
  const dialog = document.querySelector("dialog[open]");
  if (dialog && box.parentElement !== dialog) dialog.append(box);
  if (!dialog && box.parentElement !== document.body) document.body.append(box);
  box.append(card);
  while (box.children.length > MOST) box.firstElementChild.remove();
  arm();
  return close;
}

/** What a problem says. */
export const failed = (title, problem) => toast("fail", title, problem?.message ?? String(problem));
