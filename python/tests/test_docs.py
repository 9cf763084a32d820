"""The examples of ``docs/python.md``, in order, in one namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from conftest import scripted
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from sdk_server import served

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
LONG = "It rained all day, and the garden was glad of it. " * 200


@pytest.fixture(name="client")
def _client() -> Iterator[Any]:
    with served() as server:
        yield openai.OpenAI(api_key="k", base_url=f"{server.url}/v1")


def test_the_examples_run(capsys: Any, client: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    known: dict[str, Any] = {
        "HumanMessage": HumanMessage,
        "InMemorySaver": InMemorySaver,
        "ask": lambda system, document: "## Goal\nThe weather of the garden\n## State\n- it rained all day",
        "chat": [{"role": r, "content": LONG} for r in ("user", "assistant") * 4] + [{"role": "user", "content": "So?"}],
        "client": client,
        "create_agent": create_agent,
        "messages": [
            {"role": "user", "content": "Tell me of the weather. " + LONG},
            {"role": "assistant", "content": "It rained. " + LONG},
            {"role": "user", "content": "And tomorrow?"},
        ],
        "model": scripted("Yes."),
        "turns": [{"role": r, "content": LONG} for r in ("user", "assistant") * 4] + [{"role": "user", "content": "So?"}],
    }
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), known)
    assert len(blocks) == 8
    printed = capsys.readouterr().out
    assert "compacted" in printed
    assert known["talk"].folded and known["made"].summary
    assert len(known["chat"]) < 9 and "2 sessions: 2 compacted" in printed


def test_the_notebook_runs(capsys: Any) -> None:
    import runpy

    found = runpy.run_path(str(PAGE.parents[1] / "python" / "examples" / "notebook.py"))
    assert found["seen"].triggered and found["made"].report.outcome == "compacted"


def test_what_is_lost_on_the_public_cases(capsys: Any) -> None:
    import os
    import runpy

    beside = PAGE.parents[2] / "shared"
    cases = Path(os.environ.get("CONSPECTUS_SHARED", beside)) / "cases"
    if not cases.is_dir():
        print("shared data not found, 1 check left out")
        return
    found = runpy.run_path(str(PAGE.parents[1] / "python" / "examples" / "losses.py"))
    ours = {"lost": 0, "compacted": 0}
    for _, messages, settings in found["cases"](cases):
        lost = found["losses"](found["Ours"], list(messages), settings)
        ours["compacted"] += lost["compacted"]
        ours["lost"] += lost["results without their call"] + lost["current request removed"]
        ours["lost"] += lost["messages removed that nobody read"]
    assert ours["lost"] == 0 and ours["compacted"] > 20
