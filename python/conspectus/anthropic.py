"""Message lists of the ``anthropic`` SDK, kept inside a window.

    from conspectus.anthropic import compact
    made = compact(messages, system=system, window=200_000)
    reply = client.messages.create(model=..., max_tokens=1000, system=made.system, messages=made.messages)

Messages that stay are the very same dictionaries, with the SDK's own objects inside; what was shortened, and the summary,
are new ones.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conspectus._plain import to_json
from conspectus._sdk import acompacted, as_dict, attempt, compacted, policy_of
from conspectus.engine import Compacted, Model, ModelCall, Policy, Reply

__all__ = ["CompactedMessages", "acompact", "amodel", "compact", "model"]

_FINISH = {"max_tokens": "length", "tool_use": "tool_calls", "refusal": "refusal"}


@dataclass(frozen=True)
class CompactedMessages(Compacted):
    """The list with its system prompt, which a summary may stand in (``placement: system_end``)."""

    system: Any = None


def compact(
    messages: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | None = None,
    *,
    system: Any = None,
    tools: Sequence[Any] | None = None,
    model: Any = None,
    model_name: str | None = None,
    window: int | None = None,
    only_if_triggered: bool = True,
    below_keep: bool = False,
    focus: str | None = None,
) -> CompactedMessages:
    """The list as it may be sent: compacted where a trigger is reached, or always (``only_if_triggered=False``).

    ``model``: a client (``Anthropic``), which then writes the summary with ``model_name``, or any function of a
    :class:`conspectus.ModelCall`; without it the summary is an extract made by code. ``system`` and ``tools`` are what
    goes beside the list: they are counted. ``window``: the model's, in tokens.
    """
    asked = {"only_if_triggered": only_if_triggered, "below_keep": below_keep, "focus": focus}
    writer = _writer(model, model_name, is_async=False)
    made, body = compacted("messages", _list(messages), _beside(system, tools), policy_of(policy, window), writer, asked)
    return _told(made, body, system)


async def acompact(
    messages: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | None = None,
    *,
    system: Any = None,
    tools: Sequence[Any] | None = None,
    model: Any = None,
    model_name: str | None = None,
    window: int | None = None,
    only_if_triggered: bool = True,
    below_keep: bool = False,
    focus: str | None = None,
) -> CompactedMessages:
    """The same with ``AsyncAnthropic``, or any async function: several parts are summed up at a time."""
    asked = {"only_if_triggered": only_if_triggered, "below_keep": below_keep, "focus": focus}
    writer = _writer(model, model_name, is_async=True)
    made, body = await acompacted(
        "messages", _list(messages), _beside(system, tools), policy_of(policy, window), writer, asked
    )
    return _told(made, body, system)


def model(client: Any, model_name: str, **options: Any) -> Callable[[ModelCall], Reply]:
    """A client as a summariser, for :class:`conspectus.Engine` too. ``options`` go into each request."""
    client = client.with_options(max_retries=0)

    def write(call: ModelCall) -> Reply:
        try:
            return _reply(client.messages.create(**_asked(call, model_name), **options))
        except Exception as error:
            raise attempt(error) from error

    return write


def amodel(client: Any, model_name: str, **options: Any) -> Callable[[ModelCall], Awaitable[Reply]]:
    """An async client as a summariser."""
    client = client.with_options(max_retries=0)

    async def write(call: ModelCall) -> Reply:
        try:
            return _reply(await client.messages.create(**_asked(call, model_name), **options))
        except Exception as error:
            raise attempt(error) from error

    return write


def _list(messages: Sequence[Any]) -> Sequence[Any]:
    if isinstance(messages, str):
        raise TypeError("a list is compacted: [{'role': 'user', 'content': ...}, ...]")
    return messages


def _beside(system: Any, tools: Sequence[Any] | None) -> dict[str, Any]:
    # A string, a list of blocks, or the SDK's word for nothing.
    is_said = isinstance(system, (str, list, tuple))
    return {"system": system if is_said else None, "tools": tools}


def _told(made: Compacted, body: Mapping[str, Any], system: Any) -> CompactedMessages:
    is_same = body.get("system") is None or body["system"] == json.loads(to_json(as_dict(system)))
    return CompactedMessages(made.messages, made.report, made.summary, system if is_same else body["system"])


def _writer(said: Any, name: str | None, *, is_async: bool) -> Model | None:
    if said is None or not hasattr(said, "messages"):
        return said  # type: ignore[no-any-return]
    if name is None:
        raise ValueError("say with model_name which model of this client writes the summary")
    if type(said).__name__.startswith("Async"):
        if not is_async:
            raise TypeError("an async client needs acompact")
        return amodel(said, name)
    return model(said, name)


def _asked(call: ModelCall, name: str) -> dict[str, Any]:
    return {
        "model": call.model or name,
        "system": call.system,
        "messages": [{"role": "user", "content": call.document}],
        "max_tokens": call.max_output_tokens,
    }


def _reply(answer: Any) -> Reply:
    text = "".join(block.text for block in answer.content if block.type == "text")
    usage = answer.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Reply(text, _FINISH.get(answer.stop_reason, "stop"), (usage.input_tokens + cached, usage.output_tokens))
