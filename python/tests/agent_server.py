"""A server that speaks as OpenAI's chat completions and Anthropic's messages do, for agents of many turns.

It is as strict as they are: a result without its call, or a call without its result, is a 400. To a request it answers with
calls of ``look`` (two at once every third time), each tenth time with one of ``approve``; to results with a sentence; to
whoever is asked to sum up with a note. What it writes in a note is in no other answer.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NOTE = "## Goal\nLook at the gates, one a turn, zanzibar.\n## State\n- several gates were seen to be open"
SAID = "Looked. " + "Nothing of note there. " * 8


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[Any] = []
        self.refused: list[str] = []
        self.ids = itertools.count()
        self.asked = itertools.count(1)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def notes(self) -> list[Any]:
        return [body for body in self.bodies if is_note(body)]

    @property
    def turns(self) -> list[Any]:
        return [body for body in self.bodies if not is_note(body)]

    def wanted(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Calls: id, tool, arguments."""
        n = next(self.asked)
        if n % 10 == 0:
            return [(f"call_{next(self.ids)}", "approve", {"what": f"gate {n}"})]
        return [(f"call_{next(self.ids)}", "look", {"at": n}) for _ in range(2 if n % 3 == 0 else 1)]


@contextmanager
def served() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_note(body: Any) -> bool:
    """Somebody asks for a summary: in the last message, or the only one."""
    last = json.dumps(body["messages"][-1]) + json.dumps(body.get("system") or "") + json.dumps(body["messages"][0])
    return "hand-over note" in last or "Messages to summarize" in last


def check(calls: list[str], results: list[str]) -> None:
    assert len(set(calls)) == len(calls), "a call twice"
    assert len(set(results)) == len(results), "two results for a call"
    assert calls == results, f"calls {calls[-4:]} and results {results[-4:]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *words: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        is_chat = self.path.endswith("/chat/completions")
        try:
            events, answer = (chat if is_chat else messages)(self.server, body)
        except AssertionError as error:
            self.server.refused.append(str(error))
            return self.send(400, json.dumps({"error": {"message": str(error), "type": "invalid"}}), "application/json")
        if not body.get("stream"):
            return self.send(200, json.dumps(answer), "application/json")
        named = "".join(
            (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events
        )
        self.send(200, named + ("data: [DONE]\n\n" if is_chat else ""), "text/event-stream")

    def send(self, status: int, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def chat(server: Server, body: Any) -> tuple[list[Any], Any]:
    turns = body["messages"]
    calls = [c["id"] for m in turns for c in m.get("tool_calls") or []]
    check(calls, [m["tool_call_id"] for m in turns if m["role"] == "tool"])
    message: dict[str, Any] = {"role": "assistant", "content": NOTE if is_note(body) else SAID}
    finish = "stop"
    if not is_note(body) and turns[-1]["role"] == "user":
        made = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for call, name, args in server.wanted()
        ]
        message = {"role": "assistant", "content": None, "tool_calls": made, "refusal": None}
        finish = "tool_calls"
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"]}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    delta = {**message, "tool_calls": [{**c, "index": i} for i, c in enumerate(message.get("tool_calls", []))]}
    chunk = {**whole, "object": "chat.completion.chunk"}
    pieces = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
    ]
    return pieces, {**whole, "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}


def messages(server: Server, body: Any) -> tuple[list[Any], Any]:
    turns = body["messages"]
    assert turns[0]["role"] == "user"
    blocks = [[b for b in m["content"] if isinstance(b, dict)] if isinstance(m["content"], list) else [] for m in turns]
    for at, said in enumerate(blocks):
        asked = {b["id"] for b in said if b["type"] == "tool_use"}
        told = {b["tool_use_id"] for b in (blocks[at + 1] if at + 1 < len(blocks) else []) if b["type"] == "tool_result"}
        assert asked == told, f"calls {asked} and results {told} behind them"
    calls = [b["id"] for said in blocks for b in said if b["type"] == "tool_use"]
    results = [b["tool_use_id"] for said in blocks for b in said if b["type"] == "tool_result"]
    check(calls, results)
    content: list[Any] = [{"type": "text", "text": NOTE if is_note(body) else SAID}]
    reason = "end_turn"
    if not is_note(body) and not any(b["type"] == "tool_result" for b in blocks[-1]):
        uses = [{"type": "tool_use", "id": call, "name": name, "input": args} for call, name, args in server.wanted()]
        content = [{"type": "text", "text": "I look."}, *uses]
        reason = "tool_use"
    usage = {"input_tokens": 10, "output_tokens": 5}
    whole = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": content}
    whole |= {"stop_reason": reason, "stop_sequence": None, "usage": usage}
    events: list[Any] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, block in enumerate(content):
        is_text = block["type"] == "text"
        start = {**block, "text": ""} if is_text else {**block, "input": {}}
        delta = {"type": "text_delta", "text": block["text"]} if is_text else {
            "type": "input_json_delta", "partial_json": json.dumps(block["input"])
        }
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return events, whole
