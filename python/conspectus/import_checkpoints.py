"""Threads of LangGraph and deer-flow, brought into Conspectus with all that they once were.

    python -m conspectus.import_checkpoints checkpoints.db --to sqlite:threads.db

The store is an SQLite file or ``postgresql://…``, as LangGraph's savers write them; it is only read. Each thread comes
with its whole history: what a compaction took out of its list is folded, not lost, its summary stands for it, and what went
on from the same checkpoint is a branch. Title, delegations, skills and todos come along.

It can be run again: a thread that is there with the same history is left alone. What cannot be read is told with its
thread and its checkpoint, and stops nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conspectus._table import table
from conspectus.checkpoints.journal import Journal
from conspectus.checkpoints.sources import Source, SourceError, opened
from conspectus.checkpoints.target import Target, TargetError, target

__all__ = ["ImportReport", "Problem", "ThreadReport", "import_threads", "main"]


@dataclass(frozen=True)
class Problem:
    """Something that could not be brought. ``checkpoint``: ``None`` where it is the whole thread."""

    thread: str
    checkpoint: str | None
    message: str

    def __str__(self) -> str:
        at = f", checkpoint {self.checkpoint}" if self.checkpoint else ""
        return f"thread {self.thread}{at}: {self.message}"


@dataclass
class ThreadReport:
    """What became of a thread."""

    thread: str
    #: Its name in Conspectus.
    id: str
    #: ``imported``, ``replaced``, ``already_there``, ``differs`` (there, with another history), ``empty`` or ``failed``.
    outcome: str = "failed"
    checkpoints: int = 0
    messages: int = 0
    summaries: int = 0
    branches: int = 0
    #: Checkpoints of subgraphs, which are conversations of their own and are not brought.
    subgraphs: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass
class ImportReport:
    """What became of all."""

    threads: list[ThreadReport] = field(default_factory=list)

    @property
    def problems(self) -> list[Problem]:
        """Everything that could not be brought."""
        return [problem for thread in self.threads for problem in thread.problems]

    def count(self, outcome: str) -> int:
        """Threads that ended so."""
        return sum(thread.outcome == outcome for thread in self.threads)

    def _repr_html_(self) -> str:
        rows = [(t.thread, f"{t.outcome}: {t.messages} messages, {t.summaries} summaries") for t in self.threads]
        return table("Import", [*rows, *(("error", problem) for problem in self.problems)])

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "threads": [{**vars(t), "problems": [vars(p) for p in t.problems]} for t in self.threads],
            "problems": len(self.problems),
        }


def import_threads(
    store: str | Path,
    to: str | Path | Target,
    *,
    threads: Iterable[str] | None = None,
    channel: str = "messages",
    replace: bool = False,
    trust: bool = False,
    tenant: str | None = None,
    program: str | None = None,
    on_progress: Callable[[ThreadReport, int, int], None] | None = None,
) -> ImportReport:
    """Brings threads from ``store`` (an SQLite file, ``postgresql://…``) to ``to``: a folder of files, ``sqlite:PATH`` or
    ``postgres://…`` of Conspectus, or ``http://…`` of a service.

    ``threads``: only these. ``channel``: the one with the messages. ``replace``: a thread that is there with another
    history is made anew. ``trust``: classes that the store names are loaded, whatever they are. ``on_progress`` is told of
    each thread, with how many are done and how many there are. Raises ``SourceError`` or ``TargetError`` where nothing
    can be read or written at all.
    """
    place = target(to, tenant=tenant, program=program) if isinstance(to, (str, Path)) else to
    report = ImportReport()
    with opened(store, trust=trust) as source:
        there = source.threads()
        asked = there if threads is None else list(threads)
        known = place.known()
        for done, thread in enumerate(asked, 1):
            told = ThreadReport(thread, _id(thread))
            try:
                if thread not in there:
                    raise SourceError("there is no such thread")
                _bring(source, place, known, told, channel, replace)
            except Exception as error:
                told.outcome = "failed"
                told.problems.append(Problem(thread, None, _words(error)))
            report.threads.append(told)
            if on_progress is not None:
                on_progress(told, done, len(asked))
    return report


def _bring(
    source: Source, place: Target, known: dict[str, Any], told: ThreadReport, channel: str, replace: bool
) -> None:
    journal = Journal()
    newest: str | None = None
    for checkpoint in source.checkpoints(told.thread):
        try:
            journal.take(source.state(told.thread, checkpoint, channel))
            newest = checkpoint
        except Exception as error:
            told.problems.append(Problem(told.thread, checkpoint, _words(error)))
    told.checkpoints, told.messages = journal.states, journal.messages
    told.summaries, told.branches = journal.folds, journal.branches
    told.subgraphs = source.subgraphs(told.thread)
    if journal.messages == 0:
        told.outcome = "failed" if told.problems else "empty"
        return
    origin: dict[str, Any] = {
        "from": "langgraph",
        "thread_id": told.thread,
        "checkpoint_id": newest,
        "checkpoints": journal.states,
        "digest": journal.digest(),
    }
    is_there = told.id in known
    if is_there and (known[told.id] or {}).get("digest") == origin["digest"]:
        told.outcome = "already_there"
        return
    if is_there and not replace:
        told.outcome = "differs"
        return
    try:
        if is_there:
            place.replace(told.id, lambda id: journal.text(id, origin))
        else:
            place.put(told.id, journal.text(told.id, origin))
    except TargetError as error:
        # The first line is the thread's.
        at = None if error.line is None else error.line - 2
        culprit = journal.origins[at] if at is not None and 0 <= at < len(journal.origins) else None
        told.outcome = "failed"
        told.problems.append(Problem(told.thread, culprit, str(error)))
        return
    told.outcome = "replaced" if is_there else "imported"


def _id(thread: str) -> str:
    """The thread's name where it can be one of ours, else one that follows from it."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", thread):
        return thread
    digest = hashlib.sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    words = "-".join(re.findall(r"[A-Za-z0-9_]+", thread))[:48].strip("-")
    return f"{words}-{digest}" if words else f"thread-{digest}"


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    if isinstance(error, (SourceError, TargetError, ValueError)) and text:
        return text
    return f"{type(error).__name__}: {text}"


def main(arguments: list[str] | None = None) -> int:
    """The program. 0: all is there now; 1: something could not be brought; 2: wrong usage; 4: no such store."""
    parser = argparse.ArgumentParser(
        prog="python -m conspectus.import_checkpoints",
        description="Brings threads of LangGraph's and deer-flow's checkpoint stores into Conspectus.",
    )
    parser.add_argument("store", help="an SQLite file, or postgresql://…; -: what the variable CONSPECTUS_FROM names")
    parser.add_argument(
        "--to",
        required=True,
        help="a folder, or sqlite:PATH, postgres://… (a store of Conspectus), http://… (a service)",
    )
    parser.add_argument("--thread", action="append", metavar="ID", help="only this one; may be said again")
    parser.add_argument("--channel", default="messages", help="the channel with the messages [messages]")
    parser.add_argument("--replace", action="store_true", help="make threads anew that are there with another history")
    parser.add_argument("--trust", action="store_true", help="load every class that the store names")
    parser.add_argument("--tenant", help="whose threads they are")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--quiet", action="store_true", help="no line for each thread")
    said = parser.parse_args(arguments)

    def progress(told: ThreadReport, done: int, of: int) -> None:
        if not said.quiet:
            print(f"[{done}/{of}] {_line_of(told)}", file=sys.stderr)
        for problem in told.problems:
            print(f"error: {problem}", file=sys.stderr)

    store = os.environ.get("CONSPECTUS_FROM", "") if said.store == "-" else said.store
    try:
        report = import_threads(
            store,
            said.to,
            threads=said.thread,
            channel=said.channel,
            replace=said.replace,
            trust=said.trust,
            tenant=said.tenant,
            on_progress=progress,
        )
    except (SourceError, TargetError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 4
    if said.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        outcomes = ("imported", "replaced", "already_there", "differs", "empty", "failed")
        counts = [f"{report.count(o)} {o.replace('_', ' ')}" for o in outcomes if report.count(o)]
        print(f"{len(report.threads)} threads: {', '.join(counts) or 'none'}")
        if report.count("differs"):
            print("what differs is there with another history: --replace makes it anew")
    return 1 if report.problems or report.count("differs") else 0


def _line_of(told: ThreadReport) -> str:
    name = told.thread if told.id == told.thread else f"{told.thread} as {told.id}"
    numbers = f"{told.messages} messages, {told.summaries} summaries of {told.checkpoints} checkpoints"
    aside = f", {told.subgraphs} of subgraphs left out" if told.subgraphs else ""
    return f"{name}: {told.outcome.replace('_', ' ')}, {numbers}{aside}"


if __name__ == "__main__":
    sys.exit(main())
