"""Corpora of sessions: by hand, in files of this machine, and under the engines that are installed."""

from __future__ import annotations

import json
import pickle
import runpy
from pathlib import Path
from typing import Any

import pytest

from conspectus import ModelCall, Policy
from conspectus.batch import COLUMNS, BatchReport, Compact, report, run

POLICY = Policy(trigger=("tokens", 1500), keep=("messages", 2), window=8000)
EXAMPLES = Path(__file__).parents[1] / "examples"
asked = 0


def note(call: ModelCall) -> str:
    global asked
    asked += 1
    return "## Goal\nA garden\n## State\n- it rained"


def session(n: int, turns: int = 12) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"You tend garden {n}."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Turn {turn}? " + "It rained on the roses. " * 30})
        messages.append({"role": "assistant", "content": "So it is. " * 30})
    return [*messages, {"role": "user", "content": "And now?"}]


def corpus(count: int = 6) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"id": n, "messages": session(n)} for n in range(count)]
    rows.append({"id": "again", "messages": session(0)})
    rows.append({"id": "short", "messages": session(1, 1)})
    rows.append({"id": "text", "messages": json.dumps(session(2))})
    rows.append({"id": "none", "messages": [{"what": 3}]})
    rows.append({"id": "missing"})
    return rows


def check(told: BatchReport, count: int = 6) -> None:
    assert told.rows == count + 5
    assert told.outcomes == {"compacted": count + 2, "skipped": 1, "unreadable": 2}, told.outcomes
    assert told.repeated == 2 and len(told.errors) == 2
    assert 0 < told.tokens_after < told.tokens_before / 2 and told.messages_removed > 100


def test_a_row_at_a_time() -> None:
    compact = pickle.loads(pickle.dumps(Compact(POLICY)))
    rows = corpus()
    made = [compact(row) for row in rows]
    check(report(made))
    assert [row["id"] for row in made] == [row["id"] for row in rows]
    assert isinstance(made[0]["messages"], list) and isinstance(made[8]["messages"], str)
    assert made[0]["messages"][0] == rows[0]["messages"][0] and made[0]["messages"][-1] == rows[0]["messages"][-1]
    assert made[7]["messages"] is rows[7]["messages"] and made[9]["messages"] is rows[9]["messages"]
    assert made[0]["conspectus_key"] == made[6]["conspectus_key"] != made[1]["conspectus_key"]
    assert [compact(row) for row in made[:9]] == made[:9], "what came out goes through"
    beside = Compact(POLICY, into="shorter")(rows[0])
    assert beside["messages"] == rows[0]["messages"] and beside["shorter"] == made[0]["messages"]
    assert Compact(POLICY, focus="roses")(rows[0])["conspectus_key"] != made[0]["conspectus_key"]
    assert report(made)._repr_html_().startswith("<table>")
    assert str(report(made)).startswith("11 sessions: 8 compacted, 1 skipped, 2 unreadable; ")


def test_a_model_by_name_is_asked_once_a_session() -> None:
    global asked
    asked = 0
    compact = Compact({"trigger": ("tokens", 1500), "keep": ("messages", 2), "window": 8000}, model="test_batch:note")
    made = [compact(row) for row in (corpus()[0], corpus()[6])]
    module = __import__("test_batch")
    assert module.asked == 1 and [row["conspectus_summary"] for row in made] == [note(None)] * 2  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [1, 2])
def test_files_of_lines(tmp_path: Path, workers: int) -> None:
    source, to = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    lines = [json.dumps(row) for row in corpus()]
    (source / "a.jsonl").write_text("\n".join(lines[:5]) + "\n", encoding="utf-8")
    (source / "b.jsonl").write_text("\n".join(lines[5:]) + "\n\n", encoding="utf-8")
    told = run(source, to, POLICY, workers=workers)
    assert (told.rows, told.already_there) == (11, 0) and told.outcomes["compacted"] == 8
    before = {file.name: file.read_bytes() for file in to.iterdir()}
    again = run(source, to, POLICY, workers=workers)
    assert (again.rows, again.already_there) == (11, 10) and again.outcomes == told.outcomes
    assert {file.name: file.read_bytes() for file in to.iterdir()} == before
    # One is new, one was changed, one cannot be read.
    lines[0] = json.dumps({"id": 0, "messages": session(77)})
    (source / "a.jsonl").write_text("\n".join([*lines[:5], json.dumps({"messages": session(78)}), "{oh"]))
    third = run([source / "a.jsonl"], to, POLICY, workers=workers)
    assert (third.rows, third.already_there) == (7, 4) and third.outcomes["unreadable"] == 1
    assert json.loads((to / "a.jsonl").read_text().splitlines()[-1])["conspectus_line"] == "{oh"
    with pytest.raises(ValueError, match="same name"):
        run([source / "a.jsonl", to / "a.jsonl"], tmp_path / "c", POLICY)
    with pytest.raises(ValueError, match="no folder"):
        run(tmp_path / "nowhere", to, POLICY)


@pytest.mark.parametrize("form", ["text", "nested"])
def test_files_of_tables(tmp_path: Path, form: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"id": n, "when": float(n), "messages": session(n)} for n in range(4)]
    if form == "text":
        rows = [{**row, "messages": json.dumps(row["messages"])} for row in rows]
    table = pyarrow.Table.from_pylist(rows).append_column("day", pyarrow.array([1, 2, 3, 4], pyarrow.date32()))
    parquet.write_table(table, tmp_path / "a.parquet")
    told = run(tmp_path / "a.parquet", tmp_path / "out", POLICY)
    assert told.outcomes == {"compacted": 4}
    made = parquet.read_table(tmp_path / "out" / "a.parquet")
    assert made.schema.field("day").type == pyarrow.date32() and made.column_names[:4] == ["id", "when", "messages", "day"]
    first = json.loads(made.column("messages")[0].as_py())
    assert first[0]["content"] == "You tend garden 0." and len(first) < 8
    assert run(tmp_path / "a.parquet", tmp_path / "out", POLICY).already_there == 4
    compact = Compact(POLICY)
    assert compact.table(made).equals(made), "what came out goes through"
    (batch,) = compact.batches(table.to_batches())
    assert batch.column("messages").to_pylist() == made.column("messages").to_pylist()


@pytest.mark.parametrize("engine", ["local", "ray", "pyspark"])
def test_the_examples_run(engine: str, capsys: Any) -> None:
    if engine != "local":
        pytest.importorskip(engine, reason=f"{engine} is not installed: its example is left out")
    found = runpy.run_path(str(EXAMPLES / f"batch_{engine}.py"))
    assert found["told"].outcomes == {"compacted": 20} and found["told"].rows == 20
    assert found["told"].saved > 0.5
    assert len(COLUMNS) == 9
