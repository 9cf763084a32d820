// The page in a real browser against a real service: everything that can be done there, and what goes wrong around it.
//
//   node test.mjs [NAME…]     only tests whose names have one of these words

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";

import { browser, open, service, talk, thread } from "./bench.mjs";

const tests = [];
const test = (name, run) => tests.push({ name, run });
const expect = async (what, is, ms = 8000) => {
  const end = Date.now() + ms;
  let seen;
  for (;;) {
    try {
      seen = await is();
      if (seen) return seen;
    } catch (error) {
      seen = error;
    }
    if (Date.now() > end) throw new Error(`${what}; last seen: ${seen instanceof Error ? seen.message : JSON.stringify(seen)}`);
    await new Promise((done) => setTimeout(done, 25));
  }
};

let to;
let browsing;
let number = 0;
/** A thread of the test's own. */
const fresh = async (options) => {
  const id = `t${(number += 1)}`;
  await thread(to, id, options);
  return id;
};
const at = async (where, options) => {
  const seen = await open(browsing, options);
  await seen.page.goto(to.url + where);
  return seen;
};
const toast = (page, title) => page.locator(".toast", { hasText: title }).first().waitFor({ timeout: 10_000 });
const rows = (page) => page.locator("#feed article.row");
const say = async (page, text) => {
  // Whoever is still answering is not spoken to.
  await page.locator("form.composer:not([data-running='true'])").waitFor();
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
};
const status = (id) => to.get(`/threads/${id}/status`);

test("threads are found, paged by activity, and the list is live", async () => {
  const first = await fresh({ title: "Kettle of Ann", turns: 2 });
  const second = await fresh({ title: "Boiler of Bob", turns: 30, compactions: [20] });
  const { page, problems, elsewhere } = await at("/");
  await page.getByRole("link", { name: "Kettle of Ann" }).waitFor();
  const line = page.locator(`tr[data-id="${second}"]`);
  assert.match(await line.innerText(), /scripted/);
  assert.equal(await line.getByRole("meter").count(), 1);
  assert.match(await line.locator("[data-name='Spared a call']").innerText(), /\d/);
  await page.getByLabel("Search threads").fill("kettle");
  await expect("one is left", async () => (await page.locator("tbody tr").count()) === 1);
  assert.match(page.url(), /\?q=kettle$/);
  await page.getByLabel("Search threads").fill("");
  await page.getByRole("link", { name: "Boiler of Bob" }).waitFor();
  // Only the stream can bring it: nothing is looked at again after a time.
  await page.addInitScript(() => (window.setInterval = () => 0));
  await page.reload();
  await page.locator(".list-page[data-stream='live']").waitFor();
  await page.getByRole("link", { name: "Boiler of Bob" }).waitFor();
  const window = { input_limit: 111_000, trigger_tokens: 88_000, soft_tokens: 77_000, target_tokens: 44_000 };
  await to.post("/threads", { thread_id: "px-later", title: "Came later", metadata: { proxy: { model: "gpt-of-others", requests: 3, saved_tokens: 1200, saved_micros: 2500, window } } });
  await to.post("/threads/px-later/messages", { messages: talk(2) });
  await page.getByRole("link", { name: "Came later" }).waitFor();
  assert.match(await page.locator("tr[data-id='px-later']").innerText(), /proxy[\s\S]*gpt-of-others/);
  await page.getByRole("link", { name: "Came later" }).click();
  await page.getByText("Proxy: saved tokens").waitFor();
  // The proxy's own limits, not what this service would do with such a thread.
  await page.getByText("Compacts at 88,000").waitFor();
  assert.match(await page.locator(".fact", { hasText: "Window from" }).innerText(), /the proxy/);
  const drawn = page.getByRole("complementary").locator("svg.chart");
  await drawn.locator(".curve").waitFor();
  assert.match(await drawn.getAttribute("aria-label"), /trigger 88,000[\s\S]*soft trigger 77,000[\s\S]*keep 44,000/);
  await page.goBack();
  await page.getByRole("link", { name: "Kettle of Ann" }).click();
  await page.getByRole("heading", { level: 1, name: "Kettle of Ann" }).waitFor();
  assert.match(page.url(), new RegExp(`/threads/${first}$`));
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Threads" }).waitFor();
  await page.getByRole("button", { name: "New thread" }).click();
  await page.getByText("Nothing was said yet.").waitFor();
  assert.deepEqual([problems, elsewhere], [[], []]);
});

test("a fold is opened, its originals are read, and closed again", async () => {
  const id = await fresh({ turns: 40, compactions: [30] });
  const { page, problems } = await at(`/threads/${id}`);
  const fold = page.locator(".fold-toggle");
  await rows(page).last().waitFor();
  await page.locator("#feed").press("Home");
  await fold.waitFor();
  assert.match(await fold.innerText(), /\d+ messages folded/);
  await fold.focus();
  await page.keyboard.press("Enter");
  await page.locator("article.row[data-folded='true']").first().waitFor();
  const text = await page.locator("#m0").innerText();
  assert.match(text, /always answer in metric units/);
  assert.equal(await fold.getAttribute("aria-expanded"), "true");
  await fold.click();
  await expect("they are gone", async () => (await page.locator("article.row[data-folded='true']").count()) === 0);
  await page.getByRole("button", { name: "Summary" }).click();
  await page.getByText("The summary as written").first().waitFor();
  assert.match(page.url(), /compactions$/);
  assert.deepEqual(problems, []);
});

