// How soon a long thread is seen, and how large the page is.
//
// What counts is the time of the server (from a request to the first byte of its answer, for the page, its files and the
// newest messages, one behind the other as they are needed) and of the page (scripts, styles and layout until the messages
// stand there). What passes on the clock is told beside it: there the browser itself and whatever else runs have their part.

import { browser, open, service, talk } from "./bench.mjs";

const MESSAGES = 10_000;
const ROUNDS = 7;
const MOST_MS = 300;
const MOST_BYTES = 200_000;

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const to = await service();
const browsing = await browser();
let bad = false;
for (const [id, compacted] of [["whole", false], ["compacted", true]]) {
  await to.post("/threads", { thread_id: id });
  let sent = 0;
  let turn = 0;
  while (sent < MESSAGES) {
    const messages = talk(500, { from: turn }).slice(0, MESSAGES - sent);
    await to.post(`/threads/${id}/messages`, { messages });
    sent += messages.length;
    turn += 500;
  }
  if (compacted) await to.post(`/threads/${id}/compact`, { strategy: "digest" });
  const painted = [];
  const worked = [];
  const settled = [];
  const bytes = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, context } = await open(browsing, {});
    const devtools = await context.newCDPSession(page);
    await devtools.send("Performance.enable");
    await page.goto(`${to.url}/threads/${id}`, { waitUntil: "commit" });
    await page.waitForFunction(() => performance.getEntriesByName("conspectus-painted").length > 0, null, { polling: "raf" });
    const { metrics } = await devtools.send("Performance.getMetrics");
    const spent = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"].map((name) => metrics.find((metric) => metric.name === name).value * 1000);
    await page.locator("svg.chart .curve").first().waitFor();
    const seen = await page.evaluate(() => ({
      painted: performance.getEntriesByName("conspectus-painted")[0].startTime,
      steps: {
        html: performance.getEntriesByType("navigation")[0].responseEnd,
        files: Math.max(...performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/assets/")).map((entry) => entry.responseEnd)),
        ...Object.fromEntries(performance.getEntriesByType("resource").filter((entry) => /messages\?/.test(entry.name)).slice(0, 1).flatMap((entry) => [["asked", entry.startTime], ["answered", entry.responseEnd], ["waited", entry.responseStart - entry.requestStart]])),
      },
      server: (() => {
        const wait = (entry) => entry.responseStart - entry.requestStart;
        const all = performance.getEntriesByType("resource");
        const files = all.filter((entry) => entry.name.includes("/assets/")).map(wait);
        return wait(performance.getEntriesByType("navigation")[0]) + Math.max(...files) + wait(all.find((entry) => /messages\?/.test(entry.name)));
      })(),
      rows: document.querySelectorAll("#feed article.row").length,
      now: performance.now(),
      sizes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter((entry) => !entry.name.includes("/api/")).map((entry) => entry.encodedBodySize),
    }));
    if (seen.rows < 5) throw new Error("nothing is seen");
    painted.push(seen.painted);
    worked.push(seen.server + spent.reduce((sum, ms) => sum + ms, 0));
    if (process.env.CONSPECTUS_WEB_STEPS) console.log(Object.entries({ ...seen.steps, painted: seen.painted }).map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(", "));
    settled.push(seen.now);
    bytes.push(seen.sizes.reduce((sum, size) => sum + size, 0));
    await context.close();
  }
  const ms = middle(worked);
  const range = (numbers) => `${Math.min(...numbers).toFixed(0)} to ${Math.max(...numbers).toFixed(0)}`;
  console.log(`${id}: ${MESSAGES} messages, the newest are seen after ${ms.toFixed(0)} ms of server and page (${range(worked)}), ${middle(painted).toFixed(0)} ms on the clock (${range(painted)}); window and chart after ${middle(settled).toFixed(0)} ms; the page is ${(middle(bytes) / 1000).toFixed(1)} kB compressed`);
  bad ||= ms > MOST_MS || middle(bytes) > MOST_BYTES;
}

// A thread ten times as long, as it is stored: it is scrolled, and what each frame takes is looked at.
const LONG = 100_000;
await to.post("/threads", { thread_id: "long" });
const filled = performance.now();
for (let sent = 0; sent < LONG; sent += 1000) {
  const said = (n) => ({ type: n % 2 ? "ai" : "human", id: `x${n}`, content: `Message number ${n}.${n % 9 === 0 ? ` ${"More of it. ".repeat(40)}` : ""}` });
  await to.post("/threads/long/messages", { messages: Array.from({ length: 1000 }, (_, n) => said(sent + n)) });
  // As it would be by then.
  if (sent % 10_000 === 9_000) await to.post("/threads/long/compact", { strategy: "digest", keep: { type: "messages", value: 200 } });
}
console.log(`long: ${LONG} messages are stored in ${((performance.now() - filled) / 1000).toFixed(1)} s, 1,000 at a time and with ten compactions`);
const one = performance.now();
await to.post("/threads/long/messages", { messages: [{ type: "human", content: "One more." }] });
console.log(`long: one more message takes ${(performance.now() - one).toFixed(1)} ms`);
// Without folds, so that all of them can be scrolled to.
for (let n = 0; n < 10; n += 1) await to.post("/threads/long/undo", {});
const { page } = await open(browsing, {});
const began = performance.now();
await page.goto(`${to.url}/threads/long`, { waitUntil: "commit" });
await page.getByText("One more.").first().waitFor();
console.log(`long: the newest are seen after ${(performance.now() - began).toFixed(0)} ms on the clock`);
const scrolled = await page.evaluate(async (all) => {
  const feed = document.querySelector("#feed");
  const frame = () => new Promise(requestAnimationFrame);
  const jumps = [];
  for (const share of [0.5, 0.1, 0.9, 0.333, 0.7]) {
    const began = performance.now();
    feed.scrollTop = share * (feed.scrollHeight - feed.clientHeight);
    for (;;) {
      await frame();
      const box = feed.getBoundingClientRect();
      const row = document.elementFromPoint(box.left + 200, box.top + box.height / 2)?.closest("article.row");
      const is = row && !row.classList.contains("waiting") && Math.abs(Number(row.getAttribute("aria-posinset")) / all - share) < 0.05;
      if (is) break;
      if (performance.now() - began > 20_000) throw new Error(`nothing stands at ${share}`);
    }
    jumps.push(performance.now() - began);
  }
  const frames = [];
  let last = performance.now();
  for (let n = 0; n < 300; n += 1) {
    feed.scrollTop += 240;
    await frame();
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return { jumps, frames };
}, LONG);
console.log(`long: a jump anywhere is seen after ${middle(scrolled.jumps).toFixed(0)} ms (at most ${Math.max(...scrolled.jumps).toFixed(0)}); a frame while scrolling takes ${middle(scrolled.frames).toFixed(1)} ms, the longest of ${scrolled.frames.length} ${Math.max(...scrolled.frames).toFixed(0)}`);
bad ||= Math.max(...scrolled.frames) > 250;
await browsing.close();
await to.close();
process.exit(bad ? 1 : 0);
