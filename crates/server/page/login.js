// The form for a token. It is kept for this tab, and sent in a header only.

import { about, get, setToken } from "./api.js";
import { h, show } from "./dom.js";

/** Asks until a token is taken. */
export function login(main, why, done) {
  const field = h("input", { id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const said = h("p", { class: "form-error", role: "alert" }, why ?? "");
  const form = h(
    "form",
    {
      class: "login",
      onsubmit: async (event) => {
        event.preventDefault();
        setToken(field.value.trim());
        try {
          about.info = await get("/info");
          done();
        } catch (error) {
          if (error.status === 401) setToken(null);
          said.textContent = error.status === 401 ? "This token is not known here." : error.message;
          field.focus();
        }
      },
    },
    h("h1", {}, "Conspectus"),
    h("p", { class: "dim" }, "This service asks for a token. It is kept for this tab only."),
    h("label", { for: "token" }, "Token"),
    field,
    said,
    h("button", { class: "primary" }, "Sign in"),
  );
  show(main, h("div", { class: "centre" }, form));
  field.focus();
}