test("whoever reads far above stays there, whatever happens meanwhile", async () => {
  const id = await fresh({ turns: 60, policy: { keep: { type: "messages", value: 6 } } });
  const { page, problems } = await at(`/threads/${id}#m40`);
  const row = page.locator("#m39");
  const place = async () => Math.round((await row.boundingBox())?.y ?? -1);
  await expect("it is shown near the upper edge", async () => Math.abs((await place()) - 184) < 12);
  await page.locator(".live-dot[data-state='live']").waitFor();
  const before = await place();
  await to.post(`/threads/${id}/messages`, { messages: talk(4, { from: 80 }) });
  await page.locator(".place", { hasText: "#40" }).waitFor();
  await to.post(`/threads/${id}/messages/h50/pin`);
  await expect("the pin is known", async () => (await page.getByRole("heading", { name: "Pins" }).count()) === 1);
  assert.ok(Math.abs((await place()) - before) < 12, `${await place()} and ${before}`);
  await to.post(`/threads/${id}/compact`);
  await page.locator(".fold").first().waitFor();
  await to.post(`/threads/${id}/undo`);
  await expect("no fold", async () => (await page.locator(".fold").count()) === 0);
  assert.deepEqual(problems, []);
});

test("a shortened result is marked, and readable whole and as the model sees it", async () => {
  const id = "pruned";
  await to.post("/threads", { thread_id: id, policy: { keep: { type: "messages", value: 4 }, trigger: { type: "tokens", value: 6000 } } });
  const large = Array.from({ length: 900 }, (_, n) => `line ${n}: valve ${n * 7} reads ${n % 40} bar`).join("\n");
  await to.post(`/threads/${id}/messages`, { messages: [
    { type: "human", id: "h", content: "Read the log." },
    { type: "ai", id: "c", content: "", tool_calls: [{ name: "read_file", args: { path: "log" }, id: "k" }] },
    { type: "tool", id: "big", tool_call_id: "k", name: "read_file", content: large },
    { type: "ai", id: "a", content: "I read it." },
    ...talk(6, { from: 10 }),
  ] });
  await to.post(`/threads/${id}/compact`, { force: true, strategy: "digest" });
  const page_ = (await to.get(`/threads/${id}/messages?limit=60`)).messages;
  const short = page_.find((one) => one.shortened) ?? page_.find((one) => one.folded);
  assert.ok(short, "something was folded or shortened");
  const { page, problems } = await at(`/threads/${id}#m3`);
  const big = page.locator("#m2");
  await big.waitFor();
  await big.getByRole("button", { name: /Show all/ }).click();
  await expect("all of it", async () => (await big.innerText()).includes("line 899"));
  if (page_.some((one) => one.shortened)) {
    await page.locator(".chip", { hasText: "shortened" }).first().waitFor();
    await big.hover();
    await big.getByRole("button", { name: "As the model sees it" }).click();
    await expect("the short one", async () => !(await big.innerText()).includes("line 450:"));
  }
  assert.deepEqual(problems, []);
});

test("compact, undo and redo say what came of them, and the log of heads shows them as moves", async () => {
  const id = await fresh({ turns: 30 });
  const { page, problems } = await at(`/threads/${id}`);
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Focus").fill("the pressure of the valve");
  await page.getByLabel("Messages to keep").fill("6");
  await page.locator("dialog").getByLabel("Model").selectOption("other");
  await page.getByRole("button", { name: "Compact now" }).click();
  await toast(page, "Compacted");
  const log = await to.get(`/threads/${id}/log`);
  assert.equal(log.length, 1);
  await page.getByRole("button", { name: "Undo", exact: true }).first().click();
  await toast(page, "Taken back");
  assert.equal((await status(id)).can_redo, true);
  await expect("redo can be pressed", () => page.locator(".thread-acts").getByRole("button", { name: "Redo" }).isEnabled());
  await page.locator(".thread-acts").getByRole("button", { name: "Redo" }).click();
  await toast(page, "In force again");
  await page.getByRole("link", { name: "Tree", exact: true }).click();
  await expect("three rows", async () => (await page.locator(".heads li").count()) === 3);
  const texts = await page.locator(".heads li b").allInnerTexts();
  assert.deepEqual(texts, ["Compaction 1 put in force again", "Compaction 1 taken back", "Compaction 1 put in force"]);
  await page.getByRole("link", { name: "Compactions", exact: true }).click();
  const card = page.locator("#record-0");
  await card.waitFor();
  const said = await card.innerText();
  for (const word of ["in force", "asked for by hand", "before", "after", "Folded", "Saves a call", "Even after", "Cache kept", "put in force → taken back → put in force again", "What the user wants"]) assert.ok(said.includes(word), `${word} in ${said}`);
  assert.match(said, /Written by\s+other/);
  assert.deepEqual(problems, []);
});

