"""Random states of LangChain's agents, from a seed."""

from __future__ import annotations

import random
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

WORDS = (
    "garden river report budget deploy 北京 カタログ naïve e\u0301 🙂 path/to/file.py error=42 <tag> &amp; \"quoted\" it's\n"
    "\ttabs \\back null None True 3.14"
).split(" ")


def text(rng: random.Random, most: int = 60) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(most)))


def content(rng: random.Random) -> Any:
    if rng.random() < 0.8:
        return text(rng)
    blocks: list[Any] = [{"type": "text", "text": text(rng, 20)}]
    if rng.random() < 0.4:
        blocks.append({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})
    if rng.random() < 0.3:
        blocks.append(text(rng, 8))
    if rng.random() < 0.2:
        blocks.append({"type": "text", "text": text(rng, 5), "cache_control": {"type": "ephemeral"}})
    return blocks


def value(rng: random.Random, depth: int = 2) -> Any:
    kinds = 8 if depth else 6
    return [
        lambda: text(rng, 6),
        lambda: rng.randrange(-1000, 10**12),
        lambda: rng.random() * 10 ** rng.randrange(-8, 20),
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: "",
        lambda: [value(rng, depth - 1) for _ in range(rng.randrange(3))],
        lambda: {text(rng, 2): value(rng, depth - 1) for _ in range(rng.randrange(3))},
    ][rng.randrange(kinds)]()


def reply(rng: random.Random, calls: list[str], provider: str | None) -> AIMessage:
    meta: dict[str, Any] = {}
    usage = None
    if provider and rng.random() < 0.7:
        meta["model_provider"] = provider if rng.random() < 0.95 else "another"
    if rng.random() < 0.3:
        into, out = rng.randrange(3000), rng.randrange(500)
        usage = {"input_tokens": into, "output_tokens": out, "total_tokens": into + out}
    listed = [
        {"name": rng.choice(["read_file", "search", "run"]), "args": {"q": value(rng), "n": value(rng, 1)}, "id": call}
        for call in calls
    ]
    return AIMessage(
        content=content(rng) if not calls or rng.random() < 0.5 else "",
        tool_calls=listed,
        response_metadata=meta,
        usage_metadata=usage,
    )


def calm(rng: random.Random) -> list[AnyMessage]:
    """A conversation in order that ends with a request."""
    messages: list[AnyMessage] = []
    for at in range(rng.randrange(4, 14)):
        messages.append(HumanMessage(content(rng)))
        for step in range(rng.choice([0, 0, 1, 2])):
            calls = [f"call_{at}_{step}_{n}" for n in range(rng.choice([1, 1, 2, 4]))]
            messages.append(reply(rng, calls, "openai"))
            messages += [ToolMessage(content(rng), tool_call_id=call) for call in calls]
        messages.append(reply(rng, [], "openai"))
    messages.append(HumanMessage("And now: " + text(rng)))
    return messages


def state(rng: random.Random) -> list[AnyMessage]:
    """A conversation: mostly in order, now and then interleaved, orphaned or begun with a system message."""
    provider = rng.choice([None, "openai", "anthropic"])
    messages: list[AnyMessage] = []
    if rng.random() < 0.1:
        messages.append(SystemMessage(text(rng)))
    if rng.random() < 0.15:
        kept = {"lc_source": "summarization"}
        shown = f"Here is a summary of the conversation to date:\n\n{text(rng)}"
        messages.append(HumanMessage(shown, additional_kwargs=kept))
    number = 0
    open_calls: list[str] = []
    for _ in range(rng.randrange(1, 14)):
        if rng.random() < 0.5:
            name = rng.choice([None, None, "ann"])
            messages.append(HumanMessage(content(rng), name=name))
        calls = []
        for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
            number += 1
            calls.append(f"call_{number}")
        messages.append(reply(rng, calls, provider))
        open_calls += calls
        if rng.random() < 0.05:
            continue
        rng.shuffle(open_calls) if rng.random() < 0.1 else None
        for call in open_calls:
            status = "error" if rng.random() < 0.1 else "success"
            messages.append(ToolMessage(content(rng), tool_call_id=call, status=status))
        open_calls = []
        if rng.random() < 0.03:
            messages.append(ToolMessage(text(rng), tool_call_id="call_nobody"))
    return messages
