"""The engine from Python."""

from __future__ import annotations

import asyncio
import doctest
import json
import pickle
from typing import Any

import pytest

import conspectus
from conspectus import CompactionError, Conversation, Engine, Policy, PolicyError, ReadError, Reply, compact, count, inspect, prune

LONG = "It rained all day, and the garden was glad of it. " * 200
CHAT = [
    {"role": "system", "content": "You tend a garden."},
    {"role": "user", "content": "Tell me of the weather. " + LONG},
    {"role": "assistant", "content": "Rain fell on bed 42. " + LONG, "cost": 1.5},
    {"role": "user", "content": "And tomorrow?"},
]
NOTE = "## Goal\nThe weather of the garden\n## State\n- rain fell on bed 42 all day"


def langchain(messages: Any) -> list[dict[str, Any]]:
    types = {"system": "system", "user": "human", "assistant": "ai"}
    return [{"type": types[m["role"]], "content": m["content"]} for m in messages]


def test_a_list_keeps_its_form() -> None:
    made = compact(CHAT)
    assert made.report.outcome == "compacted" and made.report.tokens_after < made.report.tokens_before / 2
    assert made.messages[0] == CHAT[0] and made.messages[-1] == CHAT[-1]
    assert isinstance(compact(json.dumps(CHAT)).messages, str)
    assert isinstance(compact(json.dumps(CHAT).encode()).messages, bytes)
    body = {"model": "m", "max_tokens": 10, "messages": CHAT}
    assert compact(body).messages["max_tokens"] == 10


def test_a_model_writes_the_summary() -> None:
    asked = []

    def model(call: conspectus.ModelCall) -> str:
        asked.append(call)
        return NOTE

    made = compact(CHAT, model=model)
    assert made.summary is not None and "bed 42" in made.summary and len(asked) == 1
    assert "rained" in asked[0].document and asked[0].max_output_tokens > 0


async def test_an_async_model_and_calls_beside_each_other() -> None:
    running = most = 0

    async def model(call: conspectus.ModelCall) -> Reply:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return Reply(NOTE)

    policy = Policy(trim_tokens_to_summarize=1500)
    made = await Engine(policy, model=model).acompact(CHAT)
    assert made.report.outcome == "compacted" and most > 1
    with pytest.raises(TypeError, match="async"):
        compact(CHAT, model=model)


def test_failures_fall_back_or_raise_with_the_outcome() -> None:
    def broken(call: conspectus.ModelCall) -> str:
        raise ValueError("no such key")

    made = compact(CHAT, model=broken)
    assert made.report.outcome == "compacted" and "digest_after_failure" in made.report.reasons
    with pytest.raises(CompactionError) as caught:
        compact(CHAT, Policy(on_failure="error"), model=broken)
    assert caught.value.outcome == "failed" and isinstance(caught.value.__cause__, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.outcome == "failed"
    with pytest.raises(PolicyError, match="keep"):
        Policy(keep=("tokens", 100), trigger=("tokens", 50))
    with pytest.raises(PolicyError, match="kep"):
        Policy(kep=1)
    with pytest.raises(ReadError):
        compact("what is this")
    assert issubclass(PolicyError, conspectus.ConspectusError)


def test_a_conversation_goes_on_and_survives() -> None:
    policy = Policy(trigger=("tokens", 3000), keep=("messages", 2), window=20_000)
    engine = Engine(policy, model=lambda call: NOTE)
    talk = engine.conversation(langchain(CHAT[:1]))
    for turn in range(8):
        talk.append(langchain(CHAT[1:3]))
        talk.append([{"type": "human", "content": f"Turn {turn}?"}])
        engine.before_call(talk)
    assert talk.folded and talk.summary and len(talk) == 25
    shown = talk.request()
    assert shown[0]["content"] == CHAT[0]["content"] and shown[-1]["content"] == "Turn 7?"
    assert len(shown) < 10
    again = pickle.loads(pickle.dumps(talk))
    assert again.request() == shown and again.folded == talk.folded
    assert talk.recall("bed 42")
    assert talk.undo() and len(talk.request()) > len(shown) and talk.redo()
    assert talk.request() == shown
    changed = langchain(CHAT[:1]) + [{"type": "human", "content": "Another talk."}]
    assert Conversation.restore(policy, changed, talk.saved()).folded == []


def test_counting_inspecting_pruning_and_tables() -> None:
    assert count("hello world") > 0 and count(CHAT) > 4000
    seen = inspect(CHAT, Policy(window=10_000))
    assert seen.messages == 4 and seen.triggered is False or seen.tokens > 0
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    tools = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "word " * 9000},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "and now?"},
    ]
    shown = prune(tools, max_result_chars=1000)
    assert len(shown) == 5 and len(shown[2]["content"]) < 2000 and shown[1] == tools[1]
    made = compact(CHAT)
    for value in (made, made.report, seen, Policy(), Engine().conversation(langchain(CHAT))):
        assert value._repr_html_().startswith("<table>")
    policy = Policy(trigger=("tokens", 3000), window=20_000)
    assert pickle.loads(pickle.dumps(policy)).numbers() == policy.numbers()


def test_the_examples_of_the_package() -> None:
    assert doctest.testmod(conspectus).failed == 0