test("a preview shows both sides, its focus is edited, and it is put in force without paying twice", async () => {
  const id = await fresh({ turns: 30 });
  const { page, problems } = await at(`/threads/${id}`);
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Focus").fill("the gasket");
  await page.getByLabel("Messages to keep").fill("6");
  await page.getByRole("button", { name: "Preview" }).click();
  const now = page.getByRole("region", { name: "Sees now" });
  const then = page.getByRole("region", { name: "Would see" });
  await then.locator("[data-kind='summary']").waitFor();
  assert.ok(await now.locator("[data-tone='gone']").count());
  assert.equal((await to.get(`/threads/${id}/log`)).length, 0, "nothing is changed yet");
  await page.getByRole("button", { name: "Change the focus" }).click();
  assert.equal(await page.getByLabel("Focus").inputValue(), "the gasket");
  await page.getByLabel("Focus").fill("the valve");
  await page.getByLabel("Messages to keep").fill("6");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".preview q", { hasText: "the valve" }).waitFor();
  const asked = to.model.control.asked;
  await page.getByRole("button", { name: "Put in force" }).click();
  await toast(page, "Compacted");
  assert.equal(to.model.control.asked, asked, "no model was asked again");
  assert.equal((await to.get(`/threads/${id}/log`))[0].active, true);
  assert.deepEqual(problems, []);
});

test("nothing to do, disabled, busy and failed are told apart, and a failure changes nothing", async () => {
  const short = await fresh({ turns: 1 });
  const seen = await at(`/threads/${short}`);
  const compact = async (page) => {
    await page.getByRole("button", { name: "Compact…" }).click();
    await page.getByRole("button", { name: "Compact now" }).click();
  };
  await compact(seen.page);
  await toast(seen.page, "Nothing to do");

  const off = await fresh({ turns: 10, policy: { enabled: false } });
  await seen.page.goto(`${to.url}/threads/${off}`);
  await seen.page.getByText("compaction off").waitFor();
  await compact(seen.page);
  await toast(seen.page, "Compaction is disabled");

  const busy = await fresh({ turns: 30, policy: { keep: { type: "messages", value: 6 } } });
  to.model.control.slow = 2500;
  const running = to.post(`/threads/${busy}/compact`);
  await seen.page.goto(`${to.url}/threads/${busy}`);
  await seen.page.getByText("compacting", { exact: true }).waitFor();
  await compact(seen.page);
  await toast(seen.page, "Busy");
  await running;
  to.model.control.slow = 0;

  const failing = await fresh({ turns: 30, policy: { keep: { type: "messages", value: 6 }, on_failure: "error" } });
  to.model.control.fail = true;
  try {
    await seen.page.goto(`${to.url}/threads/${failing}`);
    await rows(seen.page).last().waitFor();
    await compact(seen.page);
    await toast(seen.page, "It failed; nothing was changed");
  } finally {
    to.model.control.fail = false;
  }
  assert.equal((await to.get(`/threads/${failing}/log`)).length, 0);
  await seen.page.getByRole("link", { name: "Compactions", exact: true }).click();
  const card = seen.page.locator(".card").first();
  await card.getByText("What failed").waitFor();
  assert.match(await card.innerText(), /failed/);
  const refused = /status of (409|500)/;
  assert.deepEqual(seen.problems.filter((problem) => !refused.test(problem)), []);
});

test("rewind leaves a branch in the tree, and a branch is a thread of its own", async () => {
  const id = await fresh({ turns: 8, title: "Trunk" });
  const { page, problems } = await at(`/threads/${id}#m3`);
  const row = page.locator("#m2");
  await row.hover();
  await row.getByRole("button", { name: "Rewind" }).click();
  await page.locator("dialog").getByRole("button", { name: "Rewind" }).click();
  await toast(page, "Rewound");
  await expect("three are left", async () => (await to.get(`/threads/${id}/messages`)).total === 3);
  await to.post(`/threads/${id}/messages`, { messages: [{ type: "human", content: "Another way then." }] });
  await page.getByText("Another way then.").waitFor();
  await page.getByRole("link", { name: "Tree", exact: true }).click();
  await page.locator(".side-branch .segment").waitFor();
  await page.locator(".side-branch").getByRole("button", { name: "Go there" }).click();
  await page.locator("dialog").getByRole("button", { name: "Rewind" }).click();
  await expect("the other branch is shown again", async () => (await to.get(`/threads/${id}/messages`)).total > 10);
  await page.getByRole("button", { name: "Branch…" }).click();
  await page.getByLabel("Title").fill("Twig");
  await page.getByRole("button", { name: "Branch", exact: true }).last().click();
  await page.getByRole("heading", { level: 1, name: "Twig" }).waitFor();
  await page.getByRole("link", { name: `off ${id}` }).waitFor();
  await page.goto(`${to.url}/threads/${id}/tree`);
  await page.getByRole("link", { name: "Twig" }).waitFor();
  assert.deepEqual(problems, []);
});

