#!/usr/bin/env python3
"""Resumes compacted sessions with the real Claude Code and looks at what it sends.

    npm install --ignore-scripts --prefix /tmp/claude @anthropic-ai/claude-code-linux-x64
    CLAUDE_CODE=/tmp/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude scripts/claude-resume-test.py

The client runs in a network namespace of its own (`unshare -rn`) against a scripted server on loopback, with an
empty home and a made-up key. Left out, with a message, when the client or `unshare` is not there. Not part of
`cargo test`: the client is a download of 400 MB. Takes about two minutes.

1. A session that the client writes itself, with parallel calls: compacted, resumed, compacted again, resumed,
   then compacted by the client's own `/compact`, resumed.
2. Real sessions of the shared data (`../shared`, or CONSPECTUS_SHARED): resumed as they are, and compacted to
   half; what is sent must be what our reader says is in sight, block by block.
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
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("CONSPECTUS_SHARED") or os.path.join(ROOT, "..", "shared")
PROMPT = "the new prompt"
# Texts that versions of the client put in or leave out.
REMINDERS = ("<system-reminder>", "<task-notification>")
BY_THE_CLIENT = (
    PROMPT,
    "No response requested.",
    "Continue from where you left off.",
    "<local-command-stdout>(no content)</local-command-stdout>",
)


class Stub(BaseHTTPRequestHandler):
    """Anthropic's messages, streamed. A prompt that says `calls` is answered with two parallel calls."""

    protocol_version = "HTTP/1.1"
    requests = []

    def log_message(self, *_):
        pass

    def answer(self, code, body=b""):
        self.send_response(code)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.answer(200)

    def do_GET(self):
        self.answer(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        if "count_tokens" in self.path:
            return self.answer(200, b'{"input_tokens":5000}')
        Stub.requests.append(body)
        number = len(Stub.requests)
        reply = f"msg_{os.getpid()}_{number}"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event, data in events(reply, blocks(reply, last_said(body)), body["model"]):
            self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())
        self.close_connection = True


def last_said(body):
    """What the last message of the user says, or `result`."""
    for message in reversed(body["messages"]):
        if message["role"] != "user":
            continue
        found = contents(message)
        if any(block["type"] == "tool_result" for block in found):
            return "result"
        texts = [b["text"] for b in found if b["type"] == "text" and not b["text"].startswith("<system-reminder>")]
        if texts:
            return "\n".join(texts)
    return ""


def blocks(reply, said):
    if "<summary>" in said and "<analysis>" in said:
        return [("text", "<analysis>x</analysis><summary>the client's own summary</summary>")]
    if "calls" in said:
        command = {"a": "seq 1 900", "b": "echo short-b"}
        calls = [("call", f"toolu_{reply}_{n}", {"command": command[n], "description": "x"}) for n in "ab"]
        return [("text", f"calling for: {said}"), *calls]
    return [("text", f"reply to: {said[:60]}")]


