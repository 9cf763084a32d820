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
await browsing.close();
await to.close();
process.exit(bad ? 1 : 0);
