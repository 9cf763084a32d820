#!/usr/bin/env python3
"""Resumes compacted rollouts with the real Codex and looks at what it sends.

    npm install --ignore-scripts --prefix /tmp/codex @openai/codex
    CODEX=/tmp/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex \\
        scripts/codex-resume-test.py

The client runs in a network namespace of its own (`unshare -rn`) against a scripted server on loopback, with an
empty home and a made-up key. Left out, with a message, when the client or `unshare` is not there. Not part of
`cargo test`: the client is a download of 400 MB. Takes about a minute.

1. A session that the client writes itself, with parallel calls: compacted, resumed, compacted again, resumed,
   compacted by the client itself, resumed.
2. Real sessions of the shared data (`../shared`, or CONSPECTUS_SHARED): resumed as they are, and compacted to
   half; what is sent must be what our reader says is in sight, item by item.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("CONSPECTUS_SHARED") or os.path.join(ROOT, "..", "shared")
PROMPT = "the new prompt"
# What every reply reports, and a limit between that and what a compaction of ours reports.
REPORTED, LIMIT = 50_000, 20_000
# A provider of our own asks the model to summarise; the built-in one lets the server do it. A session stays with its.
OWN = ('model_provider = "loop"\n[model_providers.loop]\nname = "Loop"\nbase_url = "{}"\n'
       'env_key = "LOOP_KEY"\nwire_api = "responses"\n')
BUILT_IN = 'openai_base_url = "{}"\n'
CONTEXT = re.compile(r"\s*<(environment_context|user_instructions|turn_aborted|skills_instructions)|\s*# AGENTS.md")


class Stub(BaseHTTPRequestHandler):
    """The Responses API, streamed. A prompt that says `calls` is answered with two parallel calls."""

    protocol_version = "HTTP/1.1"
    requests = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = b'{"error":{"message":"not here","type":"invalid_request_error"}}'
        self.send_response(426 if self.headers.get("upgrade") else 404)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        Stub.requests.append(body)
        items = reply(f"{os.getpid()}_{len(Stub.requests)}", last_said(body["input"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        response = {"id": f"resp_{len(Stub.requests)}", "object": "response", "model": body["model"], "output": []}
        self.event("response.created", response=response)
        for index, item in enumerate(items):
            self.event("response.output_item.added", output_index=index, item=item)
            self.event("response.output_item.done", output_index=index, item=item)
        usage = {"input_tokens": REPORTED, "output_tokens": 9, "total_tokens": REPORTED + 9,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        self.event("response.completed", response={**response, "output": items, "usage": usage})
        self.close_connection = True

    def event(self, kind, **data):
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())


def last_said(items):
    """What the last message of the user says, or `result`."""
    for item in reversed(items):
        if item["type"].endswith("_output"):
            return "result"
        if item["type"] == "message" and item["role"] == "user" and not CONTEXT.match(text_of(item)):
            return text_of(item)
    return ""


def reply(number, said):
    if "CONTEXT CHECKPOINT" in said:
        return [message(number, "the client's own summary")]
    if "calls" in said:
        thought = {"type": "reasoning", "id": f"rs_{number}", "encrypted_content": f"ENC{number}",
                   "summary": [{"type": "summary_text", "text": "thinking"}]}
        run = "const r = await tools.exec_command({{cmd: {}}}); text(r.output)"
        calls = [{"type": "custom_tool_call", "id": f"ctc_{number}{n}", "call_id": f"call_{number}{n}", "name": "exec",
                  "status": "completed", "input": run.format(json.dumps(command))}
                 for n, command in (("a", "seq 1 900"), ("b", "echo short-b"))]
        return [thought, *calls]
    return [message(number, f"reply to: {said[:60]}")]


def message(number, text):
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}


class Client:
    """The real client with a home of its own."""

    def __init__(self, binary, port, folder, provider):
        self.binary = binary
        self.cwd, self.home = os.path.join(folder, "ws"), os.path.join(folder, "codex")
        self.sessions = os.path.join(self.home, "sessions", "2026", "01", "01")
        os.makedirs(self.cwd)
        os.makedirs(self.sessions)
        with open(os.path.join(self.home, "config.toml"), "w") as config:
            config.write('model = "gpt-5.6-sol"\n' + provider.format(f"http://127.0.0.1:{port}/v1"))
        self.env = {"PATH": "/usr/bin:/bin", "HOME": folder, "CODEX_HOME": self.home, "LOOP_KEY": "test-key",
                    "OPENAI_API_KEY": "test-key", "CODEX_API_KEY": "test-key"}

    def say(self, prompt, session=None, limit=10 * REPORTED):
        """Runs one turn; gives the requests that it made."""
        seen = len(Stub.requests)
        command = [self.binary, "exec", "--skip-git-repo-check", "-c", f"model_auto_compact_token_limit={limit}"]
        command += ["resume", session, prompt] if session else [prompt]
        done = subprocess.run(command, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
        assert len(Stub.requests) > seen, f"the client said: {done.stdout[-300:]} {done.stderr[-600:]}"
        return Stub.requests[seen:]

    def newest(self):
        found = glob.glob(os.path.join(self.home, "sessions", "**", "rollout-*.jsonl"), recursive=True)
        return max(found, key=os.path.getmtime)


class Ours:
    """Our reader and writer."""

    def __init__(self, binary):
        self.binary = binary

    def views(self, file):
        out = subprocess.run([self.binary, "views", file], capture_output=True, check=True).stdout
        return [json.loads(line) for line in out.decode().splitlines()]

    def compact(self, file, summary, keep_last, *pins):
        before = open(file, "rb").read()
        command = [self.binary, "compact", file, summary, "1796041384248", str(keep_last), *map(str, pins)]
        after = subprocess.run(command, capture_output=True, check=True).stdout
        assert after.startswith(before), "the file's own bytes stay"
        with open(file, "wb") as out:
            out.write(after)


def text_of(item):
    content = item.get("content")
    return content if isinstance(content, str) else "|".join(p.get("text") or p["type"] for p in content or [])


def output_of(item):
    output = item.get("output")
    return output if isinstance(output, str) else "|".join(p.get("text") or p["type"] for p in output or [])


def sent(request):
    """What the request says, without what the client tells by itself."""
    out = []
    for item in request["input"]:
        kind = item["type"]
        if kind == "message":
            text = text_of(item)
            if item["role"] != "developer" and not CONTEXT.match(text) and text != PROMPT:
                out.append((item["role"], "text", text))
        elif kind == "reasoning":
            out.append(("assistant", "reasoning"))
        elif kind.endswith("_output"):
            out.append(("tool", "result", item["call_id"], output_of(item)))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            out.append(("assistant", "call", item["call_id"]))
        elif kind != "additional_tools":
            out.append(("?", kind))
    return out


def in_sight(views):
    """The same of our views."""
    out = []
    for view in views:
        parts = [p for p in view["parts"] if p["inside"] is None]
        if view["role"] == "system" or not parts:
            continue
        kinds = {p["kind"] for p in parts}
        text = "|".join(p["text"] if p["kind"] == "text" else "input_image" for p in parts)
        if kinds <= {"text", "media"}:
            if not CONTEXT.match(text) and text != PROMPT:
                out.append((view["role"], "text", text))
        elif parts[0]["kind"] == "result":
            inner = [p for p in view["parts"] if p["inside"] is not None]
            text = "|".join(p["text"] if p["kind"] == "text" else "input_image" for p in inner) or parts[0]["text"]
            out.append(("tool", "result", parts[0]["id"], text))
        elif parts[0]["kind"] == "call" and len(parts) == 1:
            out.append(("assistant", "call", parts[0]["id"]))
        elif parts[0]["kind"] == "call":
            out.append(("?", "web_search_call"))
        elif parts[0]["kind"] == "reasoning":
            out.append(("assistant", "reasoning"))
        else:
            out.append(("?", parts[0]["id"]))
    return out


def same(what, request, views):
    got, expect = sent(request), in_sight(views)
    if got != expect:
        for n, (a, b) in enumerate(zip(got + [None] * len(expect), expect + [None] * len(got))):
            if a != b:
                sys.exit(f"{what}: item {n} of {len(got)}, expected {len(expect)}:\n  sent     {str(a)[:300]}\n  expected {str(b)[:300]}")
    print(f"ok   {what}: {len(got)} items")


def tools(request):
    return sum(item["type"] == "additional_tools" for item in request["input"])


def own_session(client, ours):
    client.say("first: please do calls")
    file = client.newest()
    session = re.search(r"([0-9a-f-]{36})\.jsonl$", file).group(1)
    client.say("second: hello", session)
    expect = ours.views(file)
    requests = client.say(PROMPT, session)
    same("own session", requests[0], expect)

    ours.compact(file, "OUR SUMMARY", 4)
    expect = ours.views(file)
    requests = client.say(PROMPT, session, LIMIT)
    assert "CHECKPOINT" not in json.dumps(requests[0]), "no compaction of its own: the old count does not count"
    same("compacted", requests[0], expect)
    assert tools(requests[0]) == 1, "the client tells its tools once"
    client.say("third: please do calls", session)

    # The result of `seq 1 900` is longer than what is kept of results.
    ours.compact(file, "OUR SECOND SUMMARY", 6)
    expect = ours.views(file)
    assert "left out" in json.dumps(expect)
    requests = client.say(PROMPT, session)
    same("compacted again, results shortened", requests[0], expect)
    assert tools(requests[0]) == 1, "the client tells its tools once"

    requests = client.say("fourth: hello", session, LIMIT)
    assert "CHECKPOINT" in json.dumps(requests[0]), "the client compacts by itself above its limit"
    expect = ours.views(file)
    assert any(view["flags"]["summary"] for view in expect), "its summary is known as one"
    requests = client.say(PROMPT, session)
    same("compacted by the client on top", requests[0], expect)


def real_session(client, ours, source):
    head = json.loads(open(source).readline())["payload"]
    session = head["id"]
    for what in ("as it is", "half of it"):
        file = os.path.join(client.sessions, f"rollout-2026-01-01T00-00-00-{session}.jsonl")
        shutil.copy(source, file)
        if what == "half of it":
            views = ours.views(file)
            first = len(views) // 2
            while first < len(views) and is_inside(views, first):
                first += 1
            ours.compact(file, "SUMMARY OF HALF", len(views) - first)
        expect = ours.views(file)
        requests = client.say(PROMPT, session)
        same(f"{os.path.basename(source)[:40]} {what}", requests[0], expect)


def is_inside(views, at):
    """Whether a call before `at` is answered behind it, or a reply goes on."""
    calls = {p["id"] for v in views[:at] for p in v["parts"] if p["kind"] == "call"}
    answers = {p["id"] for v in views[at:] for p in v["parts"] if p["kind"] == "result"}
    reply = views[at]["reply"]
    return bool(calls & answers) or (reply is not None and any(v["reply"] == reply for v in views[:at]))


def main():
    client = os.environ.get("CODEX") or shutil.which("codex")
    if not client or not os.path.exists(client):
        return print("Codex not found (CODEX=/path/to/codex), resume test left out")
    if os.environ.get("CONSPECTUS_IN_NAMESPACE") != "1":
        subprocess.run(["cargo", "build", "-q", "-p", "conspectus-wire", "--example", "session"], cwd=ROOT, check=True)
        inside = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            return print("no network namespace (unshare -rn), resume test left out")
        env = {**os.environ, "CONSPECTUS_IN_NAMESPACE": "1"}
        return sys.exit(subprocess.run([*inside, sys.executable, __file__], env=env).returncode)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target")
    ours = Ours(os.path.join(target, "debug", "examples", "session"))
    print(subprocess.run([client, "--version"], capture_output=True, text=True).stdout.strip())
    port = server.server_address[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        own_session(Client(client, port, os.path.join(folder, "own"), OWN), ours)
        client = Client(client, port, os.path.join(folder, "real"), BUILT_IN)
        files = sorted(glob.glob(os.path.join(SHARED, "data", "codex*", "*.jsonl")))
        if not files:
            print("shared data not found, real sessions left out")
        for file in files:
            real_session(client, ours, file)
    print("all well")


if __name__ == "__main__":
    main()
