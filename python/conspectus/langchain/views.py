"""LangChain's messages as the engine sees them, made once a message.

A message is known again by identity, or by its id where a checkpointer made it anew, and what is known of it holds only
while its content is what it was: messages can be changed in place.
"""

from __future__ import annotations

import copy
import json
import threading
import weakref
from collections import OrderedDict
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


_IMMUTABLE: Final = frozenset({str, int, float, bool, type(None)})
#: Fields that can change what the engine sees, beside content.
_WATCHED: Final = {
    "ai": ("name", "additional_kwargs", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata"),
    "tool": ("name", "additional_kwargs", "tool_call_id", "status"),
    "other": ("name", "additional_kwargs"),
}


class _Seen:
    """A message's view, with what it was made of."""

    __slots__ = ("content", "fields", "view", "watched")

    def __init__(self, message: BaseMessage, made: Message) -> None:
        self.view = made
        kind = "ai" if isinstance(message, AIMessage) else "tool" if isinstance(message, ToolMessage) else "other"
        self.watched = _WATCHED[kind]
        self.content = _kept(message.content)
        self.fields = [_kept(getattr(message, name)) for name in self.watched]

    def holds(self, message: BaseMessage) -> bool:
        """Whether the message says what it said. Text that is the same object is the same; all else is compared."""
        fields = message.__dict__
        content = fields["content"]
        if self.content is not content and self.content != content:
            return False
        return self.fields == [fields[name] for name in self.watched]


def _kept(value: Any) -> Any:
    """The value as it is now: a copy where it can be changed in place."""
    kind = type(value)
    if kind is dict:
        return {key: _kept(inner) for key, inner in value.items()}
    if kind is list:
        return [_kept(inner) for inner in value]
    return value if kind in _IMMUTABLE else copy.deepcopy(value)


#: By identity, while the message lives.
_known: dict[int, tuple[weakref.ref[BaseMessage], _Seen]] = {}
#: By id: a checkpointer makes its messages anew each turn. The ones seen last, up to so many bytes of JSON.
_named: OrderedDict[tuple[type, str], _Seen] = OrderedDict()
_MOST_BYTES: Final = 64 << 20
_named_bytes = 0
_lock = threading.Lock()


def _forget(key: int) -> Any:
    def forget(gone: Any) -> None:
        found = _known.get(key)
        if found is not None and found[0] is gone:
            _known.pop(key, None)

    return forget


def views(messages: Sequence[BaseMessage]) -> list[Message]:
    """The engine's views, in order. Costs what is new, and a comparison for what is known."""
    known = _known
    out = []
    for message in messages:
        found = known.get(id(message))
        if found is not None and found[0]() is message and found[1].holds(message):
            out.append(found[1].view)
        else:
            out.append(_see(message).view)
    return out


def _see(message: BaseMessage) -> _Seen:
    key = (type(message), message.id) if message.id and message.type in _EXACT else None
    seen = None if key is None else _named.get(key)
    if seen is None or not seen.holds(message):
        seen = _Seen(message, view(message))
    if key is not None:
        _remember(key, seen)
    _known[id(message)] = (weakref.ref(message, _forget(id(message))), seen)
    return seen


def _remember(key: tuple[type, str], seen: _Seen) -> None:
    global _named_bytes
    with _lock:
        before = _named.pop(key, None)
        _named_bytes -= 0 if before is None else before.view.size
        _named[key] = seen
        _named_bytes += seen.view.size
        while _named_bytes > _MOST_BYTES:
            _named_bytes -= _named.popitem(last=False)[1].view.size


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
