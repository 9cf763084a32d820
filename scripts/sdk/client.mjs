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
console.log("@langchain/langgraph-sdk (npm) reads threads, states and history");
