"""LangChain's messages as the engine sees them, made once a message.

A message is known again by identity, and what is known of it holds only while its content is what it was: messages can
be changed in place.
"""

from __future__ import annotations

import copy
import json
import weakref
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from conspectus._native import Message
from conspectus._plain import plain

__all__ = ["messages_json", "view", "views"]

#: Fields that say something to the engine, in the order of its JSON.
_SHARED: Final = ("name", "id")
_CALLS: Final = ("tool_calls", "invalid_tool_calls")
#: Types whose role the engine's view holds; others are counted by LangChain itself.
_EXACT: Final = frozenset({"human", "ai", "system", "tool", "AIMessageChunk", "HumanMessageChunk"})
_NOTHING: Final[dict[str, Any]] = {}


#: Fields that can change what the engine sees, beside content.
_WATCHED: Final = {
    "ai": ("name", "additional_kwargs", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata"),
    "tool": ("name", "additional_kwargs", "tool_call_id", "status"),
    "other": ("name", "additional_kwargs"),
}


class _Known:
    """A message's view, with what it was made of."""

    __slots__ = ("content", "fields", "message", "view", "watched")

    def __init__(self, message: BaseMessage, made: Message) -> None:
        self.message = weakref.ref(message, _forget(id(message)))
        self.view = made
        kind = "ai" if isinstance(message, AIMessage) else "tool" if isinstance(message, ToolMessage) else "other"
        self.watched = _WATCHED[kind]
        self.content = _kept(message.content)
        self.fields = [_kept(getattr(message, name)) for name in self.watched]

    def holds(self, message: BaseMessage) -> bool:
        fields = message.__dict__
        content = fields["content"]
        if self.content is not content and (type(content) is str or self.content != content):
            return False
        # Text that is the same object is the same; all else is compared.
        return self.fields == [fields[name] for name in self.watched]


def _kept(value: Any) -> Any:
    """The value as it is now: a copy where it can be changed in place."""
    return copy.deepcopy(value) if value and isinstance(value, (dict, list)) else value if value else copy.copy(value)


_known: dict[int, _Known] = {}


def _forget(key: int) -> Any:
    def forget(gone: Any) -> None:
        found = _known.get(key)
        if found is not None and found.message is gone:
            _known.pop(key, None)

    return forget


def views(messages: Sequence[BaseMessage]) -> list[Message]:
    """The engine's views, in order. Costs what is new, and a comparison for what is known."""
    known = _known
    out = []
    for message in messages:
        found = known.get(id(message))
        if found is None or found.message() is not message or not found.holds(message):
            found = _Known(message, view(message))
            known[id(message)] = found
        out.append(found.view)
    return out


def view(message: BaseMessage) -> Message:
    """The engine's view of one message."""
    fields, is_exact = _fields(message)
    counts = None
    if not is_exact:
        # Not what Python would print: LangChain counts it itself.
        counts = (
            int(count_tokens_approximately([message])),
            int(count_tokens_approximately([message], chars_per_token=3.3)),
        )
    total = provider = None
    if isinstance(message, AIMessage):
        reported = (message.usage_metadata or _NOTHING).get("total_tokens")
        total = reported if isinstance(reported, int) and reported >= 0 else None
        named = message.response_metadata.get("model_provider")
        provider = named if isinstance(named, str) and named else None
    return Message(fields, total_tokens=total, provider=provider, counts=counts)


def _fields(message: BaseMessage) -> tuple[str, bool]:
    """The message's JSON, and whether all that counts survives in it."""
    fields: dict[str, Any] = {"type": message.type, "content": message.content}
    for name in _SHARED:
        value = getattr(message, name, None)
        if value is not None:
            fields[name] = value
    if isinstance(message, AIMessage):
        for name in _CALLS:
            calls = getattr(message, name)
            if calls:
                fields[name] = calls
        if message.usage_metadata:
            fields["usage_metadata"] = message.usage_metadata
    elif isinstance(message, ToolMessage):
        fields["tool_call_id"] = message.tool_call_id
        fields["status"] = message.status
    else:
        role = getattr(message, "role", None)
        if role is not None:
            fields["role"] = role
    extra = message.additional_kwargs
    if extra:
        fields["additional_kwargs"] = extra
    is_exact = message.type in _EXACT and "__openai_role__" not in extra
    if isinstance(message, AIMessage) and message.tool_calls and not isinstance(message.content, str):
        # Calls beside a list are not counted by the formula; the view does not say where a call stands.
        is_exact = False
    try:
        text = json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(plain(fields)), False
    # Python counts both halves of a pair that was put together from two strings.
    return text, is_exact and not ("\\ud" in text and _has_surrogates(message))


def _has_surrogates(message: BaseMessage) -> bool:
    try:
        str(message.content).encode()
    except UnicodeEncodeError:
        return True
    return False


def messages_json(messages: Sequence[BaseMessage]) -> str:
    """A list of messages as LangChain's JSON."""
    return "[" + ",".join(_fields(message)[0] for message in messages) + "]"
