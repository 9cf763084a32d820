"""Runs `conspectus serve` beside a receiver, compacts threads, and looks at the spans. check.py PROGRAM"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from receiver import Receiver, attributes

# What was said, and what must not be told. Two of them are secrets of the configuration.
WORDS = ["quagga", "gnomon", "sk-test-4fQ9zK2mW7xT1bVc8NdR5yHj", "header-secret-81"]
KEY, HEADER = WORDS[2], WORDS[3]
TRACE, CLIENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Service:
    """The program, with this environment. Always ended."""

    def __init__(self, program, work, **env):
        self.out, self.err = open(f"{work}/out", "w+"), open(f"{work}/err", "w+")
        command = [program, "serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{work}/threads.db"]
        clean = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
        config = {"CONSPECTUS_CONFIG_FILE": f"{work}/config.yaml"} if os.path.exists(f"{work}/config.yaml") else {}
        if config:
            command += ["--config", f"{work}/config.yaml"]
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err, env=clean | env)
        for _ in range(600):
            line = open(f"{work}/out").read()
            if line.startswith("listening on "):
                self.url = line.split()[2]
                break
            assert self.process.poll() is None, open(f"{work}/err").read()
            time.sleep(0.05)

    def log(self):
        return open(self.err.name).read()

    def post(self, path, body, headers=()):
        data = json.dumps(body).encode()
        headers = {"content-type": "application/json"} | dict(headers)
        request = urllib.request.Request(f"{self.url}/api{path}", data, headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def end(self):
        """Stops it as a service manager does. How long that took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        return time.monotonic() - began

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def talk():
    return [
        {
            "type": "human" if at % 2 == 0 else "ai",
            "content": f"Step {at} is about src/part{at}.py, a {WORDS[0]} and a {WORDS[1]}: "
            + " ".join(f"w{at * 97 + word}" for word in range(200)),
        }
        for at in range(16)
    ]


def thread(service, name):
    assert service.post("/threads", {"thread_id": name, "metadata": {"animal": WORDS[0]}})[0] in (200, 201)
    assert service.post(f"/threads/{name}/messages", {"messages": talk()})[0] in (200, 201)


KEEP = {"keep": {"type": "messages", "value": 2}, "focus": WORDS[1]}


def told(program, work):
    """Spans of a compaction by a model, one whose model fails, and what came before."""
    receiver = Receiver()
    model = f"{{name: small, model: real-small, base_url: '{receiver.url}/v1', api_key: {KEY}}}"
    with open(f"{work}/config.yaml", "w") as file:
        file.write(f"models:\n  - {model}\nsummarization:\n  preset: default\n  on_failure: unchanged\n  max_retries: 0\n")
    service = Service(
        program,
        work,
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS=f"x-collector-key={HEADER}",
        OTEL_SERVICE_NAME="tea-house",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test",
    )
    try:
        thread(service, "t1")
        parent = {"traceparent": f"00-{TRACE}-{CLIENT}-01"}
        status, done = service.post("/threads/t1/compact", KEEP, parent)
        assert status == 200 and done["compacted"], (status, done, service.log())
        thread(service, "t2")
        receiver.fails = True
        status, failed = service.post("/threads/t2/compact", KEEP)
        assert status == 500 and "otel" not in service.log(), (status, failed, service.log())
        assert service.post("/threads/nowhere/compact", {})[0] == 404
        urllib.request.urlopen(f"{service.url}/healthz").read()
        took = service.end()
        assert took < 15, took
    finally:
        service.kill()
    look(receiver)
    print(f"{len(receiver.spans)} spans of a service at a receiver: names, attributes, parents; nothing of what was said")