test("registries lead to their messages; pins are added and removed", async () => {
  const id = await fresh({ turns: 30, compactions: [25] });
  const { page, problems } = await at(`/threads/${id}`);
  const side = page.getByRole("complementary");
  await side.getByRole("heading", { name: "Constraints" }).waitFor();
  await side.getByText("always answer in metric units").waitFor();
  await side.getByText("Read the gauge after an hour").waitFor();
  await side.getByRole("button", { name: "Go to message 1", exact: true }).first().click();
  await expect("it is shown, out of its fold", () => page.locator("#m0[data-hit='true']").isVisible());
  const newest = (await to.get(`/threads/${id}/messages?limit=1`)).messages[0];
  await page.getByRole("button", { name: "↓ Newest" }).click();
  const row = page.locator(`#m${newest.position}`);
  await row.waitFor();
  await row.hover();
  await row.getByRole("button", { name: "Pin" }).click();
  await toast(page, "Pinned");
  await side.getByRole("heading", { name: "Pins" }).waitFor();
  await side.getByRole("button", { name: "Unpin" }).click();
  await toast(page, "No longer pinned");
  await expect("no pin", async () => (await to.get(`/threads/${id}/registries`)).pins.length === 0);
  // One that is folded is listed, too, and leads to where it was said.
  const second = (await to.get(`/threads/${id}/messages?limit=2&before=2`)).messages[1];
  assert.equal(second.folded, true);
  await to.post(`/threads/${id}/messages/${second.id}/pin`);
  const pins = side.locator("details[data-name='Pins']");
  await pins.locator(".chip", { hasText: "folded" }).waitFor();
  await pins.getByRole("button", { name: "Go to message 2", exact: true }).click();
  await expect("it is shown", () => page.locator("#m1[data-hit='true']").isVisible());
  assert.deepEqual(problems, []);
});

test("what was folded is recalled, and leads to where it stands", async () => {
  const id = await fresh({ turns: 30, compactions: [25] });
  const { page, problems } = await at(`/threads/${id}`);
  await page.getByLabel("Only what was folded").check();
  await page.locator("#recall").fill("expansion vessel March");
  await page.keyboard.press("Enter");
  const hit = page.locator(".hit-text").first();
  await hit.waitFor();
  assert.match(await hit.innerText(), /folded/);
  assert.ok(await hit.locator("mark").count());
  await hit.click();
  await expect("it is shown", () => page.locator("article[data-hit='true']", { hasText: "expansion vessel" }).isVisible());
  assert.deepEqual(problems, []);
});

test("the request is shown by part with its tokens and its cached beginning", async () => {
  const id = await fresh({ turns: 20, compactions: [12] });
  const { page, problems } = await at(`/threads/${id}/request`);
  const part = page.locator(".request-view .part");
  await part.first().waitFor();
  const request = await to.get(`/threads/${id}/request`);
  const sum = request.parts.reduce((all, one) => all + one.tokens, request.size.fixed);
  assert.equal(request.parts.length, request.messages.length);
  assert.ok(Math.abs(sum - request.size.request) <= request.parts.length, `${sum} and ${request.size.request}`);
  await page.getByText(`${sum.toLocaleString("en-GB")} tokens`).first().waitFor();
  assert.equal(await part.first().getAttribute("data-kind"), "summary");
  assert.equal(await part.first().getAttribute("data-cached"), "true");
  await page.locator(".parts").evaluate((list) => (list.scrollTop = list.scrollHeight));
  await page.locator(".cache-line").waitFor();
  assert.deepEqual(problems, []);
});

test("what the model sees is what the next request carries, text by text", async () => {
  const id = await fresh({ turns: 20, compactions: [12] });
  const { page, problems } = await at(`/threads/${id}`);
  await rows(page).last().waitFor();
  to.model.control.bodies = [];
  await say(page, "Good morning to you.");
  await page.getByText("You said: Good morning to you.").waitFor();
  await expect("it is over", async () => (await status(id)).run.state === "success");
  const sent = to.model.control.bodies.find((body) => body.tools?.length);
  await page.goto(`${to.url}/threads/${id}/request`);
  await page.locator(".request-view .part").first().waitFor();
  const told = (await to.get(`/threads/${id}/request`)).messages;
  const text = ({ content }) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join(""));
  const conversation = sent.messages.filter(({ role }) => role !== "system");
  // The reply came after the request; all before it was carried, byte for byte and in this order.
  assert.deepEqual(conversation.map(text), told.slice(0, -1).map(text));
  assert.equal(text(told.at(-1)), "You said: Good morning to you.");
  assert.deepEqual(problems, []);
});

