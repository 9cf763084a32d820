// Pictures of the page for the documentation.
//
//   node shots.mjs DIR [all]     `all`: every view, wide and narrow, light and dark, to look at

import fs from "node:fs";
import path from "node:path";

import { browser, open, service, talk, thread } from "./bench.mjs";
import { small } from "./png.mjs";

const [folder, all] = process.argv.slice(2);
const to = await service();
await thread(to, "boiler-7", { title: "The boiler of house 7", turns: 40, compactions: [14, 27] });
await to.post("/threads/boiler-7/undo");
await to.post("/threads/boiler-7/redo");
await thread(to, "greenhouse", { title: "Plan of the greenhouse", turns: 66, compactions: [30] });
await thread(to, "px-8c1f", { title: "Refactoring of the parser", turns: 52, compactions: [20, 40], metadata: { proxy: { source: "proxy", api: "chat", upstream: "local", model: "scripted", requests: 52, input_tokens: 410_000, cache_read_tokens: 301_000, saved_tokens: 96_000, saved_micros: 288_000 } } });
await thread(to, "short", { title: "A short question", turns: 3 });
await to.post("/threads/boiler-7/branches", { thread_id: "boiler-7b", title: "The boiler, another way", message_id: "a30" });
await to.post("/threads/boiler-7b/messages", { messages: talk(4, { from: 90 }) });
await thread(to, "moved", { title: "Taken back and gone another way", turns: 12, compactions: [9] });
await to.post("/threads/moved/undo");
await to.post("/threads/moved/rewind", { message_id: "a5" });
await to.post("/threads/moved/messages", { messages: talk(5, { from: 60 }) });

const browsing = await browser();
const shot = async (name, where, options, act) => {
  const { page, problems, context } = await open(browsing, { width: 1200, height: 750, ...options });
  await page.goto(to.url + where);
  await page.locator(":is(tr[data-id], .chart, .part, .segment, article.row):visible").first().waitFor();
  await page.waitForTimeout(500);
  await act?.(page);
  await page.waitForTimeout(250);
  fs.writeFileSync(path.join(folder, `${name}.png`), small(await page.screenshot()));
  if (problems.length) console.log(name, problems);
  await context.close();
};
const dialog = async (page) => {
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Focus").fill("the pressure of the valve");
};
const preview = async (page) => {
  await dialog(page);
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".beside .part").first().waitFor();
};
const folds = async (page) => {
  await page.locator("#feed").evaluate((feed) => (feed.scrollTop = 0));
};
const asks = async (page) => {
  if (await page.locator(".question:visible").count()) return;
  await page.getByLabel("Message", { exact: true }).fill("Is there any tea?");
  await page.keyboard.press("Enter");
  await page.locator(".question:not([hidden])").waitFor();
};
const pictures = [
  ["page-threads", "/", {}],
  ["page-thread", "/threads/boiler-7", {}, folds],
  ["page-request", "/threads/boiler-7/request", {}],
  ["page-compactions", "/threads/boiler-7/compactions", { dark: true }],
  ["page-preview", "/threads/boiler-7", {}, preview],
  ["page-tree", "/threads/moved/tree", {}],
];
if (all) {
  for (const [kind, options] of Object.entries({ wide: {}, "wide-dark": { dark: true }, phone: { phone: true }, "phone-dark": { phone: true, dark: true } })) {
    await shot(`${kind}-threads`, "/", options);
    await shot(`${kind}-thread`, "/threads/boiler-7", options, folds);
    await shot(`${kind}-newest`, "/threads/greenhouse", options);
    await shot(`${kind}-window`, "/threads/boiler-7/window", options);
    await shot(`${kind}-request`, "/threads/boiler-7/request", options);
    await shot(`${kind}-compactions`, "/threads/boiler-7/compactions", options);
    await shot(`${kind}-tree`, "/threads/moved/tree", options);
    await shot(`${kind}-dialog`, "/threads/boiler-7", options, dialog);
    await shot(`${kind}-preview`, "/threads/boiler-7", options, preview);
    await shot(`${kind}-asks`, "/threads/short", options, asks);
  }
} else for (const picture of pictures) await shot(...picture);
await browsing.close();
await to.close();
process.exit(0);
