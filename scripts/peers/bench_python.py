#!/usr/bin/env python3
"""`before_model` of LangChain's class and of ours, side by side in one run: medians and ratios.

    CONSPECTUS_PYTHON_PROFILE=release scripts/python-test.sh -k quick_look   # builds the wheel and installs it
    PYTHON scripts/peers/bench_python.py [--runs N] [--turns N] [MESSAGES ...]   # that environment's Python

Three tables: a check below its trigger, or without one, over lists of messages, at first sight (no message was seen before) and a turn
later (two messages more; the old ones are the same objects); a session of many turns in total; and a check that fires,
with a model that answers at once. The two alternate within each run, so other load hits both.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware as Theirs
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from conspectus.langchain import SummarizationMiddleware as Ours

BOTH = {"LangChain": Theirs, "ours": Ours}
NEVER = ("tokens", 1 << 40)


def turn(at: int) -> list[Any]:
    """A request, a call with its result, and an answer: 400 bytes a message in the mean."""
    call = {"name": "run", "args": {"command": f"ls -la /srv/site/{at} | sort | head", "timeout": 30}, "id": f"call_{at}"}
    usage = {"input_tokens": 900 + at, "output_tokens": 40, "total_tokens": 940 + at}
    meta = {"model_provider": "openai"}
    return [
        HumanMessage(f"Turn {at}: please look at the next file. " * 8, id=f"h{at}"),
        AIMessage("", tool_calls=[call], usage_metadata=usage, response_metadata=meta, id=f"a{at}"),
        ToolMessage("-rw-r--r-- 1 site site 4096 index.html\n" * 16, tool_call_id=f"call_{at}", id=f"t{at}"),
        AIMessage("The file is there and was changed today. " * 10, response_metadata=meta, id=f"b{at}"),
    ]


def made(number: int, begin: int = 0) -> list[Any]:
    messages: list[Any] = []
    while len(messages) < number:
        messages += turn(begin + len(messages))
    return messages[:number]


def middleware(which: Callable[..., Any], trigger: Any = NEVER, keep: Any = ("messages", 20)) -> Any:
    return which(FakeListChatModel(responses=["The files were looked at, one a turn."]), trigger=trigger, keep=keep)


def timed(act: Callable[[], Any]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def checks(number: int, runs: int, trigger: Any) -> dict[str, tuple[float, float]]:
    """Seconds of a first look, and of a turn afterwards."""
    first: dict[str, list[float]] = {name: [] for name in BOTH}
    later: dict[str, list[float]] = {name: [] for name in BOTH}
    for run in range(runs):
        for name, which in BOTH.items():
            # Ids too are new, or what was seen under them would be known.
            messages = made(number, begin=(run + 1) * 10_000_000)
            one = middleware(which, trigger)
            gc.collect()
            gc.disable()
            first[name].append(timed(lambda: one.before_model({"messages": messages}, None)))
            for extra in range(5):
                messages += turn(run * 10_000_000 - extra - 1)[2:]
                later[name].append(timed(lambda: one.before_model({"messages": messages}, None)))
            gc.enable()
    return {name: (statistics.median(first[name]), statistics.median(later[name])) for name in BOTH}


def session(turns: int) -> dict[str, float]:
    """Seconds of all checks of a session; two a turn, as an agent with a tool makes them."""
    spent = dict.fromkeys(BOTH, 0.0)
    for name, which in BOTH.items():
        one, messages = middleware(which), []
        for at in range(turns):
            new = turn(20_000_000_000 + at)
            messages += new[:1]
            spent[name] += timed(lambda: one.before_model({"messages": messages}, None))
            messages += new[1:3]
            spent[name] += timed(lambda: one.before_model({"messages": messages}, None))
            messages += new[3:]
    return spent


def firing(number: int, runs: int) -> dict[str, float]:
    spent: dict[str, list[float]] = {name: [] for name in BOTH}
    for run in range(runs):
        for name, which in BOTH.items():
            messages = made(number, begin=(run + 1) * 30_000_000)
            one = middleware(which, trigger=("messages", 10))
            spent[name].append(timed(lambda: one.before_model({"messages": messages}, None)))
    return {name: statistics.median(times) for name, times in spent.items()}


def row(what: str, theirs: float, ours: float) -> None:
    print(f"| {what} | {theirs * 1e6:,.0f} µs | {ours * 1e6:,.0f} µs | {theirs / ours:,.1f} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--turns", type=int, default=2_000)
    options.add_argument("messages", type=int, nargs="*", default=[100, 1_000, 10_000, 100_000])
    said = options.parse_args()
    print("| check that no trigger is reached | LangChain | ours | ratio |\n|---|--:|--:|--:|")
    for number in said.messages:
        for named, trigger in (("below it", NEVER), ("none given", None)):
            found = checks(number, said.runs, trigger)
            for at, what in enumerate(("first look", "a turn later")):
                row(f"{number:,} messages, {named}, {what}", found["LangChain"][at], found["ours"][at])
    total = session(said.turns)
    row(f"{said.turns:,} turns in total", total["LangChain"], total["ours"])
    for number in (100, 1_000):
        fired = firing(number, said.runs)
        row(f"{number:,} messages, firing", fired["LangChain"], fired["ours"])
    load = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    names = ", ".join(f"{name} {version(name)}" for name in ("langchain", "langchain-core", "conspectus"))
    print(f"\n{names}, Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load}")


if __name__ == "__main__":
    main()
