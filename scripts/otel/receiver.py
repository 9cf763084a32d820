"""A small OTLP receiver over HTTP, and beside it a model that speaks chat completions."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse


def value(any_value):
    """A protobuf AnyValue as plain Python."""
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(one) for one in any_value.array_value.values]
    return getattr(any_value, kind) if kind else None


def attributes(of):
    return {pair.key: value(pair.value) for pair in of}


class Receiver:
    """Keeps every span that comes, and every request as it came."""

    def __init__(self):
        self.spans, self.bodies, self.headers, self.resources = [], [], [], []
        self.asked = []
        self.reply = "The plan was gone through step by step; src/part1.rs is about step 1."
        self.fails = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/v1/traces":
                    answer, kind = outer.take(body, dict(self.headers)), "application/x-protobuf"
                elif self.path == "/v1/chat/completions":
                    if outer.fails:
                        self.send_error(401)
                        return
                    answer, kind = outer.model(json.loads(body)), "application/json"
                else:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, body, headers):
        assert headers.get("content-type") == "application/x-protobuf", headers
        request = ExportTraceServiceRequest.FromString(body)
        self.bodies.append(body)
        self.headers.append({name.lower(): text for name, text in headers.items()})
        for resource in request.resource_spans:
            self.resources.append(attributes(resource.resource.attributes))
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return ExportTraceServiceResponse().SerializeToString()

    def model(self, request):
        self.asked.append(request)
        message = {"role": "assistant", "content": self.reply}
        usage = {"prompt_tokens": 4000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 1024}}
        answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
        return json.dumps(answer).encode()
