"""The history of a thread, as ours are made of it: what came, where the head went, what a summary stands for.

LangGraph keeps a list of messages a checkpoint, and a compaction there takes messages out of the list. Here they are put
together again: a message that is in no later checkpoint any more is folded, not gone, and checkpoints that go on from the
same one are branches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ChatMessage, HumanMessage

from conspectus._plain import to_json
from conspectus.checkpoints.state import State

__all__ = ["Journal"]


@dataclass(frozen=True)
class _Place:
    """Where a thread stood: its newest message, what is folded of the branch, and what stands for that."""

    head: int | None
    folded: frozenset[int]
    summary: str | None


class Journal:
    """Takes states in the order in which they were written, parents first, and writes lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        #: The checkpoint that each line came of.
        self.origins: list[str] = []
        self._messages: list[BaseMessage] = []
        self._before: list[int | None] = []
        self._path: list[int] = []
        self._folded: frozenset[int] = frozenset()
        self._summary: str | None = None
        self._places: dict[str, _Place] = {}
        #: A summary of messages that are in no checkpoint any more is a message itself.
        self._lone: tuple[str, HumanMessage] | None = None
        self._here: str | None = None
        self._newest: State | None = None
        self._created_ms = 0
        self.states = 0
        self.folds = 0
        self.branches = 0

    @property
    def messages(self) -> int:
        """Messages over all branches."""
        return len(self._messages)

    def take(self, state: State) -> None:
        """What the next state changed."""
        parent = self._places.get(state.parent or "")
        if parent is not None and state.parent != self._here:
            self._go(state, parent)
        wanted = list(state.messages)
        if state.summary is not None and state.summary != self._summary:
            self._fold(state, wanted)
        elif self._lone is not None and state.summary == self._lone[0]:
            self._go_on(state, [self._lone[1], *wanted])
        else:
            self._go_on(state, wanted)
        head = self._path[-1] if self._path else None
        self._places[state.id] = _Place(head, self._folded, self._summary)
        self._here = state.id
        self._newest = state
        self.states += 1
        if self.states == 1:
            self._created_ms = state.ms

    # Changes

    def _shown(self) -> list[int]:
        return [node for node in self._path if node not in self._folded]

    def _go_on(self, state: State, wanted: Sequence[BaseMessage]) -> None:
        """Appends what is new; where something else was said, that is another branch."""
        shown = self._shown()
        same = 0
        while same < min(len(shown), len(wanted)) and self._is(shown[same], wanted[same]):
            same += 1
        if same < len(shown):
            at = self._path.index(shown[same])
            self._move(state, self._path[:at])
        for message in wanted[same:]:
            self._append(state, message)

    def _fold(self, state: State, wanted: Sequence[BaseMessage]) -> None:
        """A summary came: what is not there any more went into it."""
        summary = state.summary
        assert summary is not None
        shown, kept, at = self._shown(), set[int](), 0
        new = list(wanted)
        while new:
            found = next((i for i in range(at, len(shown)) if self._is(shown[i], new[0])), None)
            if found is None:
                break
            kept.add(shown[found])
            at = found + 1
            new.pop(0)
        folded = self._folded | {node for node in shown if node not in kept}
        if not folded:
            # What it stands for is nowhere.
            lone = _standing_for(state, summary)
            self._lone = (summary, lone)
            self._summary = summary
            return self._go_on(state, [lone, *wanted])
        self._folded, self._summary, self._lone = frozenset(folded), summary, None
        self._write_fold(state)
        for message in new:
            self._append(state, message)
        return None

    def _go(self, state: State, place: _Place) -> None:
        """Back to where the parent stood."""
        path: list[int] = []
        node = place.head
        while node is not None:
            path.append(node)
            node = self._before[node]
        path.reverse()
        if (path, place.folded, place.summary) == (self._path, self._folded, self._summary):
            return
        if not self._folded.intersection(path) <= place.folded:
            # A fold is never made smaller: it is left, and made anew.
            self._write(state, {"move": {"to": None}})
        self._folded, self._summary = place.folded, place.summary
        self._move(state, path)

    def _move(self, state: State, path: list[int]) -> None:
        self._write(state, {"move": {"to": path[-1] if path else None}})
        self.branches += 1
        self._path = path
        on = set(path)
        self._folded = frozenset(node for node in self._folded if node in on)
        self._write_fold(state)

    def _append(self, state: State, message: BaseMessage) -> None:
        node = len(self._messages)
        self._messages.append(message)
        self._before.append(self._path[-1] if self._path else None)
        self._path.append(node)
        # The text of the message is not encoded twice.
        line = json.dumps({"id": message.id or None, "stored_ms": state.ms})
        body = f'{{"message": {line[:-1]}, "body": {{"json": {_message_json(message)}}}}}}}'
        self._lines.append(body)
        self.origins.append(state.id)

    def _write_fold(self, state: State) -> None:
        if self._folded and self._summary is not None:
            ranges: list[list[int]] = []
            for node in sorted(self._folded):
                if ranges and ranges[-1][1] == node - 1:
                    ranges[-1][1] = node
                else:
                    ranges.append([node, node])
            self._write(state, {"fold": {"nodes": ranges, "summary": self._summary}})
            self.folds += 1

    def _write(self, state: State, line: dict[str, Any]) -> None:
        self._lines.append(json.dumps(line))
        self.origins.append(state.id)

    def _is(self, node: int, message: BaseMessage) -> bool:
        there = self._messages[node]
        return there is message or there == message

    # The file

    def digest(self) -> str:
        """SHA-256 of what happened."""
        digest = hashlib.sha256()
        for line in self._lines:
            digest.update(line.encode() + b"\n")
        return digest.hexdigest()

    def text(self, thread_id: str, source: dict[str, Any]) -> str:
        """The lines. ``source`` says where the thread came from."""
        newest = self._newest
        meta: dict[str, Any] = {"format": 1, "metadata": {"imported": source}}
        if newest is not None:
            meta["title"] = newest.title
            meta["metadata"] = {**newest.metadata, "imported": source}
            skills = newest.channels.get("skill_context", [])
            meta["skills"] = [s for s in skills if isinstance(s, dict) and isinstance(s.get("path"), str)]
            if newest.channels:
                meta["note"] = {"channels": newest.channels}
        head = {
            "format": 1,
            "journal": True,
            "thread_id": thread_id,
            "created_ms": self._created_ms,
            "meta": meta,
        }
        lines = [
            to_json({"thread": head}),
            *self._lines,
            json.dumps({"end": {"messages": len(self._messages)}}),
        ]
        return "\n".join(lines) + "\n"


def _standing_for(state: State, summary: str) -> HumanMessage:
    if isinstance(state.marker, HumanMessage):
        return state.marker
    name = hashlib.sha256(summary.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return HumanMessage(
        content=f"Here is a summary of the conversation to date:\n\n{summary}",
        additional_kwargs={"lc_source": "summarization"},
        id=f"summary-{name}",
    )


def _message_json(message: BaseMessage) -> str:
    fields = {key: value for key, value in message.model_dump().items() if value is not None}
    content = fields.get("content")
    if not isinstance(content, (str, list)):
        fields["content"] = "" if content is None else to_json(content)
    if isinstance(message, ChatMessage):
        # A role of the host's own; for a model it is a person's.
        fields["type"] = {"assistant": "ai", "system": "system"}.get(message.role, "human")
    return to_json(fields)
