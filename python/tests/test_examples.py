"""The examples run, each by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
#: Run by tests of their own.
ELSEWHERE = {"batch_local.py", "batch_pyspark.py", "batch_ray.py", "losses.py", "notebook.py"}
FILES = sorted(file.name for file in EXAMPLES.glob("*.py") if file.name not in ELSEWHERE)


@pytest.mark.parametrize("name", FILES)
def test_it_runs(name: str) -> None:
    if "langchain" in (EXAMPLES / name).read_text(encoding="utf-8"):
        pytest.importorskip("langchain", reason=f"LangChain is not installed: {name} is left out")
    ended = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
