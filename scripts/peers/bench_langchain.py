#!/usr/bin/env python3
"""What the check before a model call costs, LangChain's and ours, over the same conversations in the same run.

    scripts/peers/bench_langchain.py [--venv DIR] [--mean-bytes 400] [MESSAGES ...]

Installs langchain from PyPI into DIR (outside the repository; made when it is missing) and builds our programs.
LangChain's part is SummarizationMiddleware.before_model below its trigger, with its default counter; ours is
`turns` of crates/bench: a call and its result are appended, then before_call, then the projection.
Prints a table in Markdown. Runs of the two alternate. LangChain's figure is the least of all checks, ours the least
median of a run, so that other load on the machine counts against us rather than against LangChain.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 3


def langchain_seconds(file):
    """The least that LangChain's check over the conversation in `file` took."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages

    messages = convert_to_messages(json.loads(pathlib.Path(file).read_text()))
    middleware = SummarizationMiddleware(
        model=FakeListChatModel(responses=["a summary"]), trigger=("tokens", 1 << 40), keep=("messages", 20)
    )
    state = {"messages": messages}
    middleware.before_model(state, None)  # gives every message an id, once
    times = []
    while len(times) < 5 or (sum(times) < 2 and len(times) < 200):
        start = time.perf_counter()
        result = middleware.before_model(state, None)
        times.append(time.perf_counter() - start)
        assert result is None, "no trigger is reached"
    return min(times)


def inside():
    """In the virtual environment: one line of JSON."""
    from importlib.metadata import version

    print(json.dumps({"version": version("langchain"), "seconds": langchain_seconds(sys.argv[2])}))


def run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--venv", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "conspectus-langchain")
    options.add_argument("--mean-bytes", type=int, default=400)
    options.add_argument("messages", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    options = options.parse_args()
    python = options.venv / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", str(options.venv))
        run(str(python), "-m", "pip", "install", "--quiet", "langchain")
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "conspectus-bench", "--bins"], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    print("| messages | LangChain, µs | ours, whole, µs | ours, compacted, µs | LangChain / ours, whole |")
    print("|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for size in options.messages:
            file = f"{folder}/{size}.json"
            run(str(target / "open"), "make", "openai", str(size), str(options.mean_bytes), file)
            theirs, ours = [], {False: [], True: []}
            for _ in range(RUNS):
                peer = json.loads(run(str(python), __file__, "--inside", file))
                theirs.append(peer["seconds"] * 1e6)
                for line in run(str(target / "turns"), str(options.mean_bytes), str(size)).splitlines():
                    row = json.loads(line)
                    ours[row["compacted"]].append(row["turn_us"] + row["projection_us"])
            whole, compacted = min(ours[False]), min(ours[True])
            print(f"| {size:,} | {min(theirs):,.0f} | {whole:.1f} | {compacted:.1f} | {min(theirs) / whole:,.0f} |", flush=True)
    load = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    print(f"\nlangchain {peer['version']}, Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside()
    else:
        main()
