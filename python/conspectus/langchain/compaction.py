"""A middleware of ours: the state keeps every message, and the model is sent a projection of them.

What was folded, and what stands for it, lies in one channel of the state beside the messages, so any checkpointer keeps
both, and a fork or a rewind finds the compaction that belongs to its messages.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain.chat_models import BaseChatModel, init_chat_model
from langchain.tools import ToolRuntime, tool
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.types import Command
from typing_extensions import NotRequired

from conspectus._driver import aperform, now, perform
from conspectus._plain import sound
from conspectus.conversation import Conversation
from conspectus.langchain.views import views
from conspectus.model import Model, ModelCall, Reply, route
from conspectus.policy import Policy
from conspectus.report import Report

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

__all__ = ["CompactionMiddleware", "CompactionState"]

logger = logging.getLogger(__name__)

#: Conversations that are held open beside the state; one that is not is made again from it.
_OPEN: Final = 256
#: What a summariser may be given where nobody knows its window.
_UNKNOWN_WINDOW: Final = 128_000
_CONFIG: Final[RunnableConfig] = {
    "metadata": {"lc_source": "summarization"},
    "tags": ["nostream"],
}


class CompactionState(AgentState[Any]):
    """The state with what is known of its compactions: ``record`` (as text), ``summary``, ``registries``."""

    conspectus: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class _Open:
    """A conversation that is held open."""

    def __init__(self, conversation: Conversation, saved: str) -> None:
        self.conversation = conversation
        #: What the state is known to hold of it.
        self.saved = saved
        self.task: asyncio.Task[Report] | None = None


@dataclass(frozen=True)
class _Compact:
    """Drive the attempt that was started."""

    opened: _Open
    in_background: bool = False


@dataclass(frozen=True)
class _Wait:
    """Wait for the attempt that runs in the background, if one does."""

    opened: _Open


#: What is done around a call of the model; a request is sent.
_Step: TypeAlias = "_Compact | _Wait | ModelRequest[Any]"


class CompactionMiddleware(AgentMiddleware[CompactionState, Any, Any]):
    """Keeps what the model is sent inside its window, and all messages in the state.

    ``policy`` are the options of :class:`conspectus.Policy` (a preset's name, a dictionary, or a policy). ``model``
    writes the summaries; ``None``: the model that the agent runs on. ``strategy="digest"`` among the options asks
    nobody. ``recall=True`` gives the agent a tool that finds what was folded.

    With async agents a compaction may run in the background from the soft trigger on, and late messages stay.
    """

    state_schema = CompactionState

    def __init__(
        self,
        policy: Policy | Mapping[str, Any] | str = "default",
        *,
        model: str | BaseChatModel | None = None,
        recall: bool = True,
        before_removal: Callable[[Sequence[AnyMessage]], None] | None = None,
        on_event: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        super().__init__()
        self.policy = policy
        self.model = init_chat_model(model) if isinstance(model, str) else model
        self.before_removal = before_removal
        self.on_event = on_event
        self.tools = [_recall] if recall else []
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._policies: dict[tuple[Any, ...], Policy] = {}
        self._lock = threading.Lock()

    # Around each call of the model

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ExtendedModelResponse[Any]:
        """Compacts where a trigger is reached, and sends the projection."""

        def act(step: _Step) -> Any:
            if isinstance(step, _Compact):
                report = step.opened.conversation.run(
                    self._writer(request, handler), on_event=self.on_event, before_removal=self._hook(request.messages)
                )
                self._ended(report)
                return report
            # What runs in the background runs in another loop; the next call looks again.
            return None if isinstance(step, _Wait) else handler(step)

        return perform(self._around(request), act)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """The same; from the soft trigger on in the background."""

        async def compact(opened: _Open) -> Report:
            report = await opened.conversation.arun(
                self._awriter(request, handler), on_event=self.on_event, before_removal=self._hook(request.messages)
            )
            self._ended(report)
            return report

        async def act(step: _Step) -> Any:
            if isinstance(step, _Compact):
                step.opened.task = asyncio.ensure_future(compact(step.opened))
                return None if step.in_background else await step.opened.task
            if isinstance(step, _Wait):
                if step.opened.task is not None:
                    await asyncio.wait([step.opened.task])
                return None
            return await handler(step)

        return await aperform(self._around(request), act)

    def _around(self, request: ModelRequest[Any]) -> Generator[_Step, Any, ExtendedModelResponse[Any]]:
        """What is done around a call: compactions, waits for one, and the call itself, which may overflow once."""
        opened, routes = self._opened(request)
        conversation = opened.conversation
        decision = json.loads(conversation.native.before_call(now(), routes))
        if decision["kind"] == "wait":
            yield _Wait(opened)
            decision = json.loads(conversation.native.before_call(now(), routes))
        if decision["kind"] == "start":
            yield _Compact(opened, in_background=decision["background"])
        conversation.native.sent(now())
        try:
            response = yield self._shown(request, conversation)
        except ContextOverflowError:
            yield _Wait(opened)
            decision = json.loads(conversation.native.overflowed(now(), None, routes))
            if decision["kind"] != "start" or not (yield _Compact(opened)).is_change:
                raise
            response = yield self._shown(request, conversation)
        return self._told(opened, response)

    def _writer(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]) -> Model:
        writer = self.model or request.model

        def ask(call: ModelCall) -> Reply:
            if call.replay is None:
                return _reply(writer.invoke(_asked(call), config=_CONFIG))
            with _unstreamed():
                return _replayed(handler(_repeated(request, call)))

        return ask

    def _awriter(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Model:
        writer = self.model or request.model

        async def ask(call: ModelCall) -> Reply:
            if call.replay is None:
                return _reply(await writer.ainvoke(_asked(call), config=_CONFIG))
            with _unstreamed():
                return _replayed(await handler(_repeated(request, call)))

        return ask

    def _hook(self, messages: Sequence[AnyMessage]) -> Callable[[Sequence[int]], None] | None:
        hook = self.before_removal
        if hook is None:
            return None
        return lambda removed: hook([messages[at] for at in removed if at < len(messages)])

    def _ended(self, report: Report) -> None:
        if report.outcome in {"failed", "rejected"}:
            logger.warning("The conversation was not compacted (%s): %s", report.outcome, report.failure)

    # The conversation of a state

    def _opened(self, request: ModelRequest[Any]) -> tuple[_Open, str]:
        policy, routes = self._policy(request)
        known: str = (request.state.get("conspectus") or {}).get("record", "")  # type: ignore[attr-defined]
        seen = views(request.messages)
        fixed = _fixed(request)
        key = _thread()
        with self._lock:
            opened = self._open.get(key) if key is not None else None
            if opened is not None:
                here = opened.conversation
                same = here.native.common(seen) == len(here)
                if same and known == opened.saved:
                    self._open.move_to_end(cast("str", key))
                    if here.policy is not policy:
                        here.native.set_policy(policy._native)
                        here.policy = policy
                    here.native.set_fixed(fixed)
                    here.append(seen[len(here) :])
                    return opened, routes
                if opened.task is not None:
                    opened.task.cancel()
            if known:
                conversation = Conversation.restore(policy, seen, known, fixed=fixed)
            else:
                conversation = Conversation(policy, seen, fixed=fixed)
            opened = _Open(conversation, known)
            if key is not None:
                self._open[key] = opened
                while len(self._open) > _OPEN:
                    self._open.popitem(last=False)
            return opened, routes

    def _policy(self, request: ModelRequest[Any]) -> tuple[Policy, str]:
        """The policy for the model of this request, and the model to ask for summaries."""
        window, output = _limits(request.model)
        name = _name(request.model)
        writer = self.model or request.model
        most, written = _limits(writer)
        # The run's own request can be repeated to the run's own model, where a text may answer it.
        replay = self.model is None and request.response_format is None and request.tool_choice in (None, "auto")
        name_of = None if replay else _name(writer)
        routes = route(name_of, most or _UNKNOWN_WINDOW, written or 8_000, replay=replay)
        if isinstance(self.policy, Policy):
            return self.policy, routes
        key = (name, window, output)
        if key not in self._policies:
            options = {"preset": self.policy} if isinstance(self.policy, str) else dict(self.policy)
            said = {"model": name, "window": window, "max_output": output}
            self._policies[key] = Policy(**{**said, **options})
        return self._policies[key], routes

    def _shown(self, request: ModelRequest[Any], conversation: Conversation) -> ModelRequest[Any]:
        if conversation.native.is_untouched:
            return request
        pieces = conversation.native.projection()
        messages = [_message(piece, request.messages) for piece in pieces]
        return request.override(messages=cast("list[AnyMessage]", messages))

    def _told(self, opened: _Open, response: ModelResponse[Any]) -> ExtendedModelResponse[Any]:
        """The reply, and what the state has to know."""
        conversation = opened.conversation
        if conversation.native.report() is None and not opened.saved:
            return ExtendedModelResponse(response)
        saved = conversation.saved()
        if saved == opened.saved:
            return ExtendedModelResponse(response)
        opened.saved = saved
        update = {
            "record": saved,
            "summary": conversation.summary,
            "registries": conversation.registries(),
            "folded": len(conversation.folded),
        }
        return ExtendedModelResponse(response, Command(update={"conspectus": update}))


def _thread() -> str | None:
    """The thread and the namespace of the graph that runs: subgraphs have conversations of their own."""
    try:
        configurable = get_config().get("configurable") or {}
    except RuntimeError:
        return None
    thread = configurable.get("thread_id")
    namespace = str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]
    return None if thread is None else f"{thread}\n{namespace}"


def _fixed(request: ModelRequest[Any]) -> list[str]:
    """What stands beside the messages."""
    system = request.system_message
    fixed: list[str] = [sound(system.text)] if system is not None else []
    for offered in request.tools:
        schema = offered if isinstance(offered, dict) else convert_to_openai_tool(offered)
        fixed.append(json.dumps(schema, default=str))
    return fixed


def _limits(model: BaseChatModel) -> tuple[int | None, int | None]:
    profile = getattr(model, "profile", None)
    profile = profile if isinstance(profile, Mapping) else {}
    found = (profile.get(name) for name in ("max_input_tokens", "max_output_tokens"))
    window, output = (n if isinstance(n, int) and n > 0 else None for n in found)
    return window, output


def _name(model: BaseChatModel) -> str | None:
    for field in ("model_name", "model"):
        name = getattr(model, field, None)
        if isinstance(name, str):
            return name
    return None


def _asked(call: ModelCall) -> list[BaseMessage]:
    return [SystemMessage(call.system), HumanMessage(call.document)]


def _reply(answer: AIMessage) -> Reply:
    meta = answer.response_metadata
    finish = meta.get("finish_reason") or meta.get("stop_reason") or "stop"
    usage = answer.usage_metadata
    told = (usage["input_tokens"], usage["output_tokens"]) if usage else None
    if answer.tool_calls and not answer.text.strip():
        finish = "tool_calls"
    return Reply(answer.text, str(finish), told)


def _repeated(request: ModelRequest[Any], call: ModelCall) -> ModelRequest[Any]:
    """The run's own request with the instruction behind it: the same system text, tools and settings."""
    shown = [_message(tuple(piece), request.messages) for piece in call.replay or ()]
    return request.override(messages=cast("list[AnyMessage]", [*shown, HumanMessage(call.document)]))


def _replayed(response: Any) -> Reply:
    made = getattr(response, "model_response", response)
    replies = [message for message in made.result if isinstance(message, AIMessage)]
    return _reply(replies[-1]) if replies else Reply("")


@contextmanager
def _unstreamed() -> Iterator[None]:
    """No token of what is called within reaches a stream, whichever model an inner middleware puts in its place."""
    config = ensure_config()
    tags = [*(config.get("tags") or []), *(tag for tag in _CONFIG["tags"] if tag not in (config.get("tags") or []))]
    metadata = {**(config.get("metadata") or {}), **_CONFIG["metadata"]}
    token = var_child_runnable_config.set({**config, "tags": tags, "metadata": metadata})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _message(piece: tuple[Any, ...], messages: Sequence[BaseMessage]) -> BaseMessage:
    match piece:
        case ("keep", at) | ("edit", at, None):
            whole: BaseMessage = messages[at]
            return whole
        case ("edit", at, text):
            return _edited(messages[at], json.loads(text))
        case (_, "answer", _, text, call, name):
            return ToolMessage(text, tool_call_id=call, name=name)
        case (_, _, "system", text, _, _):
            return SystemMessage(text)
        case (_, _, "assistant", text, _, _):
            return AIMessage(text)
    _, kind, _, text, _, _ = piece
    extra = {"hide_from_ui": True}
    if kind == "summary":
        extra["lc_source"] = "summarization"  # type: ignore[assignment]
    return HumanMessage(text, additional_kwargs=extra)


def _edited(message: BaseMessage, shown: Mapping[str, Any]) -> BaseMessage:
    """A copy with what was shortened; the message in the state stays whole."""
    update: dict[str, Any] = {"content": shown.get("content", "")}
    for name in ("tool_calls", "invalid_tool_calls", "additional_kwargs"):
        if getattr(message, name, None):
            update[name] = shown.get(name, type(getattr(message, name))())
    edited: BaseMessage = message.model_copy(update=update)
    return edited


@tool("recall")
def _recall(query: str, runtime: ToolRuntime) -> str:
    """Finds earlier parts of this conversation that are no longer shown.

    Args:
        query: Words to look for, or a reference such as cx-0123456789ab from a shortened result.
    """
    messages = runtime.state["messages"]
    saved = (runtime.state.get("conspectus") or {}).get("record")
    seen = views(messages)
    policy = Policy()
    conversation = Conversation.restore(policy, seen, saved) if saved else Conversation(policy, seen)
    native = conversation.native
    whole = native.recall(sound(query.strip()))
    folded = set(native.folded)
    found = whole or [
        (at, messages[at].text) for at, _ in native.search(sound(query), 64) if at in folded
    ][:5]
    shown = [f"[message {at + 1}, {messages[at].type}]\n{text[:4000]}" for at, text in found]
    return "\n\n".join(shown) or "Nothing was found."
