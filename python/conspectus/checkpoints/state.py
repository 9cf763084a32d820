"""What a checkpoint says of its conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages

__all__ = ["State", "is_summary", "state_of"]

#: How LangChain's class begins the message that a summary stands in.
_OPENING = "Here is a summary of the conversation to date:"
#: Members of a checkpoint's metadata that are LangGraph's own.
_OWN = frozenset(
    {"source", "step", "writes", "parents", "run_id", "thread_id", "run_attempt", "assistant_id", "graph_id"}
)
#: Channels that an agent keeps beside the messages, as ours names them.
_CHANNELS = ("delegations", "skill_context", "todos")


@dataclass
class State:
    """A state of a thread."""

    id: str
    parent: str | None
    ms: int
    messages: list[BaseMessage]
    summary: str | None
    #: The message that the summary stood in, where it stood in one.
    marker: BaseMessage | None
    title: str | None = None
    channels: dict[str, list[Any]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


def is_summary(message: BaseMessage) -> bool:
    """Whether it stands for earlier messages."""
    return isinstance(message, HumanMessage) and message.additional_kwargs.get("lc_source") == "summarization"


def state_of(
    checkpoint: Mapping[str, Any],
    values: Mapping[str, Any],
    metadata: Mapping[str, Any],
    id: str,
    parent: str | None,
    channel: str,
) -> State:
    """The state, of what was deserialised. Raises ``ValueError`` where its messages are none."""
    found = values.get(channel)
    if found is None:
        found = []
    if not isinstance(found, Sequence) or isinstance(found, (str, bytes)):
        raise ValueError(f"channel {channel!r} holds {type(found).__name__}, not messages")
    messages = [m if isinstance(m, BaseMessage) else _message(m) for m in found]
    markers = [m for m in messages if is_summary(m)]
    text = values.get("summary_text")
    summary = text.strip() if isinstance(text, str) and text.strip() else None
    marker = None
    if markers:
        marker = markers[-1]
        summary = marker.text.removeprefix(_OPENING).strip() or None
    title = values.get("title")
    return State(
        id=id,
        parent=parent,
        ms=_milliseconds(checkpoint.get("ts")),
        messages=[m for m in messages if not is_summary(m)],
        summary=summary,
        marker=marker,
        title=title.strip() if isinstance(title, str) and title.strip() else None,
        channels={name: _entries(values[name]) for name in _CHANNELS if values.get(name)},
        metadata={key: value for key, value in metadata.items() if _is_ours(key, value)},
    )


def _message(value: Any) -> BaseMessage:
    # A class that was not loaded leaves the fields it was made of.
    if isinstance(value, Mapping) and "type" in value and "role" not in value:
        value = {"role": value["type"], **value}
    try:
        (made,) = convert_to_messages([value])
    except Exception as error:
        raise ValueError(f"one of its messages cannot be read: {error}"[:300]) from error
    return made


def _entries(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []


def _is_ours(key: str, value: Any) -> bool:
    is_plain = isinstance(value, (str, int, float, bool)) and key not in _OWN
    return is_plain and not key.startswith(("langgraph_", "checkpoint_", "__", "ls_", "lc_"))


def _milliseconds(time: Any) -> int:
    try:
        return int(datetime.fromisoformat(str(time).replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return 0
