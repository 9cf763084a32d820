// The SDKs of OpenAI and Anthropic through the proxy: `sdk.mjs PROXY UPSTREAM`. Client code as anybody writes it.
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";

import { check, each, long, pixel, proxy, schema } from "./common.mjs";

async function chat() {
  const client = new OpenAI({ baseURL: `${proxy}/v1`, apiKey: "made-up", maxRetries: 0 });
  const tools = [{ type: "function", function: { name: "run", parameters: schema } }];
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "And this, in JavaScript?" }, { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } }] },
  ];
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "m", messages, stream: true })) {
    text += chunk.choices[0]?.delta?.content ?? "";
  }
  check(text, "no text");
  const called = (await client.chat.completions.create({ model: "m", messages, tools })).choices[0].message;
  messages.push(called);
  for (const call of called.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: long });
  for (let n = 0; n < 25; n++) {
    messages.push({ role: "user", content: `Request ${n}. ${long}` });
    const { content } = (await client.chat.completions.create({ model: "m", messages })).choices[0].message;
    messages.push({ role: "assistant", content });
  }
  return JSON.stringify(messages).length;
}

async function responses() {
  const client = new OpenAI({ baseURL: `${proxy}/v1`, apiKey: "made-up", maxRetries: 0 });
  const items = [{ role: "user", content: "And what is this, in JavaScript?" }];
  const kinds = [];
  for await (const event of await client.responses.create({ model: "m", input: items, store: false, stream: true })) kinds.push(event.type);
  check(kinds.at(-1) === "response.completed", kinds);
  for (let n = 0; n < 25; n++) {
    items.push({ role: "user", content: `Request ${n}. ${long}` });
    const reply = await client.responses.create({ model: "m", input: items, store: false });
    items.push({ role: "assistant", content: reply.output_text || "Fine." });
  }
  return JSON.stringify(items).length;
}

async function messages() {
  const client = new Anthropic({ baseURL: proxy, apiKey: "made-up", maxRetries: 0 });
  const asked = { model: "m", max_tokens: 2000, system: "Be brief." };
  const list = [{ role: "user", content: [{ type: "text", text: "And this, in JavaScript?" }, { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }] }];
  const tools = [{ name: "run", input_schema: schema }];
  const thinking = { type: "enabled", budget_tokens: 1024 };
  const reply = await client.messages.stream({ ...asked, messages: list, tools, thinking }).finalMessage();
  const kinds = reply.content.map((block) => block.type);
  check(kinds.includes("thinking") && kinds.includes("tool_use"), kinds);
  list.push({ role: "assistant", content: reply.content });
  const calls = reply.content.filter((block) => block.type === "tool_use");
  list.push({ role: "user", content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: long })) });
  // Calls in the list want definitions beside it.
  Object.assign(asked, { tools, tool_choice: { type: "none" } });
  for (let n = 0; n < 25; n++) {
    const { content } = await client.messages.create({ ...asked, messages: list });
    const text = content.filter((block) => block.type === "text").map((block) => block.text).join("");
    list.push({ role: "assistant", content: text || "Fine." });
    list.push({ role: "user", content: `Request ${n}. ${long}` });
  }
  await client.messages.create({ ...asked, messages: list });
  return JSON.stringify(list).length;
}

await each({ "javascript openai chat": chat, "javascript openai responses": responses, "javascript anthropic messages": messages });