test("the chart has its lines and a mark at each compaction that leads to its card", async () => {
  const id = await fresh({ turns: 30, compactions: [12, 24] });
  const { page, problems } = await at(`/threads/${id}`);
  const side = page.getByRole("complementary");
  await side.locator("svg.chart .curve").waitFor();
  for (const line of ["trigger", "soft", "keep"]) assert.equal(await side.locator(`svg.chart .at-${line}.limit`).count(), 1, line);
  const marks = side.locator(".chart-mark.compaction");
  assert.equal(await marks.count(), 2);
  const curve = await to.get(`/threads/${id}/curve`);
  const now = (await status(id)).size.request;
  assert.ok(Math.abs(curve.points.at(-1).tokens - now) < 0.02 * now, `${curve.points.at(-1).tokens} and ${now}`);
  for (const mark of curve.marks) assert.ok(mark.after < mark.before, JSON.stringify(mark));
  await side.getByRole("button", { name: "By message" }).click();
  await side.getByRole("button", { name: "By time" }).waitFor();
  await marks.first().focus();
  await page.keyboard.press("Enter");
  await page.locator("#record-0:focus").waitFor();
  assert.deepEqual(problems, []);
});

test("the agent answers in a stream, is stopped, asks back, and compacts by /compact", async () => {
  const id = await fresh({ turns: 12, policy: { keep: { type: "messages", value: 4 } } });
  const { page, problems } = await at(`/threads/${id}`);
  await rows(page).last().waitFor();
  await say(page, "Good morning to you.");
  await page.getByText("You said: Good morning to you.").waitFor();
  await expect("it is stored, and shown once", async () => (await page.getByText("You said: Good morning to you.").count()) === 1 && (await page.locator(".streaming").count()) === 0);
  await say(page, "Tell me everything.");
  await page.getByText("Sentence 3 of a long answer.").waitFor();
  assert.equal(await page.getByText("Sentence 60 of").count(), 0, "it comes in pieces");
  await page.getByRole("button", { name: "Stop" }).click();
  await toast(page, "Stopped");
  await expect("the run is over", async () => (await status(id)).run.state === "cancelled");
  await say(page, "Is there tea?");
  await page.locator(".question", { hasText: "Green or black?" }).waitFor();
  await page.reload();
  await page.locator(".question", { hasText: "Green or black?" }).waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Green, please");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByText("It says: Green, please").waitFor();
  await expect("nothing is asked any more", async () => !(await page.locator(".question").isVisible()));
  await say(page, "/compact the tea");
  await toast(page, "Compacted");
  await say(page, "What was forgotten?");
  await page.getByText(/^It says:/).last().waitFor();
  await say(page, "/undo");
  await toast(page, "Taken back");
  await say(page, "/nonsense");
  await toast(page, "There is no command /nonsense");
  assert.deepEqual(problems, []);
});

test("as a new user would: chat until it compacts, look, undo, ask what was forgotten", async () => {
  const { page, problems } = await at("/");
  await page.getByRole("button", { name: "New thread" }).click();
  await page.getByText("Nothing was said yet.").waitFor();
  const id = page.url().split("/").at(-1);
  const notes = (turn) => Array.from({ length: 300 }, (_, n) => `Note ${turn}.${n}: the pressure of valve ${n} was ${(n * 7 + turn) % 40} bar, and I wrote it down.`).join(" ");
  let turn = 0;
  const compacted = page.locator(".toast", { hasText: "Compacted" });
  while ((await compacted.count()) === 0 && turn < 12) {
    turn += 1;
    await say(page, notes(turn));
    await page.getByText(`You said: Note ${turn}.0`).first().waitFor();
    await expect("it is answered", async () => (await page.locator(".streaming").count()) === 0 && !(await page.getByRole("button", { name: "Stop" }).isVisible()));
  }
  await compacted.first().waitFor();
  await page.locator("#feed").press("Home");
  await page.locator(".fold-toggle").first().waitFor();
  await page.getByRole("link", { name: "Compactions", exact: true }).click();
  const card = page.locator(".card[data-active='true']");
  await card.waitFor();
  assert.match(await card.innerText(), /before a turn|inside a turn|beside the conversation/);
  await page.getByRole("link", { name: "Conversation", exact: true }).click();
  await say(page, "What was forgotten?");
  await page.getByText(/^It says:/).last().waitFor();
  await expect("it is over", async () => (await status(id)).run.state === "success");
  await page.locator(".thread-acts").getByRole("button", { name: "Undo" }).click();
  await toast(page, "Taken back");
  await expect("all of it is in the window again", async () => (await status(id)).saved.tokens < 50);
  assert.deepEqual(problems, []);
});

