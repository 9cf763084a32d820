// Talking to the agent of a thread: what it says as it says it, stopping it, answering what it asks, and commands.

import { about, events, get, of, post, Problem } from "./api.js";
import { compact, models, redo, undo } from "./actions.js";
import { h, number, show } from "./dom.js";
import { body, row } from "./message.js";
import { failed, toast } from "./toast.js";

const MODES = ["messages-tuple", "updates", "custom"];
const COMMANDS = [["/compact", "compact, perhaps with what to pay attention to"], ["/undo", "take the compaction in force back"], ["/redo", "put it in force again"], ["/recall", "find what was said"]];

/** A reply as it comes in: messages by id, in order. */
class Live {
  constructor(element) {
    this.element = element;
    this.rows = new Map();
  }

  /** A piece of a reply, or a whole message. */
  take(message) {
    const id = message.id ?? `live-${this.rows.size}`;
    let kept = this.rows.get(id);
    if (!kept) {
      kept = { message: { type: "ai", id, content: "", tool_calls: [], calls: [] } };
      this.rows.set(id, kept);
    }
    const own = kept.message;
    if (message.type === "AIMessageChunk") {
      own.content += typeof message.content === "string" ? message.content : "";
      const reasoning = message.additional_kwargs?.reasoning_content;
      if (reasoning) own.reasoning_content = (own.reasoning_content ?? "") + reasoning;
      for (const chunk of message.tool_call_chunks ?? []) {
        const call = (own.calls[chunk.index] ??= { id: null, name: null, args: "" });
        call.id ??= chunk.id;
        call.name ??= chunk.name;
        call.args += chunk.args ?? "";
      }
      own.tool_calls = own.calls.filter(Boolean);
    } else kept.message = { calls: [], ...message };
    this.redraw(kept);
  }

  note(text, tone) {
    this.element.append(h("p", { class: "live-note", "data-tone": tone }, text));
  }

  redraw(kept) {
    if (kept.frame) return;
    kept.frame = requestAnimationFrame(() => {
      kept.frame = 0;
      if (kept.gone) return;
      if (!kept.element) {
        kept.element = row({ position: 0, message: kept.message, folded: false, stored_ms: Date.now() }, {});
        kept.element.removeAttribute("id");
        kept.element.classList.add("streaming");
        kept.element.querySelector(".place").remove();
        kept.element.setAttribute("aria-label", kept.message.type === "tool" ? "Tool" : "Assistant, being written");
        this.element.append(kept.element);
      }
      show(kept.element.querySelector(".row-body"), body(kept.message, undefined, kept.message.id));
    });
  }

  /** What is stored by now stands in the history. */
  drop(isStored) {
    for (const [id, kept] of this.rows) {
      if (!isStored(id)) continue;
      kept.gone = true;
      kept.element?.remove();
      this.rows.delete(id);
    }
  }

  clear() {
    this.rows.forEach((kept) => ((kept.gone = true), kept.element?.remove()));
    this.rows.clear();
    this.element.replaceChildren();
  }
}