def look(receiver):
    assert all(headers["x-collector-key"] == HEADER for headers in receiver.headers)
    for resource in receiver.resources:
        assert resource["service.name"] == "tea-house" and resource["service.version"], resource
        assert resource["deployment.environment.name"] == "test" and resource["service.instance.id"], resource
    for body in receiver.bodies:
        for word in WORDS + ["Step 1", "gone through"]:
            assert word.encode() not in body, f"{word} is told"

    # Each ended once, after it began and not before those within it.
    spans = {span.span_id: span for span in receiver.spans}
    assert len(spans) == len(receiver.spans), "a span came twice"
    for span in spans.values():
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
        if span.parent_span_id and span.parent_span_id != bytes.fromhex(CLIENT):
            above = spans[span.parent_span_id]
            assert above.trace_id == span.trace_id and above.start_time_unix_nano <= span.start_time_unix_nano, span
            assert span.end_time_unix_nano <= above.end_time_unix_nano, (above.name, span.name)
        known = ("gen_ai.", "server.", "http.", "url.", "error.type", "conspectus.")
        assert all(name.startswith(known) for name in attributes(span.attributes)), span

    def found(name, **wanted):
        wanted = {name.replace("__", "."): text for name, text in wanted.items()}
        every = [s for s in spans.values() if s.name == name]
        every = [(s, attributes(s.attributes)) for s in every]
        return [(s, of) for s, of in every if wanted.items() <= of.items()]

    def one(name, **wanted):
        every = found(name, **wanted)
        assert len(every) == 1, (name, wanted, sorted(s.name for s in spans.values()))
        return every[0]

    route = "POST /api/threads/{thread_id}/compact"
    request, of = one(route, gen_ai__conversation__id="t1")
    assert request.kind == Span.SPAN_KIND_SERVER and request.trace_id.hex() == TRACE, request
    assert request.parent_span_id.hex() == CLIENT, request
    assert of["http.request.method"] == "POST" and of["http.response.status_code"] == 200, of
    assert of["conspectus.tenant"] == "default" and of["conspectus.request.id"], of

    attempt, of = one("compact", gen_ai__conversation__id="t1")
    assert attempt.parent_span_id == request.span_id and attempt.kind == Span.SPAN_KIND_INTERNAL, attempt
    assert attempt.status.code == Status.STATUS_CODE_UNSET, attempt
    assert of["gen_ai.operation.name"] == "compact" and of["conspectus.compaction.outcome"] == "compacted", of
    assert of["conspectus.compaction.trigger"] == "manual" and of["conspectus.compaction.strategy"] == "transcript", of
    assert of["conspectus.compaction.tokens_after"] < of["conspectus.compaction.tokens_before"], of
    assert of["conspectus.compaction.messages_after"] < of["conspectus.compaction.messages_before"] == 16, of
    assert of["gen_ai.usage.input_tokens"] % 4000 == 0 and of["conspectus.compaction.model"] == "small", of

    calls = [(s, of) for s, of in found("chat real-small") if s.parent_span_id == attempt.span_id]
    assert len(calls) == len(receiver.asked) >= 1, (calls, len(receiver.asked))
    port = int(receiver.url.rsplit(":", 1)[1])
    for call, of in calls:
        assert call.kind == Span.SPAN_KIND_CLIENT and call.status.code == Status.STATUS_CODE_UNSET, call
        assert of["gen_ai.operation.name"] == "chat" and of["gen_ai.provider.name"] == "openai", of
        assert of["gen_ai.request.model"] == "real-small" and of["gen_ai.request.max_tokens"] > 0, of
        assert of["gen_ai.conversation.id"] == "t1" and of["gen_ai.output.type"] in ("text", "json"), of
        assert of["gen_ai.usage.input_tokens"] == 4000 and of["gen_ai.usage.output_tokens"] == 20, of
        assert of["gen_ai.usage.cache_read.input_tokens"] == 1024, of
        assert of["server.address"] == "127.0.0.1" and of["server.port"] == port, of
        assert of["gen_ai.response.time_to_first_chunk"] >= 0 and of["conspectus.call.finish"] == "stop", of

    commit, of = one("store commit", gen_ai__conversation__id="t1")
    assert commit.parent_span_id == attempt.span_id and of["conspectus.store.outcome"] == "done", (commit, of)
    appended, of = one("store write", gen_ai__conversation__id="t1", conspectus__store__messages=16)
    above = spans[appended.parent_span_id]
    assert above.name == "POST /api/threads/{thread_id}/messages" and not above.parent_span_id, above

    request, of = one(route, gen_ai__conversation__id="t2")
    assert of["http.response.status_code"] == 500 and request.status.code == Status.STATUS_CODE_ERROR, request
    attempt, of = one("compact", gen_ai__conversation__id="t2")
    assert attempt.parent_span_id == request.span_id and attempt.status.code == Status.STATUS_CODE_ERROR, attempt
    assert of["conspectus.compaction.outcome"] == "failed" and of["error.type"] == "unusable", of
    failed = [(s, of) for s, of in found("chat real-small") if s.parent_span_id == attempt.span_id]
    assert len(failed) >= 1, "no call for t2"
    for call, of in failed:
        assert call.status.code == Status.STATUS_CODE_ERROR and of["error.type"] == "unusable", (call, of)
        assert "gen_ai.usage.input_tokens" not in of, of

    missing, of = one(route, http__response__status_code=404)
    assert missing.status.code == Status.STATUS_CODE_UNSET and of["conspectus.problem"], (missing, of)
    assert not any("healthz" in span.name for span in spans.values())


def dead(program, work):
    """A collector that is not there, and one that never answers: nothing waits, and the end comes in time."""
    import socket

    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    silent.listen(64)
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    for name, port in [("closed", port), ("silent", silent.getsockname()[1])]:
        place = f"{work}/{name}"
        os.mkdir(place)
        service = Service(program, place, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}", OTEL_BSP_SCHEDULE_DELAY="50")
        try:
            began = time.monotonic()
            thread(service, "t")
            status, done = service.post("/threads/t/compact", KEEP)
            assert status == 200 and done["compacted"], (status, done)
            served = time.monotonic() - began
            took = service.end()
            assert service.process.returncode == 0, service.process.returncode
            log = service.log()
            assert "otel: " in log, log
            assert took < 12, took
            assert all(word not in log for word in WORDS), log
        finally:
            service.kill()
        print(f"a collector that is {name}: served in {served:.1f} s, ended in {took:.1f} s")


def silent(program, work):
    """Without a name for a collector, or with the SDK off, nothing is exported; what is not spoken is said."""
    receiver = Receiver()
    here = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
    every = [
        ("nobody", {}, ""),
        ("off", here | {"OTEL_SDK_DISABLED": "true"}, ""),
        ("none", here | {"OTEL_TRACES_EXPORTER": "none"}, ""),
        ("grpc", here | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otel: spans are not exported: only http/protobuf is spoken"),
        ("odd", {"OTEL_EXPORTER_OTLP_ENDPOINT": HEADER}, "OTEL_EXPORTER_OTLP_ENDPOINT is no address"),
    ]
    for name, env, said in every:
        place = f"{work}/{name}"
        os.mkdir(place)
        service = Service(program, place, **env)
        try:
            thread(service, "t")
            service.end()
            log = service.log()
            assert (said in log) if said else ("otel" not in log), (name, log)
            assert HEADER not in log, log
        finally:
            service.kill()
    assert not receiver.spans
    print(f"{len(every)} ways to export nothing: nothing came")


def main():
    with tempfile.TemporaryDirectory() as work:
        for name, test in [("told", told), ("dead", dead), ("silent", silent)]:
            os.mkdir(f"{work}/{name}")
            test(sys.argv[1], f"{work}/{name}")


main()
