"""The engine: policies, conversations, and the two loops that drive a compaction.

The machines decide and perform nothing: they are polled for what they want and fed what happened. So a model that
raises, raises here, in plain Python.
"""

from __future__ import annotations

import asyncio
import html
import inspect as inspect_module
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conspectus import _native
from conspectus.errors import CompactionError

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


def _now() -> int:
    """Milliseconds; only differences matter."""
    return time.monotonic_ns() // 1_000_000


def _table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


Size: TypeAlias = "tuple[str, float] | Mapping[str, float]"


def _size(size: Any) -> Any:
    """A pair as the configuration writes it."""
    if isinstance(size, tuple) and len(size) == 2 and isinstance(size[0], str):
        return {"type": size[0], "value": size[1]}
    if isinstance(size, (list, tuple)):
        return [_size(item) for item in size]
    return size


class Policy:
    """When to compact, what stays, and how: the options of the configuration file, by their names there.

    ``Policy(trigger=("tokens", 100_000), keep=("messages", 20), model="gpt-4.1")``. Options that are not given are
    those of ``preset``. ``model`` and ``window`` say what the conversation runs on.
    """

    def __init__(
        self,
        preset: str = "default",
        *,
        trigger: Any = ...,
        keep: Any = ...,
        model: str | None = None,
        window: int | None = None,
        max_output: int | None = None,
        provider: str | None = None,
        **options: Any,
    ) -> None:
        if trigger is not ...:
            options["trigger"] = _size(trigger)
        if keep is not ...:
            options["keep"] = _size(keep)
        section = {"preset": preset, **options}
        self._native = _native.Policy(
            json.dumps({"summarization": section}),
            model=model,
            window=window,
            max_output=max_output,
            provider=provider,
        )

    @classmethod
    def from_yaml(cls, text: str, **model: Any) -> Policy:
        """The policy of a configuration file's text."""
        return cls._of(_native.Policy(text, **model))

    @classmethod
    def _of(cls, native: _native.Policy) -> Policy:
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def warnings(self) -> list[str]:
        """What its owner should know."""
        return self._native.warnings

    @property
    def window(self) -> int:
        """The model's window in tokens."""
        return self._native.window

    @property
    def trigger_tokens(self) -> int | None:
        """The lowest trigger in tokens."""
        return self._native.trigger_tokens

    def numbers(self) -> dict[str, Any]:
        """Everything that decides, in numbers."""
        found: dict[str, Any] = json.loads(self._native.numbers())
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _policy_again, self._native.made_of

    def __repr__(self) -> str:
        return f"Policy(window={self.window}, trigger_tokens={self.trigger_tokens})"

    def _repr_html_(self) -> str:
        shown = ("preset", "window", "output_reserve", "triggers", "keep", "placement", "counter")
        numbers = self.numbers()
        return _table("Policy", [(name, numbers.get(name)) for name in shown])


def _policy_again(
    text: str, model: str | None, window: int | None, max_output: int | None, provider: str | None
) -> Policy:
    return Policy._of(
        _native.Policy(text, model=model, window=window, max_output=max_output, provider=provider)
    )


@dataclass(frozen=True)
class Report:
    """How a check or a compaction ended."""

    outcome: str
    tokens_before: int = 0
    tokens_after: int | None = None
    messages_before: int = 0
    messages_removed: int = 0
    reasons: tuple[str, ...] = ()
    failure: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Report:
        """From the engine's own."""
        measured = raw["measured"]
        failure = raw.get("failure")
        return cls(
            outcome=raw["outcome"],
            tokens_before=measured["tokens_before"],
            tokens_after=measured["tokens_after"],
            messages_before=measured["messages_before"],
            messages_removed=measured["messages_removed"],
            reasons=tuple(r if isinstance(r, str) else next(iter(r)) for r in raw["reasons"]),
            failure=None if failure is None else json.dumps(failure) if not isinstance(failure, str) else failure,
            raw=raw,
        )

    @property
    def is_change(self) -> bool:
        """Whether the conversation is shown differently now."""
        return self.outcome in {"compacted", "pruned"}

    def _repr_html_(self) -> str:
        return _table(
            "Report",
            [
                ("outcome", self.outcome),
                ("tokens", f"{self.tokens_before} → {self.tokens_after}"),
                ("messages folded", f"{self.messages_removed} of {self.messages_before}"),
                ("reasons", ", ".join(self.reasons)),
            ],
        )