/** `view`: the thread; `live`: where replies appear. Gives the composer. */
export function chat(view, live, signal) {
  const reply = new Live(live);
  const state = { run: null, asked: null, reader: null };
  const field = h("textarea", { id: "say", rows: 1, "aria-label": "Message", placeholder: "Write to the agent, or / for commands" });
  const model = models(null, "chat-model");
  const send = h("button", { class: "primary" }, "Send");
  const stop = h("button", { type: "button", hidden: true, onclick: () => cancel() }, "Stop");
  const hints = h("ul", { class: "hints", hidden: true, "aria-label": "Commands" });
  const question = h("div", { class: "question", role: "status", hidden: true });
  const status = h("p", { class: "hidden", role: "status" });
  const fit = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 220)}px`;
    const typed = field.value;
    const found = typed.startsWith("/") && !typed.includes(" ") ? COMMANDS.filter(([name]) => name.startsWith(typed)) : [];
    hints.hidden = found.length === 0;
    show(hints, found.map(([name, what]) => h("li", {}, h("button", { type: "button", class: "ghost", onclick: () => ((field.value = `${name} `), fit(), field.focus()) }, h("code", {}, name), h("span", { class: "dim" }, what)))));
  };
  field.addEventListener("input", fit);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  const form = h(
    "form",
    {
      class: "composer write",
      onsubmit: (event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (!text) return;
        if (state.run && !text.startsWith("/")) return void toast("info", "It is still answering", "Stop it, or wait until it has ended.");
        field.value = "";
        fit();
        if (!command(text)) say(text);
      },
    },
    question,
    hints,
    h("div", { class: "composer-line" }, field, h("div", { class: "composer-acts" }, model, stop, send)),
    status,
  );
  view.model = () => model.value || null;

  function command(text) {
    const [, name, rest] = /^\/(\w+)\s*([\s\S]*)$/.exec(text) ?? [];
    switch (name) {
      case "compact": {
        const asked = {};
        if (rest) asked.focus = rest.slice(0, 2000);
        if (model.value) asked.model_name = model.value;
        compact(view, asked);
        return true;
      }
      case "undo":
        undo(view);
        return true;
      case "redo":
        redo(view);
        return true;
      case "recall":
        view.recall(rest);
        return true;
      default:
        if (name === undefined || !/^\/\w+$/.test(text.split(/\s/, 1)[0]) || (about.info?.runs && view.isSkill?.(name))) return false;
        toast("warn", `There is no command /${name}`, `There are ${COMMANDS.map(([one]) => one).join(", ")}. To say it to the agent, begin with a space.`);
        return true;
    }
  }

  async function say(text) {
    if (!about.info?.runs) {
      // Without agents what is written is added, and nobody answers.
      try {
        await post(of(view.id, "/messages"), { messages: [{ type: "human", content: text }] });
        view.changed();
        toast("info", "Added", "This service runs no agents, so nobody answers.");
      } catch (error) {
        field.value = text;
        fit();
        failed("It was not sent", error);
      }
      return;
    }
    const start = state.asked ? { command: { resume: text } } : { input: { messages: [{ type: "human", content: text }] } };
    if (model.value) start.model_name = model.value;
    if (state.asked) ask(null);
    else {
      state.total = view.total();
      reply.take({ type: "human", id: "sent", content: text });
    }
    view.toEnd();
    const begun = await listen("POST", "/runs/stream", { ...start, stream_mode: MODES });
    if (!begun) {
      reply.drop((id) => id === "sent");
      if (!field.value) field.value = text;
      fit();
    }
  }

  /** Reads a run to its end, taking it up again where the stream breaks. `false`: it was not begun. */
  async function listen(method, path, asked) {
    const own = new AbortController();
    state.reader?.abort();
    state.reader = own;
    const stopped = () => own.abort();
    signal.addEventListener("abort", stopped, { once: true });
    let run = null;
    let last;
    let tries = 0;
    running(true);
    status.textContent = "The agent is answering.";
    try {
      for (;;) {
        try {
          const stream = run === null
            ? events(method, of(view.id, path), { body: asked, signal: own.signal })
            : events("GET", of(view.id, `/runs/${run}/stream?${MODES.map((mode) => `stream_mode=${mode}`).join("&")}`), { signal: own.signal, last });
          for await (const event of stream) {
            tries = 0;
            if (event.id !== undefined) last = event.id;
            run ??= event.data?.run_id ?? /runs\/([^/]+)/.exec(event.place ?? "")?.[1] ?? null;
            state.run = run ?? state.run ?? true;
            if (event.event === "end") {
              ended(event.data);
              return true;
            }
            hear(event);
          }
        } catch (error) {
          if (own.signal.aborted) return true;
          if (run === null) {
            if (error instanceof Problem && error.code === "run_in_flight") toast("warn", "Busy", error.message);
            else failed("The agent was not reached", error);
            return false;
          }
          if (error instanceof Problem && error.status >= 400 && error.status < 500) {
            view.changed();
            return true;
          }
        }
        if (own.signal.aborted) return true;
        if (run === null) {
          failed("The connection broke off before the agent began", new Problem("Look whether your message is there before you send it again."));
          view.changed();
          return true;
        }
        tries += 1;
        status.textContent = "The connection broke off; it is taken up again.";
        await new Promise((done) => setTimeout(done, Math.min(250 * 2 ** tries, 8000)));
      }
    } finally {
      signal.removeEventListener("abort", stopped);
      if (state.reader === own) {
        state.reader = null;
        state.run = null;
        running(false);
      }
    }
  }

  function hear({ event, data }) {
    if (event === "messages" && Array.isArray(data)) {
      const [message] = data;
      reply.take(message);
      view.follow();
    } else if (event === "updates" && data?.__interrupt__) ask(data.__interrupt__);
    else if (event === "error") toast("fail", "The run failed", data?.message ?? "");
    else if (event === "custom") custom(data ?? {});
  }

  function custom(data) {
    switch (data.event) {
      case "compaction": {
        const { compacted } = data;
        if (!["compacted", "pruned", "failed", "rejected"].includes(compacted?.outcome)) break;
        const sizes = `${number(compacted.measured.tokens_before)} → ${number(compacted.total_tokens)} tokens`;
        if (compacted.outcome === "failed") toast("warn", "A compaction failed", "The conversation goes on as it is.");
        else if (compacted.outcome === "rejected") toast("info", "A compaction was not better", "Nothing was changed.");
        else toast("done", data.background ? "Compacted beside the run" : "Compacted on the way", sizes, { label: "Undo", run: () => undo(view) });
        break;
      }
      case "retry":
        reply.note("The model failed and is asked again.", "near");
        break;
      case "warning":
        reply.note(data.message, "near");
        break;
      case "tool_start":
        status.textContent = `Tool ${data.name} runs.`;
        break;
      default:
    }
  }

  function ended(data) {
    status.textContent = { success: "The agent has answered.", interrupted: "The agent asks something.", cancelled: "The agent was stopped.", error: "The run failed." }[data?.status] ?? "The run is over.";
    if (data?.status === "cancelled") toast("info", "Stopped", "What was said so far is stored.");
    if (data?.stop_reason) reply.note(`It ended at a limit: ${String(data.stop_reason).replaceAll("_", " ")}`, "near");
    view.changed();
  }

  function running(is) {
    stop.hidden = !is;
    send.disabled = is;
    live.setAttribute("aria-busy", String(is));
    form.dataset.running = is;
  }

  async function cancel() {
    stop.disabled = true;
    try {
      let run = typeof state.run === "string" ? state.run : null;
      run ??= (await get(of(view.id, "/runs")))[0]?.run_id;
      if (run) await post(of(view.id, `/runs/${run}/cancel`), {});
    } catch (error) {
      failed("It could not be stopped", error);
    } finally {
      stop.disabled = false;
    }
  }

  /** Shows what a run asks. */
  function ask(questions) {
    state.asked = questions?.length ? questions : null;
    question.hidden = !state.asked;
    form.dataset.asked = Boolean(state.asked);
    field.placeholder = state.asked ? "Answer" : "Write to the agent, or / for commands";
    send.textContent = state.asked ? "Answer" : "Send";
    show(question, (state.asked ?? []).map(({ value }) => [
      h("p", {}, h("span", { class: "chip", "data-tone": "short" }, "The agent asks"), " ", value?.question ?? JSON.stringify(value)),
      Array.isArray(value?.options) ? h("div", { class: "line" }, value.options.map((option) => h("button", { type: "button", class: "small", onclick: () => ((field.value = String(option)), form.requestSubmit()) }, String(option)))) : null,
    ]));
  }

  return {
    element: form,
    /** What the history holds by now is not shown twice. */
    stored: (isStored) => reply.drop((id) => isStored(id) || (id === "sent" && view.total() > state.total)),
    /** What is stored stands in the history, and what runs elsewhere is heard here too. */
    async refresh({ run, isStored }) {
      const had = reply.rows.size;
      this.stored(isStored);
      if (!state.reader) {
        if (run?.state === "running") listen("GET", `/runs/${run.run_id}/stream?${MODES.map((mode) => `stream_mode=${mode}`).join("&")}`);
        else if (had || live.childElementCount) reply.clear();
        if (run?.state === "interrupted" && !state.asked) {
          try {
            const [found] = await post("/threads/search", { ids: [view.id], select: ["values"] });
            ask(Object.values(found?.interrupts ?? {})[0] ?? null);
          } catch {
            // The next change asks again.
          }
        } else if (run?.state !== "interrupted" && state.asked) ask(null);
        if (run?.state === "killed" || run?.state === "error") {
          if (state.told !== run.run_id + run.state) {
            state.told = run.run_id + run.state;
            reply.note(run.state === "killed" ? "The last run was cut off when its process ended." : "The last run failed.", "bad");
            const again = h("button", { type: "button", class: "small write", onclick: () => (again.parentElement.remove(), listen("POST", "/runs/stream", { stream_mode: MODES })) }, "Go on");
            live.append(h("p", { class: "live-note" }, again));
          }
        }
      }
    },
    focus: () => field.focus(),
  };
}
