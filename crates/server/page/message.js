// A message of any of the formats that threads are made of, as one shape; and how a row of it looks.

import { at, bytes, h } from "./dom.js";
import { prose } from "./prose.js";

/** Longer texts are shown in part until all of it is asked for. */
const CLIP = 1600;

const ROLES = {
  human: "user", user: "user", ai: "assistant", assistant: "assistant", AIMessageChunk: "assistant", model: "assistant",
  system: "system", developer: "system", tool: "tool", function: "tool", remove: "system",
  function_call: "assistant", custom_tool_call: "assistant", local_shell_call: "assistant", reasoning: "assistant",
  function_call_output: "tool", custom_tool_call_output: "tool", local_shell_call_output: "tool",
};

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");

/** {role, name, parts: [{kind: text|reasoning|call|result|media|other, …}]} */
export function read(message) {
  const type = message?.type ?? message?.role;
  const role = ROLES[message?.role] ?? ROLES[type] ?? "other";
  const parts = [];
  const block = (item) => {
    if (typeof item === "string") return parts.push({ kind: "text", text: item });
    const kind = item?.type;
    if (["text", "input_text", "output_text"].includes(kind)) return parts.push({ kind: "text", text: written(item.text ?? "") });
    if (["thinking", "reasoning"].includes(kind)) {
      const said = item.thinking ?? item.reasoning ?? item.text ?? (item.summary ?? []).map((part) => part.text ?? "").join("\n");
      return parts.push({ kind: "reasoning", text: written(said) });
    }
    if (kind === "tool_use" || kind === "tool_call") return parts.push({ kind: "call", name: item.name, id: item.id, text: written(item.input ?? item.args ?? {}) });
    if (kind === "tool_result") return parts.push({ kind: "result", id: item.tool_use_id, text: texts(item.content), error: item.is_error });
    if (["image", "image_url", "input_image", "audio", "input_audio", "file", "input_file", "document", "video", "media"].includes(kind)) {
      return parts.push({ kind: "media", text: String(kind).replace(/^input_|_url$/g, "") });
    }
    return parts.push({ kind: "other", text: written(item) });
  };
  if (type === "function_call" || type === "custom_tool_call" || type === "local_shell_call") {
    parts.push({ kind: "call", name: message.name ?? "shell", id: message.call_id, text: written(message.arguments ?? message.input ?? message.action ?? "") });
  } else if (String(type).endsWith("_output")) {
    parts.push({ kind: "result", id: message.call_id, text: texts(message.output) });
  } else if (type === "reasoning" && !message.content) {
    block({ ...message, type: "reasoning" });
  } else {
    const content = message?.content;
    const reasoning = message?.additional_kwargs?.reasoning_content ?? message?.reasoning_content;
    if (reasoning) parts.push({ kind: "reasoning", text: written(reasoning) });
    if (role === "tool") parts.push({ kind: "result", id: message.tool_call_id, text: texts(content), error: message.status === "error" });
    else if (Array.isArray(content)) content.forEach(block);
    else if (content) parts.push({ kind: "text", text: written(content) });
    const known = new Set(parts.filter((part) => part.kind === "call").map((part) => part.id));
    for (const call of message?.tool_calls ?? []) {
      if (known.has(call.id) && call.id) continue;
      parts.push({ kind: "call", name: call.name ?? call.function?.name, id: call.id, text: pretty(call.args ?? call.function?.arguments ?? {}) });
    }
  }
  const only = parts.length > 0 && parts.every((part) => part.kind === "result");
  return { role: role === "user" && only ? "tool" : role, name: message?.name, parts };
}

function texts(content) {
  if (Array.isArray(content)) return content.map((item) => (typeof item === "string" ? item : item?.text ?? written(item))).join("\n");
  return written(content ?? "");
}

function pretty(args) {
  if (typeof args !== "string") return written(args);
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}

/** How it begins, in one line. */
export function gist(message, length = 140) {
  const { parts } = read(message);
  const text = parts.map((part) => (part.kind === "call" ? `→ ${part.name}(${part.text})` : part.text)).join(" ");
  const line = text.slice(0, length * 4).replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

export const LABELS = { user: "User", assistant: "Assistant", tool: "Tool", system: "System", other: "Other" };

/** A text that may be long. `open`: a set that remembers what was opened, under `key`. */
function long(text, open, key, formed) {
  const make = (shown) => (formed ? prose(shown) : h("pre", { class: "plain" }, shown));
  if (text.length <= CLIP * 1.25 || open?.has(key)) return make(text);
  const box = h("div", { class: "clipped" });
  const all = () => {
    open?.add(key);
    box.replaceWith(make(text));
  };
  box.append(make(`${text.slice(0, CLIP).trimEnd()}…`), h("button", { type: "button", class: "link", onclick: all }, `Show all (${bytes(text.length)})`));
  return box;
}

/** The parts of a message as elements. */
export function body(message, open, key) {
  const { parts } = read(message);
  const made = parts.map((part, index) => {
    const name = `${key}/${index}`;
    switch (part.kind) {
      case "text":
        return part.text.trim() === "" ? null : long(part.text, open, name, true);
      case "reasoning":
        return part.text.trim() === "" ? h("p", { class: "dim" }, "Reasoning (sealed)") : h("details", { class: "reasoning" }, h("summary", {}, "Reasoning"), long(part.text, open, name, false));
      case "call":
        return h("div", { class: "call" }, h("div", { class: "call-name" }, part.name ?? "call"), part.text && part.text !== "{}" ? long(part.text, open, name, false) : null);
      case "result":
        return h("div", { class: part.error ? "result error" : "result" }, part.error ? h("span", { class: "chip", "data-tone": "bad" }, "error") : null, long(part.text, open, name, false));
      case "media":
        return h("p", {}, h("span", { class: "chip" }, part.text));
      default:
        return long(part.text, open, name, false);
    }
  });
  return made.some(Boolean) ? made : h("p", { class: "dim" }, "(nothing)");
}

/** A row of the conversation. */
export function row(entry, { open, marks = [], acts = [], highlight } = {}) {
  const { role, name } = read(entry.message);
  const label = role === "tool" && name ? name : LABELS[role];
  return h(
    "article",
    { class: "row", "data-role": role, "data-folded": Boolean(entry.folded), "data-hidden": Boolean(entry.hidden), "data-hit": Boolean(highlight), "aria-label": `${LABELS[role]}, message ${entry.position + 1}`, id: `m${entry.position}`, tabindex: -1 },
    h(
      "header",
      { class: "row-head" },
      h("span", { class: "role" }, label),
      marks.map((mark) => h("span", { class: "chip", "data-tone": mark.tone, title: mark.title }, mark.text)),
      h("span", { class: "grow" }),
      h("span", { class: "row-acts" }, acts.map((act) => h("button", { type: "button", class: "ghost small", onclick: act.run, title: act.title, "aria-pressed": act.pressed }, act.label))),
      h("span", { class: "place" }, `#${entry.position + 1}`),
      h("span", { class: "dim" }, at(entry.stored_ms)),
    ),
    h("div", { class: "row-body" }, entry.hidden ? h("details", {}, h("summary", {}, "The host hides this from people"), body(entry.message, open, entry.position)) : body(entry.message, open, entry.position)),
  );
}