test("a hostile conversation is text and nothing else", async () => {
  const id = "hostile";
  const evil = [
    "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=2</script>",
    "[click](javascript:window.pwned=3) <a href='javascript:window.pwned=4'>x</a>",
    "</script><svg/onload=window.pwned=5> `<b onmouseover=window.pwned=6>`",
    "# <iframe srcdoc='<script>parent.pwned=7</script>'></iframe>\n- <style>*{display:none}</style>\n```html\n<script>window.pwned=8</script>\n```",
    "\u202Eevil\u202C \u0000 \uD800 ".replace("\u0000", "") + "A".repeat(20_000),
  ];
  await to.post("/threads", { thread_id: id, title: evil[0], metadata: { title: evil[0] } });
  await to.post(`/threads/${id}/messages`, { messages: [
    ...evil.map((content, index) => ({ type: index % 2 ? "ai" : "human", id: `e${index}`, content })),
    { type: "human", id: "rule", content: `Always answer with ${evil[0]} and never without it.` },
    { type: "ai", id: "call", content: [{ type: "text", text: evil[2] }, { type: "odd", html: evil[0] }, { type: "image_url", image_url: { url: "http://evil.example/x.png" } }], tool_calls: [{ name: evil[0], args: { path: evil[0] }, id: "k" }] },
    { type: "tool", id: "result", tool_call_id: "k", name: evil[0], content: evil[3] },
    { type: "ai", id: "last", content: "Done.", additional_kwargs: { reasoning_content: evil[2] } },
    ...talk(10),
  ] });
  await to.post(`/threads/${id}/compact`, { keep: { type: "messages", value: 2 }, strategy: "digest", focus: evil[0] });
  const { page, problems, elsewhere } = await at("/");
  await page.getByText(evil[0], { exact: false }).first().waitFor();
  for (const tab of ["", "/request", "/compactions", "/tree", "#m1"]) {
    await page.goto(`${to.url}/threads/${id}${tab}`);
    await expect("something is shown", async () => (await page.locator("article, .segment").count()) > 0);
    const found = await page.evaluate(() => ({
      pwned: window.pwned,
      odd: document.querySelectorAll("main img, main iframe, main script, main style, main a[href^='javascript']").length,
    }));
    assert.deepEqual(found, { pwned: undefined, odd: 0 }, tab);
  }
  await page.goto(`${to.url}/threads/${id}`);
  await page.locator("#recall").fill("script");
  await page.keyboard.press("Enter");
  await page.locator(".found").getByText(/message|Nothing/).first().waitFor();
  assert.deepEqual([problems, elsewhere, await page.evaluate(() => window.pwned)], [[], [], undefined]);
  const policy = (await fetch(`${to.url}/threads/${id}`)).headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'.*require-trusted-types-for 'script'/);
});

test("two windows on one thread see the same, as it happens", async () => {
  const id = await fresh({ turns: 12, policy: { keep: { type: "messages", value: 4 } } });
  const one = await at(`/threads/${id}`);
  const two = await at(`/threads/${id}/compactions`);
  await one.page.locator(".live-dot[data-state='live']").waitFor();
  await two.page.getByText("No compaction yet.").waitFor();
  await two.page.locator(".live-dot[data-state='live']").waitFor();
  await say(one.page, "/compact");
  await toast(one.page, "Compacted");
  await two.page.locator("#record-0").waitFor();
  await two.page.locator("#record-0").getByRole("button", { name: "Undo" }).click();
  await toast(two.page, "Taken back");
  await expect("the other may redo", () => one.page.locator(".thread-acts").getByRole("button", { name: "Redo" }).isEnabled());
  await two.page.getByRole("link", { name: "Conversation", exact: true }).click();
  await rows(two.page).last().waitFor();
  await say(one.page, "Tell me everything.");
  await two.page.getByText("Sentence 2 of a long answer.").waitFor();
  await two.page.getByRole("button", { name: "Stop" }).click();
  await toast(one.page, "Stopped");
  await expect("both show one answer", async () => (await one.page.getByText("Sentence 1 of a long answer.").count()) === 1 && (await two.page.getByText("Sentence 1 of a long answer.").count()) === 1);
  assert.deepEqual([one.problems, two.problems], [[], []]);
});

test("a service that dies and comes back is found again, and what came meanwhile is shown", async () => {
  const id = await fresh({ turns: 4 });
  const { page, problems } = await at(`/threads/${id}`);
  await page.locator(".live-dot[data-state='live']").waitFor();
  await to.restart();
  await to.post(`/threads/${id}/messages`, { messages: [{ type: "human", content: "Said while nobody listened." }] });
  await page.getByText("Said while nobody listened.").waitFor({ timeout: 20_000 });
  await expect("live again", () => page.locator(".live-dot[data-state='live']").isVisible(), 15_000);
  assert.deepEqual(problems.filter((problem) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_SOCKET/.test(problem)), []);
});

