"""A conversation that goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conspectus import _native
from conspectus._driver import Hook, Listener, adrive, drive
from conspectus._table import table
from conspectus.model import Model
from conspectus.policy import Policy
from conspectus.report import Report

__all__ = ["Conversation"]


class Conversation:
    """A conversation that goes on. Nothing in it is ever edited: a compaction changes what is shown.

    ``messages`` are LangChain's JSON (``{"type": "human", "content": ...}``) as dictionaries or text.
    """

    def __init__(
        self,
        policy: Policy,
        messages: Sequence[Mapping[str, Any] | str | _native.Message] = (),
        *,
        fixed: Sequence[str] = (),
        counter: str | None = None,
    ) -> None:
        self.policy = policy
        self.errors: list[BaseException] = []
        self.native = _native.Conversation(policy._native, _messages(messages), fixed=fixed, counter=counter)

    @classmethod
    def _of(cls, policy: Policy, native: _native.Conversation) -> Conversation:
        made = cls.__new__(cls)
        made.policy, made.native, made.errors = policy, native, []
        return made

    @classmethod
    def restore(
        cls,
        policy: Policy,
        messages: Sequence[Mapping[str, Any] | str | _native.Message],
        saved: str,
        *,
        fixed: Sequence[str] = (),
        counter: str | None = None,
    ) -> Conversation:
        """Messages again with what :meth:`saved` gave. If they are others than they were, nothing is folded."""
        native = _native.Conversation.restore(
            policy._native, _messages(messages), saved, fixed=fixed, counter=counter
        )
        return cls._of(policy, native)

    def append(self, messages: Sequence[Mapping[str, Any] | str | _native.Message]) -> None:
        """Adds messages at the end."""
        self.native.append(_messages(messages))

    def saved(self) -> str:
        """What outlives the process beside the messages."""
        return self.native.saved()

    def size(self) -> dict[str, Any]:
        """The size of the request that would be sent now."""
        found: dict[str, Any] = json.loads(self.native.size())
        return found

    def registries(self) -> dict[str, Any]:
        """What the conversation's structure tells: files, tests, todos, standing rules."""
        found: dict[str, Any] = json.loads(self.native.registries())
        return found

    @property
    def summary(self) -> str | None:
        """The summary in force."""
        return self.native.summary

    @property
    def folded(self) -> list[int]:
        """Positions of the messages that the summary stands for."""
        return self.native.folded

    def request(self) -> list[dict[str, Any]]:
        """What would be sent now, as LangChain's JSON."""
        texts = self.native.messages()
        return [_shown(piece, texts) for piece in self.native.projection()]

    def undo(self) -> bool:
        """Takes the last compaction back."""
        return self.native.undo()

    def redo(self) -> bool:
        """Puts it in force again."""
        return self.native.redo()

    def recall(self, query: str, limit: int = 5) -> list[tuple[int, str]]:
        """What was shortened, by the reference in its marker, or messages that hold the words of ``query``."""
        found = self.native.recall(query.strip()) if query.strip().startswith("cx-") else []
        if found:
            return found
        texts = self.native.messages()
        return [(at, texts[at]) for at, _ in self.native.search(query, limit)]

    def __len__(self) -> int:
        return len(self.native)

    def __reduce__(self) -> tuple[Any, ...]:
        return _conversation_again, (self.policy, self.native.messages(), self.native.saved())

    def __repr__(self) -> str:
        return f"Conversation({len(self)} messages, {len(self.folded)} folded, {self.size()['tokens']} tokens)"

    def _repr_html_(self) -> str:
        size = self.size()
        return table(
            "Conversation",
            [
                ("messages", len(self)),
                ("folded", len(self.folded)),
                ("tokens of the request", size["tokens"]),
                ("trigger", self.policy.trigger_tokens),
                ("summary", self.summary),
            ],
        )

    def run(
        self,
        model: Model | None = None,
        *,
        on_event: Listener | None = None,
        before_removal: Hook | None = None,
    ) -> Report:
        """Drives the attempt that is under way to its end."""
        return drive(self, model, on_event=on_event, hook=before_removal)

    async def arun(
        self,
        model: Model | None = None,
        *,
        on_event: Listener | None = None,
        before_removal: Hook | None = None,
    ) -> Report:
        """Drives the attempt that is under way to its end; as many calls at a time as the policy allows."""
        return await adrive(self, model, on_event=on_event, hook=before_removal)


def _conversation_again(policy: Policy, messages: list[str], saved: str) -> Conversation:
    return Conversation.restore(policy, messages, saved)


def _messages(messages: Sequence[Mapping[str, Any] | str | _native.Message]) -> list[_native.Message]:
    def one(message: Mapping[str, Any] | str | _native.Message) -> _native.Message:
        if isinstance(message, _native.Message):
            return message
        return _native.Message(message if isinstance(message, str) else json.dumps(message))

    return [one(message) for message in messages]


_TYPES = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}


def _shown(piece: tuple[Any, ...], texts: Sequence[str]) -> dict[str, Any]:
    match piece:
        case ("keep", at) | ("edit", at, None):
            shown: dict[str, Any] = json.loads(texts[at])
        case ("edit", _, text):
            shown = json.loads(text)
        case (_, "answer", _, text, call, tool):
            shown = {"type": "tool", "content": text, "tool_call_id": call, "name": tool}
        case (_, kind, role, text, _, _):
            extra: dict[str, Any] = {"hide_from_ui": True}
            if kind == "summary":
                extra["lc_source"] = "summarization"
            shown = {"type": _TYPES[role], "content": text, "additional_kwargs": extra}
    return shown
