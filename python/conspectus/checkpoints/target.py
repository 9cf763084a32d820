"""Where imported threads go: files, or the program ``conspectus``, which knows every store and a running service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from conspectus.errors import ConspectusError

__all__ = ["Folder", "Program", "Target", "TargetError", "target"]


class TargetError(ConspectusError):
    """A place that takes no thread; with the line of the file where one is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Target(Protocol):
    """A place for threads."""

    def known(self) -> dict[str, Mapping[str, Any] | None]:
        """Threads that are there, with what is told of their import."""

    def put(self, id: str, text: str) -> None:
        """Makes a thread. Raises ``TargetError``."""

    def replace(self, id: str, text: Callable[[str], str]) -> None:
        """Another one in its place, under the name that is given to ``text``. The old one goes when the new one is known
        to be taken."""


def target(to: str | Path, *, tenant: str | None = None, program: str | None = None) -> Target:
    """A folder, ``sqlite:PATH`` or ``postgres://…`` (a store of Conspectus), or ``http://…`` (a service)."""
    name = str(to)
    if name.startswith(("sqlite:", "postgres://", "postgresql://", "http://", "https://")):
        return Program(name, tenant=tenant, program=program)
    return Folder(Path(name))


class Folder:
    """A file a thread, which ``conspectus thread import`` takes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TargetError(f"{path}: {error.strerror}") from error

    def known(self) -> dict[str, Mapping[str, Any] | None]:
        found: dict[str, Mapping[str, Any] | None] = {}
        for file in sorted(self.path.glob("*.jsonl")):
            try:
                with file.open(encoding="utf-8") as lines:
                    thread = json.loads(lines.readline())["thread"]
                found[file.stem] = thread["meta"]["metadata"].get("imported")
            except (ValueError, KeyError, TypeError, AttributeError):
                found[file.stem] = None
        return found

    def put(self, id: str, text: str) -> None:
        file = self.path / f"{id}.jsonl"
        # A conversation is its owner's alone, and a file is there completely or not at all.
        try:
            descriptor, name = tempfile.mkstemp(dir=self.path, prefix=f".{id}.")
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                out.write(text)
            os.replace(name, file)
        except OSError as error:
            raise TargetError(f"{file}: {error.strerror}") from error

    def replace(self, id: str, text: Callable[[str], str]) -> None:
        self.put(id, text(id))


class Program:
    """A store or a service, through the program. ``CONSPECTUS_BIN`` names it, else it is looked for."""

    #: Threads that are asked for at once.
    page = 500

    def __init__(self, place: str, *, tenant: str | None = None, program: str | None = None) -> None:
        found = program or os.environ.get("CONSPECTUS_BIN") or shutil.which("conspectus")
        if not found:
            raise TargetError(
                "the program conspectus is not found: put it on the path, name it in CONSPECTUS_BIN, "
                "or import into a folder"
            )
        self.program = found
        is_service = place.startswith(("http://", "https://"))
        self.place = ["--server" if is_service else "--store", place]
        if tenant is not None:
            self.place += ["--tenant", tenant]

    def known(self) -> dict[str, Mapping[str, Any] | None]:
        found: dict[str, Mapping[str, Any] | None] = {}
        after: list[str] = []
        while True:
            code, answer = self._ask(["ls", "--limit", str(self.page), *after])
            if code == 4 and "no such store" in _message(answer):
                return found
            if code != 0:
                raise TargetError(_message(answer))
            result = answer["result"]
            for thread in result["threads"]:
                imported = (thread.get("metadata") or {}).get("imported")
                found[thread["thread_id"]] = imported if isinstance(imported, dict) else None
            if not result.get("next"):
                return found
            after = ["--after", str(result["next"])]

    def put(self, id: str, text: str) -> None:
        code, answer = self._ask(["import", "-", "--id", id], text)
        if code != 0:
            message = _message(answer)
            raise TargetError(message, _line(message))

    def replace(self, id: str, text: Callable[[str], str]) -> None:
        trial = f"{id[:56]}-trial"
        self.put(trial, text(trial))
        self._remove(trial)
        self._remove(id)
        self.put(id, text(id))

    def _remove(self, id: str) -> None:
        code, answer = self._ask(["rm", id])
        if code != 0:
            raise TargetError(_message(answer))

    def _ask(self, words: list[str], given: str | None = None) -> tuple[int, Any]:
        command = [self.program, "thread", words[0], "--json", *self.place, *words[1:]]
        try:
            ended = subprocess.run(
                command, input=given, capture_output=True, encoding="utf-8", errors="replace", check=False
            )
        except OSError as error:
            raise TargetError(f"{self.program}: {error.strerror}") from error
        try:
            return ended.returncode, json.loads(ended.stdout)
        except ValueError:
            said = ended.stderr.strip().splitlines()
            return ended.returncode or 1, {"error": {"message": said[-1] if said else "it said nothing"}}


def _message(answer: Any) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    return str((error or {}).get("message", "it did not say why"))


def _line(message: str) -> int | None:
    """The line that an error names."""
    _, found, behind = message.partition("line ")
    number = behind.split(":", 1)[0]
    return int(number) if found and number.isdigit() else None