def events(reply, blocks, model):
    usage = {"input_tokens": 1000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9}
    message = {"id": reply, "type": "message", "role": "assistant", "model": model, "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        if block[0] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block[1]}
        else:
            start = {"type": "tool_use", "id": block[1], "name": "Bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block[2])}
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": start}
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    reason = "tool_use" if any(b[0] == "call" for b in blocks) else "end_turn"
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}
    yield "message_stop", {"type": "message_stop"}


class Client:
    """The real client with a home of its own."""

    def __init__(self, binary, port, folder):
        self.binary, self.folder = binary, folder
        self.cwd = os.path.join(folder, "ws")
        self.config = os.path.join(folder, "config")
        os.makedirs(self.cwd)
        self.projects = os.path.join(self.config, "projects", re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(self.cwd)))
        os.makedirs(self.projects)
        self.env = {
            "PATH": "/usr/bin:/bin", "HOME": folder, "CLAUDE_CONFIG_DIR": self.config,
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "test-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
        }

    def say(self, prompt, session=None):
        """Runs one turn; gives the session's id and the requests that it made."""
        seen = len(Stub.requests)
        command = [self.binary, "-p", prompt, "--model", "claude-opus-5-5", "--allowedTools", "Bash",
                   "--output-format", "json"]
        command += ["--resume", session] if session else []
        done = subprocess.run(command, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
        try:
            session = json.loads(done.stdout.strip().splitlines()[-1])["session_id"]
        except (IndexError, KeyError, ValueError):
            raise AssertionError(f"the client said: {done.stdout[-300:]} {done.stderr[-300:]}") from None
        return session, Stub.requests[seen:]

    def file(self, session):
        return os.path.join(self.projects, f"{session}.jsonl")


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


def contents(message):
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def flat(content):
    """A result's content as text."""
    if isinstance(content, str):
        return content
    return "|".join(b.get("text", b.get("type", "")) for b in content or [])


def sent(request):
    """What the request says, without what the client itself adds."""
    out = []
    for message in request["messages"]:
        if message["role"] == "system":
            continue
        for block in contents(message):
            row = None
            if block["type"] == "text":
                text = block["text"].strip()
                is_ours = text and text not in BY_THE_CLIENT
                row = ("text", text) if is_ours and not text.startswith(REMINDERS) else None
            elif block["type"] == "tool_use":
                row = ("call", block["id"])
            elif block["type"] == "tool_result":
                text = flat(block.get("content")).strip()
                row = None if text.startswith("[Tool call interrupted") else ("result", block["tool_use_id"], text)
            elif block["type"] == "image":
                row = ("media",)
            if row:
                out.append((message["role"], *row))
    return out


def in_sight(views):
    """The same of our views. Attachments are put in the client's words, so they are left out."""
    out = []
    for view in views:
        for index, part in enumerate(view["parts"]):
            if part["inside"] is not None or part["kind"] == "reasoning":
                continue
            text = part["text"].strip()
            if text in BY_THE_CLIENT:
                continue
            if part["kind"] == "text" and text and not text.startswith(REMINDERS):
                out.append((view["role"], "text", text))
            elif part["kind"] == "call":
                out.append((view["role"], "call", part["id"]))
            elif part["kind"] == "result":
                inner = [p for p in view["parts"] if p["inside"] == index]
                text = text or "|".join(p["text"] if p["kind"] == "text" else "image" for p in inner).strip()
                out.append((view["role"], "result", part["id"], text))
            elif part["kind"] == "media":
                out.append((view["role"], "media"))
    return out


def check_valid(request):
    """Anthropic's rules: the user begins, every call is answered in the next message, nothing else is."""
    messages = [m for m in request["messages"] if m["role"] != "system"]
    assert messages[0]["role"] == "user", "the first message is the user's"
    open_calls = []
    for message in messages:
        found = contents(message)
        assert found, "no message is empty"
        assert all(b["type"] != "text" or b["text"].strip() for b in found), "no text is empty"
        if message["role"] == "assistant":
            assert not open_calls, f"calls without results: {open_calls}"
            open_calls = [b["id"] for b in found if b["type"] == "tool_use"]
        else:
            results = [b["tool_use_id"] for b in found if b["type"] == "tool_result"]
            kinds = [b["type"] == "tool_result" for b in found]
            assert sorted(kinds, reverse=True) == kinds, "results stand before text"
            assert sorted(results) == sorted(open_calls), f"{results} answer {open_calls}"
            open_calls = []
    assert not open_calls, "the last calls are answered"


def answered(rows):
    """Without calls that were never answered: the client makes an answer up, or leaves them out."""
    answers = {row[2] for row in rows if row[1] == "result"}
    return [row for row in rows if row[1] != "call" or row[2] in answers]


def same(what, request, views, ordered=True):
    check_valid(request)
    theirs, ours = answered(sent(request)), answered(in_sight(views))
    if not ordered:
        theirs, ours = sorted(theirs), sorted(ours)
    if theirs != ours:
        for n, (a, b) in enumerate(zip(theirs + [None], ours + [None])):
            assert a == b, f"{what}: block {n} sent is {str(a)[:300]}, in sight is {str(b)[:300]}"
    assert len(theirs) == len(ours)
    print(f"ok  {what}: {len(ours)} blocks", flush=True)


def own_session(client, ours):
    session, _ = client.say("alpha: make calls")
    for prompt in ["beta", "gamma: make calls", "delta"]:
        client.say(prompt, session)
    file = client.file(session)
    views = ours.views(file)
    kept = next(n for n, v in enumerate(views) if v["parts"][0]["text"].startswith("gamma"))
    ours.compact(file, "THE FIRST SUMMARY", len(views) - kept, 0)
    expect = ours.views(file)
    _, [request] = client.say(PROMPT, session)
    same("compacted by us", request, expect)
    text = json.dumps(request["messages"])
    for needle in ["THE FIRST SUMMARY", "alpha: make calls", "gamma: make calls", "short-b", "delta",
                   "[the rest was left out]", PROMPT]:
        assert needle in text, f"{needle} is sent"
    for needle in ["beta", "calling for: alpha", "899\\n900"]:
        assert needle not in text, f"{needle} is not sent"

    client.say("epsilon: make calls", session)
    views = ours.views(file)
    assert [v["parts"][0]["text"] for v in views[:2]] == ["THE FIRST SUMMARY", "alpha: make calls"]
    # The pinned first message, gamma's calls with the cut result, and the newest turn.
    gamma = next(n for n, v in enumerate(views) if v["parts"][0]["text"].startswith("gamma"))
    newest = next(n for n, v in enumerate(views) if v["parts"][0]["text"].startswith("epsilon"))
    ours.compact(file, "THE SECOND SUMMARY", len(views) - newest, 1, *range(gamma, gamma + 6))
    expect = ours.views(file)
    _, [request] = client.say(PROMPT, session)
    same("compacted by us once more", request, expect)
    text = json.dumps(request["messages"])
    assert "THE FIRST SUMMARY" not in text and "[the rest was left out]" in text and "delta" not in text

    client.say("/compact", session)
    expect = ours.views(file)
    _, [request] = client.say(PROMPT, session)
    same("compacted by the client on top", request, expect)


def real_session(client, ours, source):
    name = "/".join(source.split("/")[-2:])
    text = open(source, encoding="utf-8").read()
    found = re.search(r'"sessionId": ?"([^"]+)"', text)
    if not found or "__subagents__" in name or name.endswith(("edge_cases.jsonl", "agent-test-hash-123.jsonl",
                                                              "agent-test-hash-456.jsonl")):
        return
    if not re.search(r'"parentUuid": ?"', text):
        return  # the client sends one message of such a file
    for what in ["as it is", "half of it"]:
        session = str(uuid.uuid4())
        file = client.file(session)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text.replace(found[1], session))
        if what == "half of it":
            views = ours.views(file)
            first = len(views) // 2
            while first < len(views) and is_inside(views, first):
                first += 1
            ours.compact(file, "SUMMARY OF HALF", len(views) - first, 0)
        expect = ours.views(file)
        _, requests = client.say(PROMPT, session)
        # The client puts recovered blocks of a reply last; the file has them in the order of the model.
        same(f"{name} {what}", requests[-1], expect, ordered=False)


def is_inside(views, at):
    """Whether a call before `at` is answered behind it, or a reply goes on."""
    calls = {p["id"] for v in views[:at] for p in v["parts"] if p["kind"] == "call"}
    answers = {p["id"] for v in views[at:] for p in v["parts"] if p["kind"] == "result"}
    reply = views[at]["reply"]
    return bool(calls & answers) or (reply is not None and any(v["reply"] == reply for v in views[:at]))


def main():
    client = os.environ.get("CLAUDE_CODE") or shutil.which("claude")
    if not client or not os.path.exists(client):
        return print("Claude Code not found (CLAUDE_CODE=/path/to/claude), resume test left out")
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
    with tempfile.TemporaryDirectory() as folder:
        client = Client(client, server.server_address[1], folder)
        own_session(client, ours)
        files = sorted(glob.glob(os.path.join(SHARED, "data", "claude-code-*", "*.jsonl")))
        if not files:
            print("shared data not found, real sessions left out")
        for file in files:
            real_session(client, ours, file)
    print("all well")


if __name__ == "__main__":
    main()
