"""Threads of Python: others go on while Rust works, and errors arrive as what they are."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import conspectus
from conspectus import CompactionError, ConspectusError, Engine, Policy, _native, compact

POLICY = Policy(trigger=("tokens", 3000), keep=("messages", 4), window=20_000)


def messages(turns: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for turn in range(turns):
        made.append({"role": "user", "content": f"Turn {turn}? " + "It rained on the roses of the garden. " * 20})
        made.append({"role": "assistant", "content": f"So it is in bed {turn}. " * 20})
    return [*made, {"role": "user", "content": "And now?"}]


def test_another_thread_goes_on_while_rust_works() -> None:
    data = json.dumps(messages(400)).encode()
    document = _native.Document(data)
    policy = POLICY._native

    def ticks_during(work: Callable[[], object]) -> int:
        """How often another thread ran while one call of the native module did."""
        ticks, done = 0, threading.Event()

        def tick() -> None:
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                time.sleep(0.001)

        other = threading.Thread(target=tick)
        other.start()
        try:
            while not ticks:
                time.sleep(0.001)
            before, began = ticks, time.perf_counter()
            # The call alone: nothing else of ours runs meanwhile.
            while time.perf_counter() - began < 0.5:
                work()
            return ticks - before
        finally:
            done.set()
            other.join()

    # What would be seen if the lock were held: with calls that are long, the other thread comes once between two.
    calls = 0

    def work() -> None:
        nonlocal calls
        calls += 1
        document.compact(policy)

    ticks = ticks_during(work)
    assert ticks > 3 * calls + 5, f"{ticks} ticks in {calls} calls"


def test_many_threads_compact_at_a_time() -> None:
    engine = Engine(POLICY, model=lambda call: "## Goal\nA garden\n## State\n- it rained")
    lists = [messages(20 + n) for n in range(16)]
    alone = [engine.compact(m).messages for m in lists]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda m: engine.compact(m).messages, lists))
    assert together == alone


def test_every_exception_is_the_packages_and_a_failure_has_its_outcome() -> None:
    found = 0
    for info in pkgutil.walk_packages(conspectus.__path__, "conspectus."):
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            continue  # of an SDK that is not installed
        for name, value in inspect.getmembers(module, inspect.isclass):
            is_ours = value.__module__ == info.name and issubclass(value, Exception) and not name.startswith("_")
            if is_ours and info.name != "conspectus._sdk":
                assert issubclass(value, ConspectusError), name
                found += 1
    assert found >= 5

    def broken(call: object) -> str:
        raise KeyError("no such model")

    with pytest.raises(CompactionError) as raised:
        compact(messages(20), Policy(trigger=("tokens", 3000), on_failure="error"), model=broken)
    assert raised.value.outcome == raised.value.report.outcome == "failed"
    assert isinstance(raised.value.__cause__, KeyError)
