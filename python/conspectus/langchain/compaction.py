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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

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
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.types import Command
from typing_extensions import NotRequired

from conspectus._driver import now
from conspectus.conversation import Conversation
from conspectus.langchain.views import views
from conspectus.model import ModelCall, Reply, route
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
        opened, routes = self._opened(request)
        conversation = opened.conversation
        decision = json.loads(conversation.native.before_call(now(), routes))
        if decision["kind"] == "start":
            self._ended(self._run(opened, request))
        conversation.native.sent(now())
        try:
            response = handler(self._shown(request, conversation))
        except ContextOverflowError:
            decision = json.loads(conversation.native.overflowed(now(), None, routes))
            if decision["kind"] != "start" or not self._run(opened, request).is_change:
                raise
            response = handler(self._shown(request, conversation))
        return self._told(opened, response)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """The same; from the soft trigger on in the background."""
        opened, routes = self._opened(request)
        conversation = opened.conversation
        decision = json.loads(conversation.native.before_call(now(), routes))
        if decision["kind"] == "wait" and opened.task is not None:
            await asyncio.wait([opened.task])
            decision = json.loads(conversation.native.before_call(now(), routes))
        if decision["kind"] == "start":
            opened.task = asyncio.ensure_future(self._arun(opened, request))
            if not decision["background"]:
                self._ended(await opened.task)
        conversation.native.sent(now())
        try:
            response = await handler(self._shown(request, conversation))
        except ContextOverflowError:
            if opened.task is not None and not opened.task.done():
                await asyncio.wait([opened.task])
            decision = json.loads(conversation.native.overflowed(now(), None, routes))
            if decision["kind"] != "start" or not (await self._arun(opened, request)).is_change:
                raise
            response = await handler(self._shown(request, conversation))
        return self._told(opened, response)

    def _run(self, opened: _Open, request: ModelRequest[Any]) -> Report:
        return opened.conversation.run(
            _summariser(self.model or request.model),
            on_event=self.on_event,
            before_removal=self._hook(request.messages),
        )

    async def _arun(self, opened: _Open, request: ModelRequest[Any]) -> Report:
        return await opened.conversation.arun(
            _asummariser(self.model or request.model),
            on_event=self.on_event,
            before_removal=self._hook(request.messages),
        )

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
        routes = route(_name(writer), most or _UNKNOWN_WINDOW, written or 8_000)
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
    fixed: list[str] = [system.text] if system is not None else []
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


def _summariser(model: BaseChatModel) -> Callable[[ModelCall], Reply]:
    return lambda call: _reply(model.invoke(_asked(call), config=_CONFIG))


def _asummariser(model: BaseChatModel) -> Callable[[ModelCall], Awaitable[Reply]]:
    async def ask(call: ModelCall) -> Reply:
        return _reply(await model.ainvoke(_asked(call), config=_CONFIG))

    return ask


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
    whole = native.recall(query.strip())
    folded = set(native.folded)
    found = whole or [
        (at, messages[at].text) for at, _ in native.search(query, 64) if at in folded
    ][:5]
    shown = [f"[message {at + 1}, {messages[at].type}]\n{text[:4000]}" for at, text in found]
    return "\n\n".join(shown) or "Nothing was found."
