// The AI SDK through the proxy: `ai.mjs PROXY UPSTREAM`. Client code as anybody writes it.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { check, each, long, pixel, proxy, schema } from "./common.mjs";

const openai = createOpenAI({ baseURL: `${proxy}/v1`, apiKey: "made-up" });
const anthropic = createAnthropic({ baseURL: `${proxy}/v1`, apiKey: "made-up" });
const run = tool({ description: "Runs a command.", inputSchema: jsonSchema(schema), execute: async () => long });

// A picture, a stream, a call of a tool, then turns until the list is longer than what the upstream takes.
async function talk(model, name, providerOptions) {
  const asked = { model, providerOptions, maxRetries: 0, maxOutputTokens: 2000, system: "Be brief.", tools: { run } };
  const question = [{ type: "text", text: `And this, ${name}?` }, { type: "image", image: pixel, mediaType: "image/png" }];
  const messages = [{ role: "user", content: question }];
  const failed = [];
  const stream = streamText({ ...asked, messages, stopWhen: stepCountIs(2), onError: ({ error }) => failed.push(String(error)) });
  await stream.consumeStream();
  check(!failed.length, failed);
  const steps = await stream.steps;
  check(steps.flatMap((step) => step.toolCalls).length, "no call of a tool");
  if (providerOptions?.anthropic) check(steps.some((step) => step.reasoningText), "no thinking");
  messages.push(...(await stream.response).messages);
  for (let n = 0; n < 25; n++) {
    messages.push({ role: "user", content: `Request ${n}. ${long}` });
    const { response, usage } = await generateText({ ...asked, messages, stopWhen: stepCountIs(3) });
    check(usage.inputTokens, usage);
    messages.push(...response.messages);
  }
  return JSON.stringify(messages).length;
}

const thinking = { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } };
await each({
  "ai sdk openai chat": () => talk(openai.chat("m"), "chat"),
  "ai sdk openai responses": () => talk(openai("m"), "responses", { openai: { store: false } }),
  "ai sdk anthropic": () => talk(anthropic("m"), "anthropic", thinking),
});
