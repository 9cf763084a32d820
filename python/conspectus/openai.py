"""Message lists of the ``openai`` SDK, kept inside a window.

    from conspectus.openai import compact
    messages = compact(messages, window=128_000).messages
    reply = client.chat.completions.create(model="gpt-4.1", messages=messages)

Lists of Chat Completions and inputs of Responses are told apart by what is in them; with ``instructions`` it is the latter. Messages that stay are the very same
objects, the SDK's own or dictionaries; what was shortened, and the summary, are dictionaries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from conspectus._sdk import acompacted, attempt, compacted, policy_of
from conspectus.engine import Compacted, Model, ModelCall, Policy, Reply

__all__ = ["acompact", "amodel", "compact", "model"]

#: Parts that stand in an input of Responses only.
_RESPONSES_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text"})


def compact(
    messages: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | None = None,
    *,
    model: Any = None,
    model_name: str | None = None,
    window: int | None = None,
    instructions: str | None = None,
    tools: Sequence[Any] | None = None,
    only_if_triggered: bool = True,
    below_keep: bool = False,
    focus: str | None = None,
) -> Compacted:
    """The list as it may be sent: compacted where a trigger is reached, or always (``only_if_triggered=False``).

    ``model``: a client (``OpenAI``), which then writes the summary with ``model_name``, or any function of a
    :class:`conspectus.ModelCall`; without it the summary is an extract made by code. ``instructions`` and ``tools`` are
    what goes beside the list: they are counted and stay as they are. ``window``: the model's, in tokens.
    """
    key, beside = _request(messages, instructions, tools)
    asked = {"only_if_triggered": only_if_triggered, "below_keep": below_keep, "focus": focus}
    made, _ = compacted(
        key, messages, beside, policy_of(policy, window), _writer(model, model_name, is_async=False), asked
    )
    return made


async def acompact(
    messages: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | None = None,
    *,
    model: Any = None,
    model_name: str | None = None,
    window: int | None = None,
    instructions: str | None = None,
    tools: Sequence[Any] | None = None,
    only_if_triggered: bool = True,
    below_keep: bool = False,
    focus: str | None = None,
) -> Compacted:
    """The same with ``AsyncOpenAI``, or any async function: several parts are summed up at a time."""
    key, beside = _request(messages, instructions, tools)
    asked = {"only_if_triggered": only_if_triggered, "below_keep": below_keep, "focus": focus}
    made, _ = await acompacted(
        key, messages, beside, policy_of(policy, window), _writer(model, model_name, is_async=True), asked
    )
    return made


def model(client: Any, model_name: str, **options: Any) -> Callable[[ModelCall], Reply]:
    """A client as a summariser, for :class:`conspectus.Engine` too. ``options`` go into each request."""
    client = _without_retries(client)

    def write(call: ModelCall) -> Reply:
        try:
            return _reply(client.chat.completions.create(**_asked(client, call, model_name), **options))
        except Exception as error:
            raise attempt(error) from error

    return write


def amodel(client: Any, model_name: str, **options: Any) -> Callable[[ModelCall], Awaitable[Reply]]:
    """An async client as a summariser."""
    client = _without_retries(client)

    async def write(call: ModelCall) -> Reply:
        try:
            return _reply(await client.chat.completions.create(**_asked(client, call, model_name), **options))
        except Exception as error:
            raise attempt(error) from error

    return write


def _writer(said: Any, name: str | None, *, is_async: bool) -> Model | None:
    if said is None or not hasattr(said, "chat"):
        return said  # type: ignore[no-any-return]
    if name is None:
        raise ValueError("say with model_name which model of this client writes the summary")
    if type(said).__name__.startswith("Async"):
        if not is_async:
            raise TypeError("an async client needs acompact")
        return amodel(said, name)
    return model(said, name)


def _without_retries(client: Any) -> Any:
    # The engine tries again itself, within its own limits.
    return client.with_options(max_retries=0) if hasattr(client, "with_options") else client


def _asked(client: Any, call: ModelCall, name: str) -> dict[str, Any]:
    # OpenAI's newer models refuse the older name, which is the one that other servers know.
    host = str(getattr(client, "base_url", ""))
    is_own = "api.openai.com" in host or ".azure.com" in host
    cap = "max_completion_tokens" if is_own else "max_tokens"
    messages = [{"role": "system", "content": call.system}, {"role": "user", "content": call.document}]
    return {"model": call.model or name, "messages": messages, cap: call.max_output_tokens}


def _reply(answer: Any) -> Reply:
    (choice, *_) = answer.choices
    refusal = getattr(choice.message, "refusal", None)
    finish = "refusal" if refusal or choice.finish_reason == "content_filter" else choice.finish_reason or "stop"
    usage = answer.usage
    return Reply(
        choice.message.content or "",
        finish if finish in {"stop", "length", "tool_calls", "refusal"} else "stop",
        None if usage is None else (usage.prompt_tokens, usage.completion_tokens),
    )


def _request(
    messages: Sequence[Any], instructions: str | None, tools: Sequence[Any] | None
) -> tuple[str, dict[str, Any]]:
    if isinstance(messages, str):
        raise TypeError("a list is compacted: [{'role': 'user', 'content': ...}, ...]")
    if instructions is not None or _is_responses(messages):
        return "input", {"instructions": instructions, "tools": tools}
    return "messages", {"tools": tools}


def _is_responses(messages: Sequence[Any]) -> bool:
    def of(item: Any, name: str) -> Any:
        return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)

    for item in messages:
        if of(item, "type") is not None:
            return True
        content = of(item, "content")
        parts = content if isinstance(content, list) else []
        if any(of(part, "type") in _RESPONSES_PARTS for part in parts):
            return True
    return False
