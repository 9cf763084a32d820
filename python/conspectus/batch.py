"""Many sessions at once: a function of a row, for whatever runs it.

A corpus of sessions has a session a row, with its messages in one column: JSON lines, or Parquet with JSON text or nested
values. :class:`Compact` takes a row and gives the row, compacted, with what became of it beside. It can be pickled, holds
nothing open and needs nobody else, so it runs under Ray Data, PySpark, a pool of processes or a loop::

    ds.map(Compact(policy))                                             # Ray Data
    df.mapInArrow(compact.batches, compact.spark_schema(df.schema))     # PySpark
    run("sessions/", "compacted/", policy, workers=8)                   # neither: files of this machine

Each row has a key: the hash of its messages and of how they are compacted. What is there under its key already is not made
again, also where the same session comes twice, and a row that came out of it goes through unchanged.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conspectus._plain import to_json
from conspectus._table import table
from conspectus.engine import Engine, Model, Policy
from conspectus.errors import CompactionError, ConspectusError

if TYPE_CHECKING:
    import pyarrow

__all__ = ["BatchReport", "Compact", "report", "run"]

_TEXT = ("key", "made", "outcome", "summary", "error")
_NUMBERS = ("tokens_before", "tokens_after", "messages_before", "messages_removed")
#: Columns that stand beside the row's own.
COLUMNS = tuple(f"conspectus_{name}" for name in (*_TEXT, *_NUMBERS))
#: Results that one process remembers, for sessions that come twice.
_REMEMBERED = 256
#: Errors that a report quotes.
_QUOTED = 20


class Compact:
    """Compacts the messages of a row.

    ``policy``: a :class:`conspectus.Policy`, a preset's name or its options. ``column``: where the messages are, a list or
    JSON text; what comes out has the same form, in ``into`` if that is said. ``model``: a function of a
    :class:`conspectus.ModelCall` that can be pickled, or its name as ``"package.module:function"``, which is looked up
    where it runs; without it the summary is an extract made by code. A session below its trigger stays as it is, unless
    ``only_if_triggered=False``.
    """

    def __init__(
        self,
        policy: Policy | Mapping[str, Any] | str = "default",
        *,
        column: str = "messages",
        into: str | None = None,
        model: Model | str | None = None,
        only_if_triggered: bool = True,
        focus: str | None = None,
    ) -> None:
        if isinstance(policy, Mapping):
            policy = Policy(**policy)
        self.policy = policy if isinstance(policy, Policy) else Policy(policy)
        self.column = column
        self.into = into or column
        self.model = model
        self.asked = {"only_if_triggered": only_if_triggered, "focus": focus}
        how = [self.policy.numbers(), self.asked, model if isinstance(model, str) else getattr(model, "__name__", None)]
        self._how = hashlib.sha256(to_json(how).encode()).digest()
        self._engine: Engine | None = None
        self._known: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_engine": None, "_known": OrderedDict()}

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row as it is now. What cannot be read stays, with ``conspectus_error``."""
        said = row.get(self.column)
        if said is None:
            why = "it is no JSON" if "conspectus_line" in row else f"there is no column {self.column!r}"
            return {**row, **_beside(outcome="unreadable", error=why)}
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        text = text if isinstance(text, str) else to_json(_nested(text))
        key = self.key(text)
        if self.into == self.column and row.get("conspectus_made") == key:
            return dict(row)
        found = self._known.get(key)
        if found is None:
            found = self._made(text, key)
            self._known[key] = found
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        beside = {name: value for name, value in found.items() if name != "text"}
        return {**row, self.into: _like(said, text, found["text"]), **beside}

    def key(self, text: str) -> str:
        """The hash of messages, as JSON text, and of what is done with them. Spaces in it mean nothing."""
        try:
            text = to_json(json.loads(text))
        except ValueError:
            pass
        return hashlib.sha256(self._how + text.encode("utf-8", "surrogatepass")).hexdigest()

    def _made(self, text: str, key: str) -> dict[str, Any]:
        try:
            if self._engine is None:
                self._engine = Engine(self.policy, model=_model(self.model))
            made = self._engine.compact(text, **self.asked)
        except CompactionError as error:
            why = error.report.failure or str(error)
            return {"text": text, **_beside(key=key, made=key, outcome=error.outcome, error=why)}
        except ConspectusError as error:
            return {"text": text, **_beside(key=key, made=key, outcome="unreadable", error=str(error)[:500])}
        shown = made.report
        return {
            "text": made.messages,
            **_beside(
                key=key,
                made=self.key(made.messages),
                outcome=shown.outcome,
                summary=made.summary,
                error=shown.failure,
                tokens_before=shown.tokens_before,
                tokens_after=shown.tokens_after if shown.tokens_after is not None else shown.tokens_before,
                messages_before=shown.messages_before,
                messages_removed=shown.messages_removed,
            ),
        }

    # Tables

    def table(self, batch: pyarrow.Table) -> pyarrow.Table:
        """A table, for ``ds.map_batches(compact.table, batch_format="pyarrow")``. Nested messages come out as JSON text."""
        names = [name for name in (self.column, *COLUMNS) if name in batch.column_names]
        rows = batch.select(names).to_pylist()
        return _with_columns(batch, [self(row) for row in rows], self.into)

    def batches(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """Record batches, for ``df.mapInArrow``."""
        import pyarrow

        for batch in batches:
            yield from self.table(pyarrow.Table.from_batches([batch])).to_batches()

    def spark_schema(self, schema: Any) -> Any:
        """The schema of what comes out, of PySpark's schema of what goes in."""
        from pyspark.sql.types import LongType, StringType, StructField, StructType

        out = StructType([f for f in schema.fields if f.name not in (self.into, *COLUMNS)])
        kinds = {f"conspectus_{name}": LongType() for name in _NUMBERS}
        fields = {f.name: f for f in out.fields}
        names = [f.name for f in schema.fields]
        names += [name for name in (self.into, *COLUMNS) if name not in names]
        return StructType([fields.get(n) or StructField(n, kinds.get(n, StringType()), True) for n in names])


def _with_columns(table: pyarrow.Table, rows: Sequence[Mapping[str, Any]], into: str) -> pyarrow.Table:
    """The table with what became of its rows; all other columns are as they were."""
    import pyarrow

    for name in (into, *COLUMNS):
        kind = pyarrow.int64() if name.removeprefix("conspectus_") in _NUMBERS else pyarrow.string()
        values = pyarrow.array([_encodable(_text(row.get(name))) for row in rows], kind)
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, values)
        else:
            table = table.append_column(name, values)
    return table


