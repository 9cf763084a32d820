// The public API, as any client uses it. The token is kept for this tab only, and never stands in an address.

const KEY = "conspectus-token";
let token = sessionStorage.getItem(KEY);

/** What the service says of itself and of whoever asks; set once it is known. */
export const about = { info: null };

export const mayWrite = () => about.info === null || about.info.role === "write";

export function setToken(value) {
  token = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

export const hasToken = () => Boolean(token);

/** What went wrong, as the service says it; without a status, it was not reached. */
export class Problem extends Error {
  constructor(detail, status = 0, code = "unreachable", cause) {
    super(detail);
    Object.assign(this, { status, code, reason: cause });
  }
}

async function ask(method, path, { body, query, signal, headers } = {}) {
  const asked = new URL(`/api${path}`, location.origin);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) asked.searchParams.set(name, value);
  }
  const all = { ...headers };
  if (token) all.Authorization = `Bearer ${token}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(asked, { method, headers: all, body: sent, signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem("The service cannot be reached.");
  }
  if (response.ok) return response;
  let said = {};
  try {
    said = await response.json();
  } catch {
    // What stands between may answer in another way.
  }
  if (response.status === 401) document.dispatchEvent(new CustomEvent("conspectus-login", { detail: said.detail }));
  throw new Problem(said.detail ?? `The service answered ${response.status}.`, response.status, said.code, said.cause);
}

async function json(method, path, options) {
  const response = await ask(method, path, options);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    if (options?.signal?.aborted) throw error;
    throw new Problem("The answer broke off.");
  }
}

export const get = (path, query, signal) => json("GET", path, { query, signal });
export const post = (path, body = {}, signal) => json("POST", path, { body, signal });
export const patch = (path, body) => json("PATCH", path, { body });
export const remove = (path) => json("DELETE", path);
export const of = (thread, rest = "") => `/threads/${encodeURIComponent(thread)}${rest}`;

/** Server-sent events of one answer, one by one. An EventSource could not send the token. */
export async function* events(method, path, { body, query, signal, last } = {}) {
  const headers = { Accept: "text/event-stream" };
  if (last !== undefined && last !== null) headers["Last-Event-ID"] = String(last);
  const response = await ask(method, path, { body, query, signal, headers });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let event = { event: "message", data: "", id: undefined };
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      const lines = text.split("\n");
      text = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line === "") {
          if (event.data !== "") yield { ...event, data: parsed(event.data), place: response.headers.get("content-location") };
          event = { event: "message", data: "", id: undefined };
        } else if (line.startsWith(":")) {
          yield { event: "alive" };
        } else {
          const colon = line.indexOf(":");
          const name = colon < 0 ? line : line.slice(0, colon);
          const rest = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
          if (name === "data") event.data += (event.data ? "\n" : "") + rest;
          else if (name === "event") event.event = rest;
          else if (name === "id") event.id = rest;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const pause = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

/** A stream that is silent for longer than this is dead: the service sends something at least every 15 seconds. */
const SILENT = 45_000;

/**
 * Follows a stream of events until `signal`, whatever breaks: `query` gives what it is asked for each time. `heard` hears
 * each event with data; `state` hears "live", "lost" and "gone".
 */
async function followed(path, query, { signal, heard, state }) {
  let wait = 500;
  while (!signal.aborted) {
    const own = new AbortController();
    const stop = () => own.abort();
    signal.addEventListener("abort", stop, { once: true });
    let quiet = setTimeout(stop, SILENT);
    try {
      for await (const event of events("GET", path, { query: query(), signal: own.signal })) {
        clearTimeout(quiet);
        quiet = setTimeout(stop, SILENT);
        state("live");
        wait = 500;
        if (event.event === "error") throw new Problem(event.data?.detail ?? "", 404, event.data?.code);
        heard(event);
      }
    } catch (error) {
      if (error instanceof Problem && (error.status === 404 || error.status === 401)) {
        state("gone");
        return;
      }
    } finally {
      clearTimeout(quiet);
      signal.removeEventListener("abort", stop);
    }
    if (signal.aborted) return;
    state("lost");
    await pause(wait + Math.random() * 200, signal);
    wait = Math.min(wait * 2, 10_000);
  }
}

/** Follows the events of a thread, taking up again behind the last one. `told` hears each. */
export function follow(thread, after, { signal, told, state }) {
  let last = after;
  const heard = (event) => {
    if (event.id !== undefined) last = Number(event.id);
    if (event.event !== "alive" && event.event !== "end" && event.data) told(event.data);
  };
  return followed(of(thread, "/events"), () => ({ after: last }), { signal, heard, state });
}

/** Hears when threads change. What changed while nothing was heard is not told, so `state` "live" means: look anew. */
export function followAll({ signal, changed, state }) {
  const heard = (event) => event.event === "changed" && changed(event.data);
  return followed("/events", () => ({}), { signal, heard, state });
}
