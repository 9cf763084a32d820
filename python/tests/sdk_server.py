"""A server that speaks as the APIs of OpenAI and Anthropic do, as far as their SDKs ask, and checks what it is sent.

It calls the tool ``look`` and, given its result, says so. Whoever is asked for a hand-over note gets one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NOTE = "## Goal\nLook at the gates, one a turn.\n## State\n- several gates were seen to be open"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, Any]] = []
        #: Statuses to answer with before anything else, and their bodies.
        self.failures: list[tuple[int, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def bodies(self, path: str) -> list[Any]:
        """Requests but those for a summary."""
        return [body for at, body in self.requests if at.endswith(path) and not is_note(body)]

    @property
    def notes(self) -> list[Any]:
        return [body for _, body in self.requests if is_note(body)]


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
    return "hand-over note" in json.dumps(body)


def check(calls: list[str], results: list[str]) -> None:
    """What the real APIs refuse with 400."""
    assert len(set(results)) == len(results), "two results for a call"
    assert calls == results, f"calls {calls} and results {results}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *words: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        if self.server.failures:
            status, said = self.server.failures.pop(0)
            return self.send(status, json.dumps(said), "application/json")
        try:
            kind = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}[self.path]
            events, answer = kind(body)
        except AssertionError as error:
            return self.send(400, json.dumps({"error": {"message": str(error), "type": "invalid"}}), "application/json")
        if not body.get("stream"):
            return self.send(200, json.dumps(answer), "application/json")
        named = "".join(
            (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events
        )
        return self.send(200, named + ("data: [DONE]\n\n" if kind is chat else ""), "text/event-stream")

    def send(self, status: int, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def chat(body: Any) -> tuple[list[Any], Any]:
    turns = body["messages"]
    calls = [c["id"] for m in turns for c in m.get("tool_calls") or []]
    check(calls, [m["tool_call_id"] for m in turns if m["role"] == "tool"])
    n = len(turns)
    message: dict[str, Any] = {"role": "assistant", "content": NOTE}
    finish = "stop"
    if not is_note(body):
        message["content"] = f"Looked, at {n}. " + "Nothing of note there. " * 20
        if turns[-1]["role"] == "user" and body.get("tools"):
            call = {"name": "look", "arguments": json.dumps({"at": n})}
            made = [{"id": f"call_{len(calls)}_{k}", "type": "function", "function": call} for k in range(2)]
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


def responses(body: Any) -> tuple[list[Any], Any]:
    items = body["input"]
    calls = [i["call_id"] for i in items if i.get("type") == "function_call"]
    check(calls, [i["call_id"] for i in items if i.get("type") == "function_call_output"])
    n = len(items)
    reasoning = {"type": "reasoning", "id": f"rs_{n}", "summary": []}
    text = {"type": "output_text", "text": f"Looked, at {n}. " + "Nothing of note there. " * 20, "annotations": []}
    said = {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed", "content": [text]}
    call = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{len(calls)}", "name": "look"}
    call |= {"arguments": json.dumps({"at": n}), "status": "completed"}
    output = [reasoning, call] if items[-1].get("role") == "user" else [said]
    answer = {"id": "r", "object": "response", "created_at": 1, "model": body["model"], "output": output}
    answer |= {"status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    created: list[Any] = [{"type": "response.created", "sequence_number": 0, "response": {**answer, "output": []}}]
    done: list[Any] = [{"type": "response.completed", "sequence_number": 9, "response": answer}]
    return created + done, answer


def messages(body: Any) -> tuple[list[Any], Any]:
    turns = body["messages"]
    blocks = [b for m in turns if isinstance(m["content"], list) for b in m["content"]]
    calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
    check(calls, [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"])
    assert turns[0]["role"] == "user"
    n = len(turns)
    text = NOTE if is_note(body) else f"Looked, at {n}. " + "Nothing of note there. " * 20
    content: list[Any] = [{"type": "text", "text": text}]
    reason = "end_turn"
    if isinstance(turns[-1]["content"], str) and body.get("tools"):
        content = [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": f"toolu_{len(calls)}", "name": "look", "input": {"at": n}},
        ]
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
