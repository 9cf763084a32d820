"""What the helpers for SDKs share: their objects as JSON and back, and a client as a summariser."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conspectus._plain import to_json
from conspectus.engine import Compacted, Engine, Model, Policy

__all__ = ["ContextOverflowError", "acompacted", "as_dict", "attempt", "compacted", "policy_of", "restored"]


class ContextOverflowError(Exception):
    """The summariser's window is too small for what it was sent; the engine sends less."""


def as_dict(value: Any) -> Any:
    """The SDK's object, and those inside, as the SDK would send them."""
    if isinstance(value, Mapping):
        return {key: as_dict(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_dict(inner) for inner in value]
    for name in ("to_dict", "model_dump"):
        dump: Callable[..., Any] | None = getattr(value, name, None)
        if callable(dump) and hasattr(value, "model_fields_set"):
            # What was not set is not sent; names are the API's.
            more = {"by_alias": True} if name == "model_dump" else {}
            return dump(mode="json", exclude_unset=True, **more)
    return value


def policy_of(policy: Any, window: int | None) -> Policy:
    """The policy: one that is there, a preset's name, or options."""
    if isinstance(policy, Policy):
        if window is not None:
            raise ValueError("say the window in the policy: Policy(..., window=...)")
        return policy
    if isinstance(policy, Mapping):
        return Policy(**{"window": window, **policy})
    return Policy(policy or "default", window=window)


def restored(before: Sequence[Any], sent: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """The list with the very objects that were given, where they are what they were. What was changed, and what is new,
    comes as dictionaries. ``sent`` is ``before`` as JSON."""
    found: list[Any] = []
    at = len(sent)
    # From the end: of equal messages the last ones stay.
    for item in reversed(after):
        same = next((i for i in range(at - 1, -1, -1) if sent[i] == item), None)
        if same is None:
            found.append(item)
        else:
            at = same
            found.append(before[same])
    found.reverse()
    return found


def _body(key: str, messages: Sequence[Any], beside: Mapping[str, Any]) -> dict[str, Any]:
    body = {name: as_dict(value) for name, value in beside.items() if value}
    # As it comes back: floats, keys and surrogates as JSON has them.
    body[key] = json.loads(to_json(as_dict(list(messages))))
    return body


def compacted(
    key: str, messages: Sequence[Any], beside: Mapping[str, Any], policy: Policy, model: Model | None, asked: Any
) -> tuple[Compacted, dict[str, Any]]:
    """A request's list, compacted: with the same objects, and the whole body as it is now."""
    body = _body(key, messages, beside)
    made = Engine(policy, model=model).compact(body, **asked)
    return _again(key, messages, body, made)


async def acompacted(
    key: str, messages: Sequence[Any], beside: Mapping[str, Any], policy: Policy, model: Model | None, asked: Any
) -> tuple[Compacted, dict[str, Any]]:
    """The same, with an async model."""
    body = _body(key, messages, beside)
    made = await Engine(policy, model=model).acompact(body, **asked)
    return _again(key, messages, body, made)


def _again(
    key: str, messages: Sequence[Any], body: Mapping[str, Any], made: Compacted
) -> tuple[Compacted, dict[str, Any]]:
    after: dict[str, Any] = made.messages
    if not made.report.is_change and after[key] == body[key]:
        return Compacted(list(messages), made.report, made.summary), after
    return Compacted(restored(messages, body[key], after[key]), made.report, made.summary), after


def attempt(error: Exception) -> Exception:
    """An exception of an SDK, by what the engine can do about it."""
    text = f"{error} {getattr(error, 'code', '')} {getattr(error, 'body', '')}".lower()
    if any(words in text for words in ("context_length_exceeded", "prompt is too long", "maximum context length")):
        return ContextOverflowError(str(error))
    if type(error).__name__ == "APIConnectionError":
        return ConnectionError(str(error))
    return error
