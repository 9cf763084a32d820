"""Checked by mypy, never run: what a typed program writes."""

from __future__ import annotations

from conspectus import Compacted, Engine, ModelCall, Policy, Reply, compact


def model(call: ModelCall) -> Reply:
    return Reply(call.document[:100])


async def amodel(call: ModelCall) -> str:
    return call.system


def use() -> tuple[str, int | None]:
    made: Compacted = compact([{"role": "user", "content": "hi"}], Policy(trigger=("tokens", 1000)), model=model)
    Engine(model=amodel)
    return made.report.outcome, made.report.tokens_after
