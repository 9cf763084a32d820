// What tests of the page stand on: a service of its own on SQLite with a scripted model, a browser, and threads in it.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { chromium } from "playwright-core";

import { start } from "./model.mjs";

const here = process.env.CONSPECTUS_ROOT ?? path.resolve(import.meta.dirname, "../..");

/** Files of the page from the folder instead of the binary: for whoever changes them. */
const FILES = process.env.CONSPECTUS_WEB_FILES;

export async function service({ tokens, summarization = "" } = {}) {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "conspectus-web-"));
  const model = await start();
  const config = path.join(work, "config.yaml");
  fs.writeFileSync(
    config,
    `models:\n  - {name: scripted, base_url: '${model.url}', window: 32000, max_output: 4000, prices: {input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75}}\n  - {name: other, base_url: '${model.url}', window: 16000, max_output: 2000, prices: {input: 1.0, output: 5.0, cache_read: 0.1, cache_write: 1.25}}\nserver: {request_timeout_ms: 300000}\n${summarization}`,
  );
  const args = ["serve", "--config", config, "--listen", "127.0.0.1:0", "--store", `sqlite:${path.join(work, "threads.db")}`];
  if (tokens) {
    const file = path.join(work, "tokens.txt");
    fs.writeFileSync(file, tokens.map(([token, rest]) => `sha256:${createHash("sha256").update(token).digest("hex")} ${rest}\n`).join(""));
    args.push("--tokens", file);
  }
  const log = [];
  let child;
  let url;
  const up = async (listen) => {
    if (listen) args[args.indexOf("--listen") + 1] = listen;
    child = spawn(process.env.CONSPECTUS_BIN ?? path.join(here, "target/debug/conspectus"), args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stderr.on("data", (data) => log.push(String(data)));
    url = await new Promise((done, fail) => {
      child.stdout.on("data", (data) => {
        const found = /listening on (\S+)/.exec(data);
        if (found) done(found[1]);
      });
      child.once("exit", (code) => fail(new Error(`the service ended with ${code}: ${log.join("")}`)));
    });
  };
  await up();
  const ask = async (method, where, body, token) => {
    const headers = { "content-type": "application/json" };
    if (token) headers.authorization = `Bearer ${token}`;
    const response = await fetch(`${url}/api${where}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw Object.assign(new Error(`${method} ${where}: ${response.status} ${text.slice(0, 300)}`), { status: response.status });
    return text ? JSON.parse(text) : null;
  };
  const down = async () => {
    const ended = new Promise((done) => child.once("exit", done));
    child.removeAllListeners("exit");
    child.once("exit", () => {});
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await Promise.race([ended, gone]);
  };
  return {
    url,
    model,
    log,
    post: (where, body = {}, token) => ask("POST", where, body, token),
    get: (where, token) => ask("GET", where, undefined, token),
    /** The process dies, and another one takes its place at the same address. */
    restart: async () => {
      await down();
      await up(new URL(url).host);
    },
    close: async () => {
      child.removeAllListeners("exit");
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await gone;
      model.close();
      fs.rmSync(work, { recursive: true, force: true });
    },
  };
}

const KINDS = { css: "text/css", js: "text/javascript", svg: "image/svg+xml", html: "text/html" };

export async function browser() {
  const found = [process.env.CONSPECTUS_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) => file && fs.existsSync(file));
  return chromium.launch({ executablePath: found, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A window of its own. Whatever the page throws or says as an error is kept in `problems`. */
export async function open(browsing, { width = 1280, height = 800, dark = false, phone = false, token, zone = "Europe/Berlin" } = {}) {
  const context = await browsing.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width, height },
    colorScheme: dark ? "dark" : "light",
    hasTouch: phone,
    isMobile: phone,
    deviceScaleFactor: 1,
    locale: "en-GB",
    timezoneId: zone,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(`thrown: ${error.stack ?? error}`));
  page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
  const elsewhere = [];
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (hostname !== "127.0.0.1" && protocol !== "data:") elsewhere.push(request.url());
  });
  if (FILES) {
    await context.route(/^http:\/\/127\.0\.0\.1:\d+\/(?!api)/, async (route) => {
      const { pathname } = new URL(route.request().url());
      const name = pathname.startsWith("/assets/") ? path.basename(pathname) : "index.html";
      const body = fs.readFileSync(path.join(FILES, name), "utf8").replaceAll("{version}", "dev");
      const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
      await route.fulfill({ body, headers: { "content-type": KINDS[name.split(".").at(-1)], "content-security-policy": policy } });
    });
  }
  if (token) await page.addInitScript((value) => sessionStorage.setItem("conspectus-token", value), token);
  page.setDefaultTimeout(15_000);
  return { page, context, problems, elsewhere };
}

const SAID = [
  ["From now on, always answer in metric units, and never turn the main valve without asking me.", "Understood: metric units only, and I ask before the main valve is turned."],
  ["The boiler of house 7 loses pressure. What do we know?", "The log of last week shows **2.9 bar** on Monday and `1.6 bar` on Friday.\n\n- the expansion vessel was filled in March\n- the safety valve was not touched\n\nI would look at the vessel first."],
  ["Please keep a list of what is still open.", "Here it is:\n\n1. Read the gauge after an hour.\n2. Write the pressure into `report.md`.\n3. Order a gasket, if you agree."],
];

/** A conversation of `turns` requests with calls of tools between them. */
export function talk(turns, { from = 0 } = {}) {
  const messages = [];
  for (let turn = from; turn < from + turns; turn += 1) {
    const [request, answer] = SAID[turn] ?? [`Step ${turn}: look at part ${turn} of the boiler plan and tell me what stands there about the pressure.`, `Part ${turn} says that the pressure is to be read every ${10 + (turn % 50)} minutes. I noted it.`];
    messages.push({ type: "human", id: `h${turn}`, content: request });
    if (turn % 3 === 1) {
      const file = `plan/part-${turn}.md`;
      messages.push({ type: "ai", id: `c${turn}`, content: "I read the part.", tool_calls: [{ name: "read_file", args: { path: file }, id: `call-${turn}` }] });
      const lines = Array.from({ length: 26 }, (_, n) => `${String(n + 1).padStart(3)}  valve ${turn}.${n}: pressure ${((turn * 7 + n * 3) % 40) / 10} bar, temperature ${40 + ((turn + n) % 30)} °C, checked`);
      messages.push({ type: "tool", id: `t${turn}`, name: "read_file", tool_call_id: `call-${turn}`, content: lines.join("\n") });
    }
    if (turn === 5) {
      messages.push({ type: "ai", id: "todo-call", content: "", tool_calls: [{ name: "write_todos", args: { todos: [{ content: "Read the gauge after an hour", status: "in_progress" }, { content: "Write the pressure into the report", status: "pending" }, { content: "Fill the expansion vessel", status: "completed" }] }, id: "call-todos" }] });
      messages.push({ type: "tool", id: "todo-result", name: "write_todos", tool_call_id: "call-todos", content: "Updated." });
    }
    messages.push({ type: "ai", id: `a${turn}`, content: answer });
  }
  return messages;
}

/** A thread with a conversation, compacted where `compactions` say after how many turns. */
export async function thread(to, id, { title, turns = 30, compactions = [], policy, token, focus, metadata } = {}) {
  await to.post("/threads", { thread_id: id, title, policy, metadata }, token);
  let at = 0;
  const upto = async (turn) => {
    if (turn > at) await to.post(`/threads/${id}/messages`, { messages: talk(turn - at, { from: at }) }, token);
    at = turn;
  };
  for (const turn of compactions) {
    await upto(turn);
    await to.post(`/threads/${id}/compact`, { keep: { type: "messages", value: 8 }, ...(focus ? { focus } : {}) }, token);
  }
  await upto(turns);
}
