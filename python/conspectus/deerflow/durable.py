"""Durable context: delegated work and loaded skills, captured before messages can be removed, and shown in every request.

Stands before the summarization. What is captured comes from structured metadata only; the words of a result are never
parsed. Capturing, reducing and rendering are the agent runtime's own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.config import get_config

from conspectus._native import channel_capture, channel_contract, channel_data, skill_stamp
from conspectus._plain import sound, sound_json
from conspectus.deerflow.state import DurableContextState

__all__ = ["DurableContextMiddleware", "stamp_skill_read"]

logger = logging.getLogger(__name__)

_TASK = "task"
_READS = ("read_file", "read", "view", "cat")
_ROOT = "/mnt/skills"
_BEFORE = "__deerflow_pre_run_message_ids"


class DurableContextMiddleware(AgentMiddleware[DurableContextState, Any, Any]):
    """Captures into ``delegations`` and ``skill_context``, and shows both with ``summary_text``."""

    state_schema = DurableContextState

    def __init__(
        self,
        *,
        skills_container_path: str | None = None,
        skill_file_read_tool_names: Iterable[str] | None = None,
    ) -> None:
        super().__init__()
        self._root = _ROOT if skills_container_path is None else skills_container_path
        reads = _READS if skill_file_read_tool_names is None else skill_file_read_tool_names
        self._reads = tuple(reads)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """What delegations and reads of skills added since."""
        return self._captured(state, runtime, state["messages"], with_skills=True)

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same."""
        return self.before_model(state, runtime)

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Work that was just given away is in progress before its tools run."""
        return self._captured(state, runtime, state["messages"], with_skills=False)

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same."""
        return self.after_model(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Shows the channels, in this request only."""
        return handler(self._shown(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The same."""
        return await handler(self._shown(request))

    def _captured(
        self, state: Any, runtime: Any, messages: Sequence[AnyMessage], *, with_skills: bool
    ) -> dict[str, Any] | None:
        run, before = _run(runtime)
        places = self._telling(messages, before if run is not None else frozenset())
        if not places:
            return None
        known: list[dict[str, Any]] = list(state.get("delegations") or ())
        told = [_fields(messages[at]) for at in places]
        captured = json.loads(
            channel_capture(
                sound_json(told),
                sound_json(known),
                run=run,
                before=sorted(before),
                now=datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                root=self._root,
                tools=list(self._reads) if with_skills else [],
            )
        )
        for warning in captured["warnings"]:
            logger.warning("Skill context: %s", warning)
        update: dict[str, Any] = {}
        if captured["delegations"]:
            update["delegations"] = captured["delegations"]
        skills = [{**skill, "loaded_at": places[skill["loaded_at"]]} for skill in captured["skills"]]
        here = {skill.get("path"): skill for skill in state.get("skill_context") or ()}
        news = [skill for skill in skills if here.get(skill["path"]) != skill]
        if news:
            update["skill_context"] = news
        return update or None

    def _telling(self, messages: Sequence[AnyMessage], before: frozenset[str]) -> list[int]:
        """Positions of the messages that can say something: one look at each."""
        places: list[int] = []
        asked: set[str] = set()
        human = old = None
        watched = {_TASK, *self._reads}
        for at, message in enumerate(messages):
            if isinstance(message, AIMessage):
                calls = [call["id"] for call in message.tool_calls if call["name"] in watched and call["id"]]
                if calls:
                    asked.update(calls)
                    places.append(at)
            elif isinstance(message, ToolMessage):
                if message.tool_call_id in asked:
                    places.append(at)
            elif isinstance(message, HumanMessage):
                human = at
            if message.id in before:
                old = at
        if not places:
            return []
        # Which messages belong to the run is said by these two.
        return sorted({*places, *(at for at in (human, old) if at is not None)})

    def _shown(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        state = cast("Mapping[str, Any]", request.state)
        summary, delegations, skills = (state.get(name) for name in ("summary_text", "delegations", "skill_context"))
        if not (summary or delegations or skills):
            return request
        text = sound(summary) if isinstance(summary, str) and summary.strip() else None
        data = channel_data(text, sound_json(delegations or []), sound_json(skills or []))
        if not data:
            return request
        messages = request.messages
        begin = next((at for at, message in enumerate(messages) if not isinstance(message, SystemMessage)), len(messages))
        extra = {"hide_from_ui": True, "durable_context_data": True}
        shown: list[AnyMessage] = [SystemMessage(channel_contract()), HumanMessage(data, additional_kwargs=extra)]
        return request.override(messages=[*messages[:begin], *shown, *messages[begin:]])


def stamp_skill_read(message: ToolMessage, path: str, text: str, *, skills_container_path: str = _ROOT) -> ToolMessage:
    """The result of a read with the metadata that skills are captured by, where ``path`` is a skill's file.

    ``text`` is the file; of it only the description in its front matter is kept.
    """
    stamp = skill_stamp(skills_container_path, sound(path), sound(text))
    if stamp is None:
        return message
    extra = {**message.additional_kwargs, **json.loads(stamp)}
    stamped: ToolMessage = message.model_copy(update={"additional_kwargs": extra})
    return stamped


def _fields(message: BaseMessage) -> dict[str, Any]:
    """What capturing reads of a message."""
    fields: dict[str, Any] = {"type": message.type, "id": message.id, "additional_kwargs": message.additional_kwargs}
    if isinstance(message, AIMessage):
        fields["tool_calls"] = message.tool_calls
    if isinstance(message, ToolMessage):
        # Only whether a failed read says so itself.
        fields.update(content=message.text[:6], tool_call_id=message.tool_call_id, status=message.status)
    return fields


def _run(runtime: Any) -> tuple[str | None, frozenset[str]]:
    """The run, and the messages that were there before it, as the worker says."""
    context = getattr(runtime, "context", None)
    said = context if isinstance(context, Mapping) else vars(context) if hasattr(context, "__dict__") else {}
    try:
        configured = get_config().get("configurable") or {}
    except RuntimeError:
        configured = {}
    run = said.get("run_id") or configured.get("run_id")
    before = said.get(_BEFORE) or configured.get(_BEFORE) or ()
    return (None if run is None else str(run)), frozenset(str(name) for name in before)
