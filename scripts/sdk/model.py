"""A model on this machine that answers as scripted, in OpenAI's format: for scripts that run agents. Prints its URL.

It calls a tool once where the last message asks what was said, asks a question back where it is asked for tea, and else
repeats what it was told. Summaries are one sentence.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(body):
    messages = body["messages"]
    last = messages[-1]
    text = last["content"] if isinstance(last["content"], str) else "".join(b.get("text", "") for b in last["content"])
    if not body.get("tools"):
        return "The plan was gone through step by step.", None
    if last["role"] == "tool":
        return f"It says: {text[:80]}", None
    if "tea" in text.lower():
        return "", ("ask_clarification", {"question": "Green or black?"})
    if "what was said" in text.lower():
        return "Let me look.", ("recall", {"query": "valve"})
    return f"You said: {text[:200]}", None


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, call = reply(body)
        half = len(text) // 2
        deltas = [{"role": "assistant", "content": text[:half]}, {"content": text[half:]}]
        if call:
            name, args = call
            function = {"name": name, "arguments": json.dumps(args)}
            number = sum(1 for message in body["messages"] if message["role"] == "tool")
            deltas.append({"tool_calls": [{"index": 0, "id": f"call-{number}", "type": "function", "function": function}]})
        chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5}})
        stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(stream.encode())))
        self.end_headers()
        self.wfile.write(stream.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
server.serve_forever()