test("slow and dropped connections: a stream that breaks is taken up again and nothing is said twice", async () => {
  const id = await fresh({ turns: 4 });
  // Between the browser and the service stands something slow that cuts every connection after some time.
  const target = new URL(to.url);
  const sockets = new Set();
  let cut = false;
  const between = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname);
    sockets.add(near);
    near.on("close", () => sockets.delete(near));
    const slowly = (from, into) => from.on("data", (data) => setTimeout(() => into.writable && into.write(data), 30));
    slowly(near, far);
    slowly(far, near);
    for (const [one, other] of [[near, far], [far, near]]) {
      one.on("error", () => other.destroy());
      one.on("close", () => setTimeout(() => other.destroy(), 40));
    }
  });
  await new Promise((done) => between.listen(0, "127.0.0.1", done));
  const cutting = setInterval(() => cut && sockets.forEach((socket) => socket.destroy()), 900);
  try {
    const { page, problems } = await open(browsing, {});
    await page.goto(`http://127.0.0.1:${between.address().port}/threads/${id}`);
    await rows(page).last().waitFor();
    await page.locator(".live-dot[data-state='live']").waitFor();
    await say(page, "Tell me everything.");
    await page.getByText("Sentence 1 of a long answer.").waitFor();
    cut = true;
    await expect("it is whole in the end", async () => (await page.getByText("Sentence 60 of a long answer.").count()) === 1, 30_000);
    cut = false;
    await expect("the run is over", async () => (await status(id)).run.state === "success");
    await expect("and stands there once", async () => (await page.locator(".streaming").count()) === 0 && (await page.getByText("Sentence 60 of a long answer.").count()) === 1, 20_000);
    assert.deepEqual(problems.filter((problem) => !/ERR_/.test(problem)), []);
  } finally {
    clearInterval(cutting);
    between.close();
    sockets.forEach((socket) => socket.destroy());
  }
});

