// How soon a long thread is seen, and how large the page is.

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
  const settled = [];
  const bytes = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, context } = await open(browsing, {});
    await page.goto(`${to.url}/threads/${id}`);
    await page.locator("svg.chart .curve").first().waitFor();
    const seen = await page.evaluate(() => ({
      painted: performance.getEntriesByName("conspectus-painted")[0].startTime,
      steps: {
        html: performance.getEntriesByType("navigation")[0].responseEnd,
        files: Math.max(...performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/assets/")).map((entry) => entry.responseEnd)),
        ...Object.fromEntries(performance.getEntriesByType("resource").filter((entry) => /messages\?/.test(entry.name)).slice(0, 1).flatMap((entry) => [["asked", entry.startTime], ["answered", entry.responseEnd], ["waited", entry.responseStart - entry.requestStart]])),
      },
      rows: document.querySelectorAll("#feed article.row").length,
      now: performance.now(),
      sizes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter((entry) => !entry.name.includes("/api/")).map((entry) => entry.encodedBodySize),
    }));
    if (seen.rows < 5) throw new Error("nothing is seen");
    painted.push(seen.painted);
    if (process.env.CONSPECTUS_WEB_STEPS) console.log(Object.entries({ ...seen.steps, painted: seen.painted }).map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(", "));
    settled.push(seen.now);
    bytes.push(seen.sizes.reduce((sum, size) => sum + size, 0));
    await context.close();
  }
  const ms = middle(painted);
  console.log(`${id}: ${MESSAGES} messages, the newest are seen after ${ms.toFixed(0)} ms (${Math.min(...painted).toFixed(0)} to ${Math.max(...painted).toFixed(0)}), window and chart after ${middle(settled).toFixed(0)} ms; the page is ${(middle(bytes) / 1000).toFixed(1)} kB compressed`);
  bad ||= ms > MOST_MS || middle(bytes) > MOST_BYTES;
}
await browsing.close();
await to.close();
process.exit(bad ? 1 : 0);
