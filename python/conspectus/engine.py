"""The engine: a policy with the model that writes summaries, and the functions that need neither to be kept.

The machines decide and perform nothing: they are polled for what they want and fed what happened. So a model that
raises, raises here, in plain Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conspectus import _native
from conspectus._driver import now
from conspectus.conversation import Conversation
from conspectus.errors import CompactionError
from conspectus.model import Model, ModelCall, Reply, route
from conspectus.policy import Policy
from conspectus.report import Compacted, Inspection, Report

__all__ = [
    "Compacted",
    "Conversation",
    "Engine",
    "Inspection",
    "Model",
    "ModelCall",
    "Policy",
    "Reply",
    "Report",
    "compact",
    "count",
    "inspect",
    "prune",
]


class Engine:
    """A policy with the model that writes summaries. Without a model the summary is an extract made by code."""

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        model: Model | None = None,
        model_name: str | None = None,
        max_input: int = 100_000,
        max_output: int = 8_000,
    ) -> None:
        self.policy = policy or Policy()
        self.model = model
        self._routes = "[]" if model is None else route(model_name, max_input, max_output)

    def conversation(self, messages: Sequence[Any] = (), *, fixed: Sequence[str] = ()) -> Conversation:
        """A conversation under this policy."""
        return Conversation(self.policy, messages, fixed=fixed)

    def before_call(self, conversation: Conversation) -> Report:
        """The check before a call of the model: compacts where a trigger is reached."""
        return self._run(conversation, conversation.native.before_call(now(), self._routes))

    async def abefore_call(self, conversation: Conversation) -> Report:
        """The same, with an async model."""
        return await self._arun(conversation, conversation.native.before_call(now(), self._routes))

    def compact(self, messages: Any, **asked: Any) -> Compacted:
        """Compacts a list of messages or a document, whatever its size. See :func:`compact`."""
        opened, form, request = self._open(messages, asked)
        report = self._run(opened, opened.native.manual(now(), request))
        return _finished(opened, form, report)

    async def acompact(self, messages: Any, **asked: Any) -> Compacted:
        """The same, with an async model."""
        opened, form, request = self._open(messages, asked)
        report = await self._arun(opened, opened.native.manual(now(), request))
        return _finished(opened, form, report)

    def _open(self, messages: Any, asked: Mapping[str, Any]) -> tuple[Conversation, str, str]:
        if isinstance(messages, Conversation):
            opened, form = messages, "conversation"
        else:
            data, form = _document(messages)
            document = _native.Document(data)
            native = _native.Conversation.of_document(self.policy._native, document)
            opened = Conversation._of(self.policy, native)
        request = {
            "force": not asked.get("only_if_triggered", False),
            "below_keep": asked.get("below_keep", False),
            "keep": None,
            "focus": asked.get("focus"),
            "invoking": None,
            "moment": "manual",
            "routes": json.loads(self._routes),
        }
        return opened, form, json.dumps(request)

    def _run(self, conversation: Conversation, decided: str) -> Report:
        decision = json.loads(decided)
        if decision["kind"] == "send":
            return Report.of(decision["report"])
        return _judged(conversation, conversation.run(self.model))

    async def _arun(self, conversation: Conversation, decided: str) -> Report:
        decision = json.loads(decided)
        if decision["kind"] == "send":
            return Report.of(decision["report"])
        return _judged(conversation, await conversation.arun(self.model))


def _judged(conversation: Conversation, report: Report) -> Report:
    """Failures are raised where the policy says so."""
    if report.outcome == "failed" and conversation.policy.numbers()["summary"]["on_failure"] == "error":
        cause = conversation.errors[-1] if conversation.errors else None
        raise CompactionError(report) from cause
    return report


def _document(messages: Any) -> tuple[bytes, str]:
    if isinstance(messages, bytes):
        return messages, "bytes"
    if isinstance(messages, str):
        return messages.encode(), "text"
    return json.dumps(messages).encode(), "value"


def _finished(opened: Conversation, form: str, report: Report) -> Compacted:
    if form == "conversation":
        return Compacted(opened.request(), report, opened.summary)
    data = opened.native.rendered()
    shown = data if form == "bytes" else data.decode() if form == "text" else json.loads(data)
    return Compacted(shown, report, opened.summary)


def compact(
    messages: Any,
    policy: Policy | None = None,
    *,
    model: Model | None = None,
    only_if_triggered: bool = False,
    below_keep: bool = False,
    focus: str | None = None,
) -> Compacted:
    """Compacts messages of any known format: a list of dictionaries, a request body, or a file's text or bytes.

    What comes back has the same form. Without ``model`` the summary is an extract made by code; nothing is asked.
    """
    engine = Engine(policy, model=model)
    return engine.compact(
        messages, only_if_triggered=only_if_triggered, below_keep=below_keep, focus=focus
    )


def inspect(messages: Any, policy: Policy | None = None) -> Inspection:
    """Where the tokens are, and whether a trigger is reached."""
    data, _ = _document(messages)
    raw = json.loads(_native.Document(data).inspect((policy or Policy())._native))
    return Inspection(raw["messages"], raw["tokens"], raw["window"], raw["triggered"], raw)


def count(messages: Any, policy: Policy | None = None) -> int:
    """Tokens of a text, or of messages by the policy's counter."""
    if isinstance(messages, str):
        return _native.count_text(messages)
    return inspect(messages, policy).tokens


def prune(messages: Any, *, max_result_chars: int = 8192, **options: Any) -> Any:
    """Messages with oversized results and arguments shortened, without a summary. The same form comes back."""
    policy = Policy(prune={"when": "always", "max_result_chars": max_result_chars, **options}, trigger=None)
    data, form = _document(messages)
    native = _native.Conversation.of_document(policy._native, _native.Document(data))
    return _finished(Conversation._of(policy, native), form, Report("pruned")).messages
