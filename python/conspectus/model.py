"""The model that writes summaries, as the engine calls it: a function from a call to a text."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Model", "ModelCall", "Reply", "ask", "failure", "route"]


@dataclass(frozen=True)
class ModelCall:
    """One call of a summariser: send both texts, ask for at most ``max_output_tokens``."""

    system: str
    document: str
    max_output_tokens: int
    input_tokens: int
    model: str | None = None
    #: Pieces of the request that is to be repeated, ``document`` behind it, where a route offered that; else ``None``.
    replay: Sequence[Sequence[Any]] | None = None


@dataclass(frozen=True)
class Reply:
    """What a model answered. ``finish``: "stop", "length", "tool_calls" or "refusal"; ``usage``: tokens in and out."""

    text: str
    finish: str = "stop"
    usage: tuple[int, int] | None = None


#: A summariser. Raise whatever comes; a ``TimeoutError`` or an exception whose ``status_code`` says so is tried again.
Model: TypeAlias = "Callable[[ModelCall], str | Reply] | Callable[[ModelCall], Awaitable[str | Reply]]"


def route(model: str | None, max_input: int, max_output: int, *, replay: bool = False) -> str:
    """The one model that may be asked, as the engine is told of it. ``replay``: it can be sent the conversation itself."""
    said = {
        "model": model,
        "replay": replay,
        "max_input": max_input,
        "max_output": max_output,
        "takes_schema": False,
    }
    return json.dumps([said])


def failure(error: BaseException) -> tuple[str, str]:
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


def ask(model: Model | None, wanted: Mapping[str, Any]) -> Any:
    """What the model answers to a call that an attempt wants; of an async model, what is to be awaited."""
    if model is None:
        raise RuntimeError("no model was given")
    names = ("system", "document", "max_output_tokens", "input_tokens", "model", "replay")
    return model(ModelCall(**{name: wanted[name] for name in names}))
