"""What all tests share. Without LangChain, which needs Python 3.11, its tests are left out, and that is said."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

HAS_LANGCHAIN = importlib.util.find_spec("langchain") is not None
#: What stands in a test that needs it.
NEEDS = re.compile(r"^\s*(from|import) (langchain|langgraph|conftest|chat)\b", re.MULTILINE)

collect_ignore: list[str] = []
if HAS_LANGCHAIN:
    from chat import Scripted, scripted

    __all__ = ["Scripted", "scripted"]
else:
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    collect_ignore = [file.name for file in files if NEEDS.search(file.read_text(encoding="utf-8"))]


def pytest_report_header() -> list[str]:
    left_out = ", ".join(collect_ignore)
    return [] if HAS_LANGCHAIN else [f"LangChain is not installed, left out: {left_out}"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # With -q there is no header.
    for line in pytest_report_header():
        terminalreporter.write_line(line)


@pytest.fixture(name="scripted")
def _scripted() -> Any:
    return scripted