test("a hundred thousand messages scroll, and only what is near exists", async () => {
  const all = 100_000;
  const id = await fresh({ turns: 1 });
  const { page, problems } = await open(browsing, {});
  // The page is asked for such a thread; pages of it are made here, since to store them takes minutes in a build with
  // checks. What the service takes for a page of a long thread is measured by scripts/web-speed.sh.
  let served = 0;
  const message = (position) => ({ position, id: `x${position}`, stored_ms: 1_750_000_000_000 + position * 1000, folded: false, shortened: false, pinned: false, hidden: false, message: { type: position % 2 ? "ai" : "human", id: `x${position}`, content: `Message number ${position}.${position % 9 === 0 ? ` ${"More of it. ".repeat(40)}` : ""}` } });
  await page.route(/\/api\/threads\/[^/]+\/messages\?/, async (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const limit = Number(asked.get("limit"));
    const [from, end] = asked.has("after") ? [Number(asked.get("after")) + 1, Number(asked.get("after")) + 1 + limit] : [Number(asked.get("before") ?? all) - limit, Number(asked.get("before") ?? all)];
    const messages = [];
    for (let position = Math.max(0, from); position < Math.min(all, end); position += 1) messages.push(message(position));
    served += messages.length;
    await route.fulfill({ json: { messages, folds: [], folded: [], total: all, has_before: from > 0, has_after: end < all, checkpoint_id: "00000000-0000-8000-8000-0000000186a0" } });
  });
  await page.goto(`${to.url}/threads/${id}`);
  await page.getByText("Message number 99999.").waitFor();
  const feed = page.locator("#feed");
  for (const share of [0.5, 0.1, 0.9, 0.333, 0]) {
    await feed.evaluate((element, part) => (element.scrollTop = part * (element.scrollHeight - element.clientHeight)), share);
    await expect(`messages at ${share}`, async () => {
      const seen = await page.evaluate(() => {
        const box = document.querySelector("#feed").getBoundingClientRect();
        const element = document.elementFromPoint(box.left + 200, box.top + box.height / 2)?.closest("article.row");
        return element && !element.classList.contains("waiting") ? Number(element.getAttribute("aria-posinset")) : null;
      });
      return seen !== null && Math.abs(seen / all - share) < 0.05;
    });
    assert.ok((await page.locator("#feed article, #feed .row").count()) < 400, "few rows exist");
  }
  await page.goto("about:blank");
  await page.goto(`${to.url}/threads/${id}#m54322`);
  await expect("a place in the middle", () => page.locator("#m54321[data-hit='true']").isVisible());
  // Scrolling on for a while: no frame takes long.
  const worst = await page.evaluate(async () => {
    const element = document.querySelector("#feed");
    let longest = 0;
    let last = performance.now();
    for (let n = 0; n < 120; n += 1) {
      element.scrollTop += 240;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  });
  assert.ok(worst < 250, `the longest frame took ${worst} ms`);
  console.log(`      longest frame while scrolling: ${worst.toFixed(0)} ms`);
  assert.ok(served < 10_000, `${served} messages were read`);
  assert.deepEqual(problems, []);
});

test("a token is asked for, kept for the tab, and one that only reads changes nothing", async () => {
  const own = await service({ tokens: [["secret-of-ann", "team-a"], ["eyes-of-eve", "team-a read"], ["secret-of-bob", "team-b"]] });
  try {
    await thread(own, "locked", { title: "Locked", turns: 20, compactions: [12], token: "secret-of-ann" });
    const { page, problems, context } = await open(browsing, {});
    await page.goto(`${own.url}/threads/locked`);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This token is not known here.").waitFor();
    await page.getByLabel("Token").fill("eyes-of-eve");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Locked" }).waitFor();
    await page.getByText("read only").waitFor();
    await rows(page).last().waitFor();
    assert.ok(!page.url().includes("eyes"));
    assert.equal(await page.getByRole("button", { name: "Compact…" }).isVisible(), false);
    assert.equal(await page.getByLabel("Message", { exact: true }).isVisible(), false);
    for (const tab of ["What the model sees", "Compactions", "Tree"]) {
      await page.getByRole("link", { name: tab, exact: true }).click();
      await page.locator("main button.write:visible, main .write button:visible").first().waitFor({ state: "detached" }).catch(() => assert.fail(`${tab} offers changes`));
    }
    for (const [where, body] of [["/threads", {}], ["/threads/locked/compact", {}], ["/threads/locked/undo", {}], ["/threads/locked/messages", { messages: [] }], ["/threads/locked/runs", {}], ["/threads/locked/purge", { message_id: "h1" }]]) {
      await assert.rejects(own.post(where, body, "eyes-of-eve"), { status: 403 }, where);
    }
    assert.equal((await own.post("/threads/search", {}, "eyes-of-eve")).length, 1);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Locked" }).waitFor();
    const other = await context.newPage();
    await other.goto(own.url);
    await other.getByLabel("Token").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").fill("secret-of-bob");
    await page.keyboard.press("Enter");
    await page.getByText("There is no such thread").waitFor();
    assert.deepEqual(problems.filter((problem) => !/status of (401|404)/.test(problem)), []);
  } finally {
    await own.close();
  }
});

test("keys alone are enough", async () => {
  const id = await fresh({ turns: 20, title: "By keys" });
  const { page, problems } = await at("/");
  await page.getByRole("link", { name: "By keys" }).waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "find");
  await page.getByRole("link", { name: "By keys" }).focus();
  await page.keyboard.press("Enter");
  await rows(page).last().waitFor();
  await page.getByRole("button", { name: "Compact…" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("typed by keys");
  assert.equal(await page.getByLabel("Focus").inputValue(), "typed by keys");
  await page.keyboard.press("Escape");
  await expect("the dialog is gone", async () => (await page.locator("dialog").count()) === 0);
  await page.locator("#feed").focus();
  await page.keyboard.press("Home");
  await page.locator("#m0").waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "recall");
  assert.ok(id);
  assert.deepEqual(problems, []);
});

test("times stand in the reader's zone", async () => {
  const id = await fresh({ turns: 1 });
  const hour = async (zone) => {
    const { page } = await at(`/threads/${id}`, { zone });
    await rows(page).last().waitFor();
    return page.locator("#m0 time").innerText();
  };
  assert.notEqual(await hour("Europe/Berlin"), await hour("Asia/Kolkata"));
});

test("axe finds nothing serious, light and dark, wide and narrow", async () => {
  const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  const id = await fresh({ turns: 40, compactions: [14, 27], title: "For everybody" });
  const found = [];
  let looked = 0;
  for (const options of [{}, { dark: true }, { phone: true }, { phone: true, dark: true }]) {
    const { page, context } = await open(browsing, options);
    const check = async (where) => {
      // Axe is not of the page: it is run by the browser's own hand, which its policy does not hold back.
      const report = await page.evaluate(`${axe}; axe.run(document, {resultTypes: ["violations"]})`);
      looked += 1;
      for (const violation of report.violations) {
        if (!["serious", "critical"].includes(violation.impact)) continue;
        found.push(`${where} ${JSON.stringify(options)}: ${violation.id} at ${violation.nodes.slice(0, 3).map((node) => `${node.target} ${node.any?.[0]?.message ?? ""}`).join("; ")}`);
      }
    };
    for (const where of ["/", `/threads/${id}`, `/threads/${id}/request`, `/threads/${id}/compactions`, `/threads/${id}/tree`, `/threads/${id}/window`]) {
      await page.goto(to.url + where);
      await expect("it is drawn", async () => (await page.locator(where === "/" ? "tr[data-id]" : `.chart, .part, .segment, article.row`).count()) > 0);
      await page.waitForTimeout(250);
      await check(where);
    }
    await page.goto(`${to.url}/threads/${id}`);
    await rows(page).last().waitFor();
    await page.getByRole("button", { name: "Compact…" }).click();
    await check("dialog");
    await page.getByLabel("Messages to keep").fill("4");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator(".beside .part").first().waitFor();
    await check("preview");
    await context.close();
  }
  assert.deepEqual(found, []);
  assert.equal(looked, 32);
});

const wanted = process.argv.slice(2);
browsing = await browser();
to = await service();
let failed = 0;
for (const { name, run } of tests) {
  if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
  const began = Date.now();
  try {
    await run();
    console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${String(error.stack ?? error).slice(0, 1800).replaceAll("\n", "\n      ")}`);
    const shown = browsing.contexts().at(-1)?.pages().at(-1);
    const file = path.join(process.env.CONSPECTUS_WEB_SHOTS ?? "/tmp", `failed-${failed}.png`);
    await shown?.screenshot({ path: file }).then(() => console.log(`      seen: ${file}`), () => {});
  }
  for (const context of browsing.contexts()) await context.close();
}
const panics = to.log.filter((line) => /panicked/.test(line));
if (panics.length) console.log(panics.join(""));
await browsing.close();
await to.close();
process.exit(failed || panics.length ? 1 : 0);
