// LangGraph's JavaScript client against the service at the URL of the command line.
import assert from "node:assert/strict";
import { Client } from "@langchain/langgraph-sdk";

const url = process.argv[2];
const client = new Client({ apiUrl: url, apiKey: "unused", callerOptions: { maxRetries: 0 } });
const { threads } = client;
const words = (at) => Array.from({ length: 120 }, (_, word) => `w${at * 97 + word}`).join(" ");
const talk = Array.from({ length: 12 }, (_, at) => ({
  type: at % 2 === 0 ? "human" : "ai",
  id: `m${at}`,
  content: `Step ${at} is about src/part${at}.js: ${words(at)}`,
}));
const ids = (state) => state.values.messages.map((message) => message.id);
const refused = (status) => (error) => error.status === status || String(error).includes(`HTTP ${status}`);

const made = await threads.create({ metadata: { user: "ann" }, graphId: "agent" });
const id = made.thread_id;
assert.deepEqual(made.metadata, { user: "ann", graph_id: "agent" });
await threads.create({ threadId: "from-js", ifExists: "do_nothing" });
await assert.rejects(threads.create({ threadId: "from-js" }), refused(409));

const updated = await threads.updateState(id, { values: { messages: talk }, asNode: "model" });
const first = updated.checkpoint.checkpoint_id;
const state = await threads.getState(id);
assert.deepEqual(ids(state), talk.map((message) => message.id));
assert.equal(state.checkpoint.checkpoint_id, first);

const asked = await fetch(`${url}/threads/${id}/compact`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ force: true, keep: { type: "messages", value: 2 } }),
});
const done = await asked.json();
assert.ok(done.compacted, JSON.stringify(done));
const now = await threads.getState(id);
assert.ok(now.values.summary_text && now.values.messages.length < talk.length);
assert.equal(now.checkpoint.checkpoint_id, done.checkpoint_id);
assert.deepEqual(ids(await threads.getState(id, first)), ids(state));
assert.deepEqual(ids(await threads.getState(id, state.checkpoint)), ids(state));
const history = await threads.getHistory(id, { limit: 5 });
assert.deepEqual(history[0], now);
const older = await threads.getHistory(id, { before: { configurable: { checkpoint_id: done.checkpoint_id } } });
assert.deepEqual(older, history.slice(1));

await threads.patchState(id, { user: "bob" });
assert.deepEqual((await threads.get(id)).metadata, { user: "bob", graph_id: "agent" });
await threads.update(id, { metadata: { more: 1 } });
const found = await threads.search({ metadata: { more: 1 }, sortBy: "updated_at", sortOrder: "desc" });
assert.deepEqual(found.map((thread) => thread.thread_id), [id]);
assert.equal(await threads.count({ metadata: { more: 1 } }), 1);
const copy = await threads.copy(id);
assert.notEqual(copy.thread_id, id);
assert.deepEqual(await threads.prune([copy.thread_id, "from-js"]), { pruned_count: 2 });
await threads.delete(id);
await assert.rejects(threads.get(id), refused(404));

// Runs: streamed, stopped to ask, gone on with, joined.
const say = (content) => ({ messages: [{ type: "human", content }] });
const { runs } = client;
const talked = (await threads.create()).thread_id;
const parts = [];
let created;
for await (const part of runs.stream(talked, "agent", {
  input: say("What was said about the valve?"),
  streamMode: ["values", "messages-tuple", "updates", "custom"],
  onRunCreated: (run) => (created = run),
})) {
  parts.push(part);
}
const names = parts.map((part) => part.event);
assert.equal(names[0], "metadata");
assert.ok(!names.includes("error"), names.join());
assert.equal(created.run_id, parts[0].data.run_id);
const pieces = parts.filter((part) => part.event === "messages").map((part) => part.data[0]);
const spoken = pieces.filter((piece) => piece.type === "AIMessageChunk").map((piece) => piece.content);
assert.match(spoken.join(""), /^Let me look\.It says: /);
const last = parts.filter((part) => part.event === "values").at(-1).data;
assert.match(last.messages.at(-1).content, /^It says: /);
assert.equal((await runs.get(talked, created.run_id)).status, "success");
const waiting = await runs.wait(talked, "agent", { input: say("Make tea.") });
assert.equal(waiting.__interrupt__[0].value.question, "Green or black?");
const answered = await runs.wait(talked, "agent", { command: { resume: "black" } });
assert.equal(answered.messages.at(-1).content, "It says: black");
const begun = await runs.create(talked, "agent", { input: say("One more.") });
const joined = [];
for await (const part of runs.joinStream(talked, begun.run_id)) joined.push(part.event);
assert.ok(joined.includes("values"), joined.join());
const final = await runs.join(talked, begun.run_id);
assert.equal(final.messages.at(-1).content, "You said: One more.");
await assert.rejects(runs.cancel(talked, begun.run_id, true), refused(409));
console.log("@langchain/langgraph-sdk (npm) reads threads, states and history, and runs agents");
