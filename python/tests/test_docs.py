"""The examples of ``docs/python.md``, in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from conftest import scripted
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
LONG = "It rained all day, and the garden was glad of it. " * 200


def test_the_examples_run(capsys: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    known: dict[str, Any] = {
        "HumanMessage": HumanMessage,
        "InMemorySaver": InMemorySaver,
        "ask": lambda system, document: "## Goal\nThe weather of the garden\n## State\n- it rained all day",
        "create_agent": create_agent,
        "messages": [
            {"role": "user", "content": "Tell me of the weather. " + LONG},
            {"role": "assistant", "content": "It rained. " + LONG},
            {"role": "user", "content": "And tomorrow?"},
        ],
        "model": scripted("Yes."),
    }
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), known)
    assert len(blocks) == 4
    assert "compacted" in capsys.readouterr().out
    assert known["talk"].folded and known["made"].summary
