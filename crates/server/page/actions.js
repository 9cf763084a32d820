// What can be done with a thread, and what is said about it afterwards.

import { about, get, of, post } from "./api.js";
import { reason } from "./cards.js";
import { h, number, percent, plural, show } from "./dom.js";
import { parts } from "./request.js";
import { failed, toast } from "./toast.js";

/** Says what a compaction came to. */
function tell(view, done) {
  const sizes = `${number(done.tokens_before)} → ${number(done.total_tokens)} tokens, ${plural(done.removed_message_count, "message")} folded.`;
  const why = done.reasons.map(reason).join(" ");
  const back = { label: "Undo", run: () => undo(view) };
  if (done.compacted) toast("done", done.reason === "pruned" ? "Shortened; no summary was needed" : "Compacted", sizes, back);
  else if (done.reason === "not_enough_messages") toast("info", "Nothing to do", why || "There is nothing that could be folded.");
  else if (done.reason === "rejected") toast("warn", "Not better, so nothing was changed", why);
  else toast("info", "Nothing was changed", why);
}

/** Says why there was none. */
function tellWhy(error) {
  const title = {
    disabled: "Compaction is disabled",
    run_in_flight: "Busy",
    history_changed: "The conversation changed meanwhile",
    deferred: "Not now",
    compaction_failed: "It failed; nothing was changed",
    cancelled: "Stopped; nothing was changed",
    preview_stale: "The conversation changed below the preview",
    read_only: "This token only reads",
  }[error.code];
  const kind = ["disabled", "run_in_flight", "history_changed", "deferred", "preview_stale"].includes(error.code) ? "warn" : "fail";
  const detail = error.code === "compaction_failed" && error.reason ? `${error.message} Cause: ${error.reason.replaceAll("_", " ")}.` : error.message;
  toast(kind, title ?? "It could not be done", detail);
}

/** Compacts; `true` when something was changed. */
export async function compact(view, body) {
  view.working("Compacting…");
  try {
    const done = await post(of(view.id, "/compact"), body);
    tell(view, done);
    return done.compacted;
  } catch (error) {
    tellWhy(error);
    return false;
  } finally {
    view.working(null);
    view.changed();
  }
}

export async function undo(view) {
  try {
    await post(of(view.id, "/undo"));
    toast("done", "Taken back", "The messages are in the window again; the compaction can be put in force again.", { label: "Redo", run: () => redo(view) });
  } catch (error) {
    if (error.code === "nothing_to_do") toast("info", "Nothing to take back", error.message);
    else tellWhy(error);
  }
  view.changed();
}

export async function redo(view) {
  try {
    await post(of(view.id, "/redo"));
    toast("done", "In force again", null, { label: "Undo", run: () => undo(view) });
  } catch (error) {
    if (error.code === "nothing_to_do") toast("info", "Nothing to put in force again", error.message);
    else tellWhy(error);
  }
  view.changed();
}

/** A dialog; it is gone when it is closed. */
export function dialog(title, content, { wide } = {}) {
  const box = h(
    "dialog",
    { class: wide ? "wide" : null, "aria-labelledby": "dialog-title" },
    h("div", { class: "dialog-head" }, h("h2", { id: "dialog-title" }, title), h("span", { class: "grow" }), h("button", { type: "button", class: "ghost icon", "aria-label": "Close", onclick: () => box.close() }, "×")),
    content,
  );
  box.addEventListener("close", () => {
    const toasts = box.querySelector("#toasts");
    if (toasts) document.body.append(toasts);
    box.remove();
  });
  document.body.append(box);
  box.showModal();
  return box;
}

/** Models to choose from; nothing chosen is the thread's own. */
export function models(chosen, id) {
  const select = h("select", { id, "aria-label": "Model" });
  const fill = () => {
    const all = about.info?.models ?? [];
    const value = select.value || chosen;
    show(select, h("option", { value: "" }, all.length ? "Thread's model" : "No model"), all.map((model) => h("option", { value: model.name, selected: model.name === value }, model.name)));
  };
  fill();
  if (!about.info) document.addEventListener("conspectus-info", fill, { once: true });
  return select;
}

/** What the last compaction of a thread was to pay attention to, for as long as the page is open. */
const focuses = new Map();

/** Asks how to compact; then does it, or shows what it would do. */
export function compactDialog(view) {
  const focus = h("textarea", { id: "focus", rows: 3, maxlength: 2000, placeholder: "What the summary should pay attention to", value: focuses.get(view.id) ?? "" });
  const model = models(view.model?.(), "compact-model");
  const strategy = h("select", { id: "strategy" }, [["", "As the policy says"], ["auto", "Auto: whichever costs less"], ["replay", "Replay: the conversation once more"], ["transcript", "Transcript"], ["digest", "Extract, without a model"]].map(([value, text]) => h("option", { value }, text)));
  const keep = h("input", { id: "keep", type: "number", min: 0, step: 1, inputmode: "numeric", placeholder: "as the policy says" });
  const force = h("input", { id: "force", type: "checkbox", checked: true });
  const asked = () => {
    focuses.set(view.id, focus.value);
    const body = { force: force.checked };
    if (focus.value.trim()) body.focus = focus.value.trim();
    if (model.value) body.model_name = model.value;
    if (strategy.value) body.strategy = strategy.value;
    if (keep.value !== "") body.keep = { type: "messages", value: Number(keep.value) };
    return body;
  };
  const busy = (is) => box.querySelectorAll("footer button").forEach((button) => (button.disabled = is));
  const form = h(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        busy(true);
        const body = asked();
        box.close();
        await compact(view, body);
      },
    },
    h("label", { for: "focus" }, "Focus"),
    focus,
    h("div", { class: "columns" }, h("div", {}, h("label", { for: "compact-model" }, "Model"), model), h("div", {}, h("label", { for: "strategy" }, "Strategy"), strategy), h("div", {}, h("label", { for: "keep" }, "Messages to keep"), keep)),
    h("label", { class: "check" }, force, "Also below the trigger"),
    h(
      "footer",
      {},
      h("button", {
        type: "button",
        onclick: async () => {
          busy(true);
          if (await preview(view, asked())) box.close();
          else busy(false);
        },
      }, "Preview"),
      h("button", { class: "primary" }, "Compact now"),
    ),
  );
  const box = dialog("Compact this thread", form);
  focus.focus();
}