def _model(said: Model | str | None) -> Model | None:
    if not isinstance(said, str):
        return said
    module, _, name = said.partition(":")
    found: Model = getattr(import_module(module), name)
    return found


def _beside(**known: Any) -> dict[str, Any]:
    names = (*_TEXT, *_NUMBERS)
    return {f"conspectus_{name}": known.get(name, 0 if name in _NUMBERS else None) for name in names}


def _nested(value: Any) -> Any:
    """Values as engines hand them over: arrays as lists, members that are not there left out."""
    if hasattr(value, "asDict"):
        value = value.asDict(recursive=True)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _nested(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, (list, tuple)):
        return [_nested(inner) for inner in value]
    return value


def _text(said: Any) -> Any:
    return said if said is None or isinstance(said, (str, bytes, int)) else to_json(_nested(said))


def _like(said: Any, before: str, after: str) -> Any:
    """Messages in the form in which they came."""
    if before == after:
        return said
    if isinstance(said, bytes):
        return after.encode("utf-8", "surrogatepass")
    return after if isinstance(said, str) else json.loads(after)


def _encodable(value: Any) -> Any:
    """Text that Arrow takes: a lone surrogate is none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@dataclass
class BatchReport:
    """What became of a corpus."""

    rows: int = 0
    #: Rows by how they ended.
    outcomes: dict[str, int] = field(default_factory=dict)
    #: Rows whose session came before.
    repeated: int = 0
    #: Rows that were there already, and not made again.
    already_there: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    messages_before: int = 0
    messages_removed: int = 0
    #: The first errors, with the key of their row.
    errors: list[str] = field(default_factory=list)

    @property
    def saved(self) -> float:
        """The share of tokens that went."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    def _repr_html_(self) -> str:
        return table(
            "Sessions",
            [
                ("sessions", self.rows),
                *sorted(self.outcomes.items()),
                ("came twice", self.repeated),
                ("were there already", self.already_there),
                ("tokens", f"{self.tokens_before} → {self.tokens_after}"),
                ("messages folded", f"{self.messages_removed} of {self.messages_before}"),
                *(("error", error) for error in self.errors),
            ],
        )

    def __str__(self) -> str:
        outcomes = ", ".join(f"{count} {name}" for name, count in sorted(self.outcomes.items()))
        there = f" ({self.already_there} were there already)" if self.already_there else ""
        return (
            f"{self.rows} sessions{there}: {outcomes or 'none'}; {self.tokens_before} tokens before, "
            f"{self.tokens_after} after, {self.saved:.0%} less"
        )


def report(rows: Iterable[Any]) -> BatchReport:
    """The report on rows that came out: dictionaries, PySpark's rows, or whatever can be indexed by name.

    ``report(ds.select_columns([*COLUMNS]).iter_rows())``, ``report(df.select(*COLUMNS).toLocalIterator())``.
    """
    made = BatchReport()
    outcomes: Counter[str] = Counter()
    seen: set[str] = set()
    for row in rows:
        made.rows += 1
        outcomes[row["conspectus_outcome"]] += 1
        key = row["conspectus_key"]
        made.repeated += key in seen
        if key is not None:
            seen.add(key)
        for name in _NUMBERS:
            setattr(made, name, getattr(made, name) + (row[f"conspectus_{name}"] or 0))
        if row["conspectus_error"] and len(made.errors) < _QUOTED:
            made.errors.append(f"{(key or 'no key')[:12]}: {row['conspectus_error']}")
    made.outcomes = dict(outcomes)
    return made


