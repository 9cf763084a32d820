"""Checked by mypy, never run: what a typed program writes."""

from __future__ import annotations

import conspectus.anthropic
import conspectus.openai
from conspectus import Compacted, Engine, ModelCall, Policy, Reply, compact
from conspectus.batch import BatchReport, Compact, report
from conspectus.import_checkpoints import ImportReport, import_threads


def model(call: ModelCall) -> Reply:
    return Reply(call.document[:100])


async def amodel(call: ModelCall) -> str:
    return call.system


def use() -> tuple[str, int | None]:
    made: Compacted = compact([{"role": "user", "content": "hi"}], Policy(trigger=("tokens", 1000)), model=model)
    Engine(model=amodel)
    return made.report.outcome, made.report.tokens_after


async def use_all() -> tuple[object, BatchReport, ImportReport]:
    made = conspectus.openai.compact([{"role": "user", "content": "hi"}], window=1000, model=model)
    messages: list[object] = made.messages
    kept = await conspectus.anthropic.acompact(messages, system="Be short.", model=amodel)
    rows = [Compact(Policy(), model=model)({"messages": messages})]
    return kept.system, report(rows), import_threads("checkpoints.db", "threads")