@dataclass(frozen=True)
class ModelCall:
    """One call of a summariser: send both texts, ask for at most ``max_output_tokens``."""

    system: str
    document: str
    max_output_tokens: int
    input_tokens: int
    model: str | None = None


@dataclass(frozen=True)
class Reply:
    """What a model answered. ``finish``: "stop", "length", "tool_calls" or "refusal"; ``usage``: tokens in and out."""

    text: str
    finish: str = "stop"
    usage: tuple[int, int] | None = None


#: A summariser. Raise whatever comes; a ``TimeoutError`` or an exception whose ``status_code`` says so is tried again.
Model: TypeAlias = "Callable[[ModelCall], str | Reply] | Callable[[ModelCall], Awaitable[str | Reply]]"
#: Told of the engine's events, one start and one end a compaction.
Listener: TypeAlias = "Callable[[Mapping[str, Any]], None]"
#: Called with the positions that are about to be folded. What it raises is logged and ignored.
Hook: TypeAlias = "Callable[[Sequence[int]], None]"


def _route(model: str | None, max_input: int, max_output: int) -> str:
    route = {
        "model": model,
        "replay": False,
        "max_input": max_input,
        "max_output": max_output,
        "takes_schema": False,
    }
    return json.dumps([route])


def _failure(error: BaseException) -> tuple[str, str]:
    """What an exception of a model means, by what can be done about it."""
    message = f"{type(error).__name__}: {error}"[:300]
    name = type(error).__name__
    if name == "ContextOverflowError" or "context_length_exceeded" in str(error):
        return "overflow", message
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "timed_out", message
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(status, int) and (status == 429 or status >= 500) or isinstance(error, ConnectionError):
        return "unavailable", message
    return "unusable", message


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
        return _table(
            "Conversation",
            [
                ("messages", len(self)),
                ("folded", len(self.folded)),
                ("tokens of the request", size["tokens"]),
                ("trigger", self.policy.trigger_tokens),
                ("summary", self.summary),
            ],
        )

    # The loops

    def run(
        self,
        model: Model | None = None,
        *,
        on_event: Listener | None = None,
        before_removal: Hook | None = None,
    ) -> Report:
        """Drives the attempt that is under way to its end."""
        while True:
            now = _now()
            ask = json.loads(self.native.poll(now))
            kind = ask["kind"]
            if kind == "done":
                return Report.of(ask["report"])
            if kind == "none":
                raise RuntimeError("no attempt is under way")
            if kind == "call":
                try:
                    answer = _ask(model, ask)
                except Exception as error:
                    self._failed(ask["call"], error)
                else:
                    if not isinstance(answer, (str, Reply)):
                        if inspect_module.iscoroutine(answer):
                            answer.close()
                        self._abandon()
                        raise TypeError("an async model needs the async loop: acompact, arun")
                    self._replied(ask["call"], answer)
            elif kind == "idle":
                if ask["wake_at"] is None:
                    self.native.cancel(now)
                else:
                    time.sleep(max(ask["wake_at"] - _now(), 0) / 1000)
            else:
                self._tell(ask, on_event, before_removal)

    async def arun(
        self,
        model: Model | None = None,
        *,
        on_event: Listener | None = None,
        before_removal: Hook | None = None,
    ) -> Report:
        """Drives the attempt that is under way to its end; as many calls at a time as the policy allows."""
        calls: dict[asyncio.Task[str | Reply], int] = {}
        try:
            while True:
                now = _now()
                ask = json.loads(self.native.poll(now))
                kind = ask["kind"]
                if kind == "done":
                    return Report.of(ask["report"])
                if kind == "none":
                    raise RuntimeError("no attempt is under way")
                if kind == "call":
                    calls[asyncio.ensure_future(_aask(model, ask))] = ask["call"]
                elif kind == "abort":
                    for task in [task for task, call in calls.items() if call == ask["call"]]:
                        del calls[task]
                        task.cancel()
                elif kind == "idle":
                    await self._wait(calls, ask["wake_at"], now)
                else:
                    self._tell(ask, on_event, before_removal)
        except asyncio.CancelledError:
            self._abandon()
            raise
        finally:
            for task in calls:
                task.cancel()

    def _abandon(self) -> None:
        """Stops the attempt: the next one can begin."""
        self.native.cancel(_now())
        while (kind := json.loads(self.native.poll(_now()))["kind"]) not in ("done", "none", "idle"):
            if kind == "hook":
                self.native.hooked(_now())

    async def _wait(self, calls: dict[asyncio.Task[str | Reply], int], wake_at: int | None, now: int) -> None:
        if not calls and wake_at is None:
            return self.native.cancel(now)
        timeout = None if wake_at is None else max(wake_at - now, 0) / 1000
        if not calls:
            return await asyncio.sleep(timeout or 0)
        done, _ = await asyncio.wait(calls, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for task in sorted(done, key=lambda task: calls[task]):
            call = calls.pop(task)
            error = task.exception()
            if error is not None:
                self._failed(call, error)
            else:
                self._replied(call, task.result())
        return None

    def _replied(self, call: int, answer: str | Reply) -> None:
        reply = Reply(answer) if isinstance(answer, str) else answer
        self.native.replied(_now(), call, reply.text, reply.finish, reply.usage)

    def _failed(self, call: int, error: BaseException) -> None:
        self.errors.append(error)
        kind, message = _failure(error)
        self.native.failed(_now(), call, kind, message)

    def _tell(self, ask: Mapping[str, Any], on_event: Listener | None, hook: Hook | None) -> None:
        if ask["kind"] == "event" and on_event is not None:
            on_event(ask["event"])
        elif ask["kind"] == "hook":
            try:
                if hook is not None:
                    hook(ask["removed"])
            except Exception as error:
                self.errors.append(error)
            self.native.hooked(_now())


def _conversation_again(policy: Policy, messages: list[str], saved: str) -> Conversation:
    return Conversation.restore(policy, messages, saved)


def _call(ask: Mapping[str, Any]) -> ModelCall:
    names = ("system", "document", "max_output_tokens", "input_tokens", "model")
    return ModelCall(**{name: ask[name] for name in names})


def _ask(model: Model | None, ask: Mapping[str, Any]) -> Any:
    if model is None:
        raise RuntimeError("no model was given")
    return model(_call(ask))


async def _aask(model: Model | None, ask: Mapping[str, Any]) -> str | Reply:
    answer = _ask(model, ask)
    made: str | Reply = await answer if isinstance(answer, Awaitable) else answer
    return made


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


@dataclass(frozen=True)
class Compacted:
    """What a compaction of a list or a document came to."""

    messages: Any
    report: Report
    summary: str | None = None

    def _repr_html_(self) -> str:
        return self.report._repr_html_() + (_table("Summary", [("text", self.summary)]) if self.summary else "")


@dataclass(frozen=True)
class Inspection:
    """Where the tokens of a conversation are."""

    messages: int
    tokens: int
    window: int
    triggered: bool
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    def _repr_html_(self) -> str:
        shares = [(share["name"], f"{share['tokens']} tokens in {share['count']}") for share in self.raw["roles"]]
        rows: list[tuple[str, object]] = [
            ("messages", self.messages),
            ("tokens", f"{self.tokens} of {self.window}"),
            ("trigger reached", self.triggered),
            *shares,
        ]
        return _table("Inspection", rows)


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
        self._routes = "[]" if model is None else _route(model_name, max_input, max_output)

    def conversation(self, messages: Sequence[Any] = (), *, fixed: Sequence[str] = ()) -> Conversation:
        """A conversation under this policy."""
        return Conversation(self.policy, messages, fixed=fixed)

    def before_call(self, conversation: Conversation) -> Report:
        """The check before a call of the model: compacts where a trigger is reached."""
        return self._run(conversation, conversation.native.before_call(_now(), self._routes))

    async def abefore_call(self, conversation: Conversation) -> Report:
        """The same, with an async model."""
        return await self._arun(conversation, conversation.native.before_call(_now(), self._routes))

    def compact(self, messages: Any, **asked: Any) -> Compacted:
        """Compacts a list of messages or a document, whatever its size. See :func:`compact`."""
        opened, form, request = self._open(messages, asked)
        report = self._run(opened, opened.native.manual(_now(), request))
        return _finished(opened, form, report)

    async def acompact(self, messages: Any, **asked: Any) -> Compacted:
        """The same, with an async model."""
        opened, form, request = self._open(messages, asked)
        report = await self._arun(opened, opened.native.manual(_now(), request))
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
