"""An upstream as scripted: OpenAI's chat and Responses, Anthropic's Messages, from the example bodies of the project.

    upstream.py BODIES LIMIT     prints its address; requests larger than LIMIT bytes are refused as too large

GET /seen gives what it was asked so far, one entry a request: path, bytes, messages, tools, whether it was refused.
"""

import json
import pathlib
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODIES = pathlib.Path(sys.argv[1])
LIMIT = int(sys.argv[2])
SEEN = []


def example(name, size=0):
    """An example, with the usage of a request of `size` bytes."""
    text = (BODIES / name).read_text()
    text = re.sub(r'"(cache_read_input_tokens|cache_creation_input_tokens|cached_tokens)":( ?)\d+', r'"\1":\g<2>0', text)
    text = re.sub(r'"(input_tokens|prompt_tokens)":( ?)\d+', rf'"\1":\g<2>{size // 4}', text)
    # Each answer has ids of its own, as those of a provider have.
    text = re.sub(r'"((?:msg|toolu|call|resp|fc|rs|chatcmpl)[-_][\w-]+)"(?!\s*:)', rf'"\1_{len(SEEN)}"', text)
    return text.encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("x-request-id", f"req_{len(SEEN)}")
        self.end_headers()
        self.wfile.write(body)

    def stream(self, name, size):
        """As chunks that are cut anywhere."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        body = example(name, size)
        for at in range(0, len(body), 61):
            piece = body[at : at + 61]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        if self.path == "/seen":
            return self.answer(200, json.dumps(SEEN).encode())
        self.answer(200, b'{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"x"}]}')

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        path = self.path.split("?")[0]
        items = body.get("messages", body.get("input"))
        seen = {
            "path": path,
            "client": self.headers.get("user-agent", ""),
            "bytes": len(raw),
            "messages": len(items) if isinstance(items, list) else 1,
            "tools": len(body.get("tools") or []),
            "refused": len(raw) > LIMIT,
            "raw": raw.decode(),
        }
        SEEN.append(seen)
        claude = path.endswith("/messages") or path.endswith("/count_tokens")
        if seen["refused"]:
            if claude:
                said = f"prompt is too long: {len(raw) // 4} tokens > {LIMIT // 4} maximum"
                error = {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
            else:
                said = f"This model's maximum context length is {LIMIT // 4} tokens. However, your messages resulted in {len(raw) // 4} tokens."
                error = {"error": {"message": said, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}
            return self.answer(400, json.dumps(error).encode())
        streams, size = body.get("stream"), len(raw)
        # An agent is given so many calls, then a last word.
        of_it = [entry for entry in SEEN if (entry["path"], entry["client"]) == (path, seen["client"])]
        allowed = body.get("tool_choice") not in ["none", {"type": "none"}]
        tools = bool(body.get("tools")) and allowed and sum(entry["tools"] > 0 for entry in of_it) <= 8
        if path.endswith("/count_tokens"):
            return self.answer(200, example("anthropic/count_tokens.response.json", size))
        if claude:
            if streams:
                return self.stream("anthropic/stream.thinking_tool.sse" if tools else "anthropic/stream.text.sse", size)
            reply = json.loads(example("anthropic/response.tool_use.json" if tools else "anthropic/response.json", size))
            if tools and body.get("thinking"):
                reply["content"].insert(0, {"type": "thinking", "thinking": "A command helps.", "signature": "made-up"})
            return self.answer(200, json.dumps(reply).encode())
        if path.endswith("/responses"):
            if streams:
                return self.stream("openai-responses/stream.function_call.sse" if tools else "openai-responses/stream.text.sse", size)
            return self.answer(200, example("openai-responses/response.json", size))
        if streams:
            return self.stream("openai-chat/stream.tool_calls.sse" if tools else "openai-chat/stream.text.sse", size)
        self.answer(200, example("openai-chat/response.tool_calls.json" if tools else "openai-chat/response.json", size))


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