/** Makes a preview, and shows what the model sees now beside what it would see. */
async function preview(view, body) {
  view.working("Making a preview…");
  try {
    const done = await post(of(view.id, "/compact"), { ...body, dry_run: true });
    if (!done.preview) {
      tell(view, done);
      return false;
    }
    const [now, then] = await Promise.all([get(of(view.id, "/request")), get(of(view.id, "/request"), { preview: done.preview })]);
    beside(view, body, done, now, then);
    return true;
  } catch (error) {
    tellWhy(error);
    return false;
  } finally {
    view.working(null);
  }
}

function beside(view, body, done, now, then) {
  const stays = new Set(then.parts.map((part) => part.id).filter(Boolean));
  const was = new Map(now.parts.map((part) => [part.id, part]));
  const left = parts(now, { tone: (part) => (part.id && !stays.has(part.id) ? "gone" : part.position === null ? "gone" : null) });
  const right = parts(then, { tone: (part) => (part.position === null ? "new" : part.kind === "shortened" && was.get(part.id)?.kind !== "shortened" ? "cut" : null) });
  const tokens = (request) => request.parts.reduce((sum, part) => sum + part.tokens, request.size.fixed);
  const [before, after] = [tokens(now), tokens(then)];
  const act = async (button) => {
    button.disabled = true;
    view.working("Putting it in force…");
    try {
      const applied = await post(of(view.id, "/apply"), { preview: done.preview });
      box.close();
      tell(view, { ...applied, compacted: true });
    } catch (error) {
      button.disabled = false;
      tellWhy(error);
    } finally {
      view.working(null);
      view.changed();
    }
  };
  const column = (title, size, list) => h("section", { class: "sees", "aria-label": title }, h("h3", {}, title, h("span", { class: "dim" }, `${number(size)} tokens`)), list.element);
  const box = dialog(
    "Preview",
    h(
      "div",
      { class: "preview" },
      h("p", { class: "lead" }, h("b", {}, `${number(before)} → ${number(after)} tokens`), ` (${percent(before - after, before)} less), ${plural(done.removed_message_count, "message")} folded. `, h("span", { class: "dim" }, "Nothing is changed yet, and putting it in force asks no model again.")),
      body.focus ? h("p", { class: "dim" }, "Focus: ", h("q", {}, body.focus)) : null,
      h("div", { class: "beside" }, column("Sees now", before, left), column("Would see", after, right)),
      h(
        "footer",
        {},
        h("button", { type: "button", onclick: () => (box.close(), compactDialog(view)) }, "Change the focus"),
        h("button", { type: "button", class: "primary", onclick: (event) => act(event.currentTarget) }, "Put in force"),
      ),
    ),
    { wide: true },
  );
  left.ready();
  right.ready();
  box.addEventListener("close", () => (left.close(), right.close()));
}

/** A thread that goes on from a message, or from where this one stands. */
export function branch(view, entry) {
  const title = h("input", { id: "branch-title", value: `${view.title()} (branch)` });
  const form = h(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          const made = await post(of(view.id, "/branches"), { title: title.value.trim() || null, message_id: entry?.id ?? null, checkpoint_id: entry?.checkpoint_id ?? null });
          box.close();
          toast("done", "Branched off", "This one stays as it is.");
          view.go(`/threads/${made.thread_id}`);
        } catch (error) {
          failed("It could not be branched", error);
        }
      },
    },
    h("p", { class: "dim" }, entry?.position !== undefined ? `A thread of its own that goes on behind message ${entry.position + 1}.` : "A thread of its own that goes on from here."),
    h("label", { for: "branch-title" }, "Title"),
    title,
    h("footer", {}, h("button", { class: "primary" }, "Branch")),
  );
  const box = dialog("Branch", form);
  title.select();
}

/** Makes an earlier place the newest. */
export function rewind(view, place, words) {
  const form = h(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await post(of(view.id, "/rewind"), place);
          box.close();
          toast("done", "Rewound", "What came behind stays in the thread, on a branch: the tree shows it.");
        } catch (error) {
          failed("It could not be rewound", error);
        }
        view.changed();
      },
    },
    h("p", {}, `${words} becomes the newest. What came behind it is not lost: it stays in the thread, on a branch of its own.`),
    h("footer", {}, h("button", { class: "primary" }, "Rewind")),
  );
  const box = dialog("Rewind", form);
}

/** Another title. */
export function rename(view, patch) {
  const title = h("input", { id: "new-title", value: view.title(), required: true });
  const form = h(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await patch({ title: title.value.trim() });
          box.close();
        } catch (error) {
          failed("It could not be renamed", error);
        }
        view.changed();
      },
    },
    h("label", { for: "new-title" }, "Title"),
    title,
    h("footer", {}, h("button", { class: "primary" }, "Rename")),
  );
  const box = dialog("Rename", form);
  title.select();
}
