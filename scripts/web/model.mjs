// A model on this machine that answers as scripted, in OpenAI's format. POST /control changes how: {fail, slow, summary}.

import http from "node:http";

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export const SUMMARY = `## What the user wants
The boiler of house 7 is to be made safe, step by step, and **nothing is to be replaced** without asking.

## What was done
- The valve was turned by a quarter; the pressure fell from 2.9 to 1.6 bar.
- \`report.md\` was begun. The gauge was read at 14:05.

## What comes next
1. Read the gauge again after an hour.
2. Write the pressure into the report.`;

/** What it says to a request: a text, and perhaps a call. */
function reply(body) {
  const { messages } = body;
  const last = messages.at(-1);
  const text = typeof last.content === "string" ? last.content : (last.content ?? []).map((part) => part.text ?? "").join("");
  if (!body.tools?.length) return { text: null };
  if (last.role === "tool") return { text: `It says: ${text.slice(0, 200)}` };
  if (/\btea\b/i.test(text)) return { text: "", call: ["ask_clarification", { question: "Green or black?", options: ["Green", "Black"] }] };
  if (/what was (said|forgotten)/i.test(text)) return { text: "Let me look.", call: ["recall", { query: "valve pressure" }] };
  if (/tell me everything/i.test(text)) return { text: Array.from({ length: 60 }, (_, n) => `Sentence ${n + 1} of a long answer.`).join(" "), slow: true };
  return { text: `You said: ${text.slice(0, 300)}` };
}

export async function start() {
  // Who sets `bodies` to a list finds in it what was asked.
  const control = { fail: false, slow: 0, asked: 0, bodies: null };
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
    control.asked += 1;
    control.bodies?.push(body);
    const said = reply(body);
    if (said.text === null) {
      if (control.fail) {
        response.writeHead(500, { "content-type": "application/json" });
        return response.end(JSON.stringify({ error: { message: "the scripted model is broken" } }));
      }
      said.text = SUMMARY;
      if (control.slow) await wait(control.slow);
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const tell = (delta, finish = null) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    tell({ role: "assistant", content: "" });
    for (const piece of said.text.match(/[\s\S]{1,24}/g) ?? []) {
      tell({ content: piece });
      if (said.slow) await wait(60);
      if (response.destroyed) return undefined;
    }
    if (said.call) {
      const [name, args] = said.call;
      tell({ tool_calls: [{ index: 0, id: `call-${control.asked}`, type: "function", function: { name, arguments: JSON.stringify(args) } }] });
    }
    tell({}, said.call ? "tool_calls" : "stop");
    const size = Math.round(JSON.stringify(body.messages).length / 4);
    response.write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: size, completion_tokens: 40, prompt_tokens_details: { cached_tokens: Math.round(size * 0.8) } } })}\n\n`);
    return response.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, control, close: () => (server.closeAllConnections(), server.close()) };
}