# Files of this machine


def run(
    source: str | Path | Sequence[str | Path],
    to: str | Path,
    policy: Policy | Mapping[str, Any] | str = "default",
    *,
    workers: int = 1,
    on_progress: Callable[[Path, BatchReport], None] | None = None,
    **options: Any,
) -> BatchReport:
    """Compacts files (``.jsonl``, ``.parquet``; a folder stands for those in it) into the folder ``to``, under their names.

    ``options`` are those of :class:`Compact`. Run again, it makes only what is new or was changed, by the keys in the
    files that are there. A file is replaced when it is done, so one that was stopped leaves nothing half made.
    """
    compact = Compact(policy, **options)
    files = _files(source)
    names = Counter(file.name for file in files)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ValueError(f"two files have the same name, and would be written to the same place: {twice[0]}")
    out = Path(to)
    out.mkdir(parents=True, exist_ok=True)
    whole = BatchReport()
    # A process that was forked beside threads may hang.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn")) if workers > 1 else None
    try:
        for file in files:
            made = _one(file, out / file.name, compact, pool, workers)
            _add(whole, made)
            if on_progress is not None:
                on_progress(file, made)
    finally:
        if pool is not None:
            pool.shutdown()
    return whole


def _files(source: str | Path | Sequence[str | Path]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, [source] if isinstance(source, (str, Path)) else source):
        if path.is_dir():
            files += sorted(p for p in path.iterdir() if p.suffix in {".jsonl", ".parquet"})
        elif path.suffix in {".jsonl", ".parquet"} and path.is_file():
            files.append(path)
        else:
            raise ValueError(f"{path} is no folder and no file of sessions (.jsonl, .parquet)")
    return files


def _one(
    file: Path, to: Path, compact: Compact, pool: ProcessPoolExecutor | None, workers: int
) -> BatchReport:
    is_table = file.suffix == ".parquet"
    table = _read_table(file) if is_table else None
    rows = _read_lines(file) if table is None else _rows_of(table, compact.column)
    known: dict[str, Mapping[str, Any]] = {}
    if to.exists():
        there = _rows_of(_read_table(to), compact.into) if is_table else _read_lines(to)
        known = {row["conspectus_key"]: row for row in there if row.get("conspectus_key")}
    made: list[dict[str, Any] | None] = [_again(compact, row, known) for row in rows]
    todo = [at for at, row in enumerate(made) if row is None]
    size = max(1, min(64, len(todo) // (workers * 4)))
    given = (rows[at] for at in todo)
    done = map(compact, given) if pool is None else pool.map(compact, given, chunksize=size)
    for at, row in zip(todo, done, strict=True):
        made[at] = row
    finished = [row for row in made if row is not None]
    _replace(to, lambda path: _write(path, table, finished, compact.into))
    told = report(finished)
    told.already_there = len(rows) - len(todo)
    return told


def _again(compact: Compact, row: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """The row, where its result is there."""
    said = row.get(compact.column)
    if said is None or not known:
        return None
    there = known.get(compact.key(_text(said) if not isinstance(said, bytes) else said.decode("utf-8", "replace")))
    if there is None:
        return None
    return {**row, compact.into: there[compact.into], **{name: there.get(name) for name in COLUMNS}}


def _read_lines(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with file.open(encoding="utf-8", errors="surrogateescape") as lines:
        for line in filter(str.strip, lines):
            try:
                row = json.loads(line)
            except ValueError:
                # It stays as it is, and stops no other.
                row = {"conspectus_line": line.rstrip("\n")}
            # A list alone is a session.
            rows.append(row if isinstance(row, dict) else {"messages": row})
    return rows


def _read_table(file: Path) -> pyarrow.Table:
    from pyarrow import parquet

    return parquet.read_table(file)


def _rows_of(table: pyarrow.Table, column: str) -> list[dict[str, Any]]:
    names = [name for name in (column, *COLUMNS) if name in table.column_names]
    rows: list[dict[str, Any]] = table.select(names).to_pylist()
    return rows


def _write(file: Path, table: pyarrow.Table | None, rows: Sequence[Mapping[str, Any]], into: str) -> None:
    if table is not None:
        from pyarrow import parquet

        parquet.write_table(_with_columns(table, rows, into), file)
        return
    with file.open("w", encoding="utf-8", errors="surrogateescape") as out:
        for row in rows:
            out.write(to_json(row) + "\n")


def _replace(to: Path, write: Callable[[Path], None]) -> None:
    descriptor, name = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name}.")
    os.close(descriptor)
    try:
        write(Path(name))
        os.replace(name, to)
    finally:
        Path(name).unlink(missing_ok=True)


def _add(whole: BatchReport, part: BatchReport) -> None:
    whole.outcomes = dict(Counter(whole.outcomes) + Counter(part.outcomes))
    for name in ("rows", "repeated", "already_there", *_NUMBERS):
        setattr(whole, name, getattr(whole, name) + getattr(part, name))
    whole.errors = (whole.errors + part.errors)[:_QUOTED]
