"""Lists of the real SDKs, against a server that refuses what the real ones refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sdk_server import NOTE, Server, served

import conspectus.anthropic
import conspectus.openai
from conspectus import CompactionError, Policy

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

POLICY = Policy(trigger=("tokens", 2000), keep=("messages", 4), window=8000)
CHAT_TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}
RESPONSES_TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}
SEEN = "the gate is open. " * 40


@pytest.fixture(name="server")
def _server() -> Iterator[Server]:
    with served() as server:
        yield server


def clients(server: Server) -> tuple[Any, Any]:
    words = {"api_key": "k", "base_url": f"{server.url}/v1"}
    return openai.OpenAI(**words), openai.AsyncOpenAI(**words)


def same_objects(before: list[Any], after: list[Any]) -> int:
    """How many of them are the very objects, which are in order."""
    there = [id(item) for item in before]
    kept = [there.index(id(item)) for item in after if id(item) in there]
    assert kept == sorted(kept)
    return len(kept)


@pytest.mark.parametrize("way", ["plain", "stream", "async"])
async def test_chat_with_tools(server: Server, way: str) -> None:
    client, other = clients(server)
    messages: list[Any] = [{"role": "system", "content": "You look at gates."}]
    folded = 0
    for turn in range(24):
        messages.append({"role": "user", "content": f"Turn {turn}: look at the next gate."})
        while messages[-1]["role"] != "assistant" if isinstance(messages[-1], dict) else messages[-1].tool_calls:
            before = list(messages)
            if way == "async":
                made = await conspectus.openai.acompact(
                    messages, POLICY, tools=[CHAT_TOOL], model=other, model_name="note"
                )
            else:
                made = conspectus.openai.compact(messages, POLICY, tools=[CHAT_TOOL], model=client, model_name="note")
            assert messages == before, "the list that was given is not touched"
            messages = made.messages
            kept = same_objects(before, messages)
            folded += made.report.is_change
            assert kept == len(before) if not made.report.is_change else kept >= 4
            sent = {"model": "m", "messages": messages, "tools": [CHAT_TOOL]}
            if way == "stream":
                with client.chat.completions.stream(**sent) as stream:
                    reply = stream.get_final_completion().choices[0].message
            elif way == "async":
                reply = (await other.chat.completions.create(**sent)).choices[0].message
            else:
                reply = client.chat.completions.create(**sent).choices[0].message
            messages.append(reply)
            for call in reply.tool_calls or []:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": SEEN})
            if not reply.tool_calls:
                break
    assert folded >= 3 and len(server.notes) >= 2
    assert max(len(json.dumps(body["messages"])) for body in server.bodies("chat/completions")) < 12_000
    await other.close()
    last = server.bodies("chat/completions")[-1]["messages"]
    assert last[0]["content"] == "You look at gates." and "several gates" in json.dumps(last)
    assert "Turn 23" in json.dumps(last)


@pytest.mark.parametrize("way", ["plain", "stream"])
def test_inputs_of_responses(server: Server, way: str) -> None:
    client, _ = clients(server)
    items: list[Any] = []
    folded = 0
    for turn in range(20):
        items.append({"role": "user", "content": f"Turn {turn}: look at the next gate."})
        while True:
            made = conspectus.openai.compact(
                items, POLICY, instructions="You look at gates.", tools=[RESPONSES_TOOL], model=client, model_name="note"
            )
            folded += made.report.is_change
            items = made.messages
            sent = {"model": "m", "input": items, "instructions": "You look at gates.", "tools": [RESPONSES_TOOL]}
            if way == "stream":
                with client.responses.stream(**sent) as stream:
                    output = stream.get_final_response().output
            else:
                output = client.responses.create(**sent).output
            items = [*items, *output]
            calls = [item for item in output if item.type == "function_call"]
            items += [{"type": "function_call_output", "call_id": call.call_id, "output": SEEN} for call in calls]
            if not calls:
                break
    assert folded >= 2 and len(server.notes) >= 2
    sent_last = server.bodies("responses")[-1]["input"]
    assert len(json.dumps(sent_last)) < 12_000 and "several gates" in json.dumps(sent_last)
    assert any(not isinstance(item, dict) for item in items), "the SDK's objects are in the list"


@pytest.mark.parametrize("way", ["plain", "stream", "async"])
async def test_anthropic_with_tools(server: Server, way: str) -> None:
    words = {"api_key": "k", "base_url": server.url}
    client, other = anthropic.Anthropic(**words), anthropic.AsyncAnthropic(**words)
    system = [{"type": "text", "text": "You look at gates.", "cache_control": {"type": "ephemeral"}}]
    messages: list[Any] = []
    folded = 0
    for turn in range(24):
        messages.append({"role": "user", "content": f"Turn {turn}: look at the next gate."})
        while True:
            before = list(messages)
            words = {"system": system, "tools": [TOOL], "model_name": "note"}
            if way == "async":
                made = await conspectus.anthropic.acompact(messages, POLICY, model=other, **words)
            else:
                made = conspectus.anthropic.compact(messages, POLICY, model=client, **words)
            messages = made.messages
            assert made.system is system
            folded += made.report.is_change
            assert same_objects(before, messages) >= (3 if made.report.is_change else len(before))
            sent = {"model": "m", "max_tokens": 100, "system": made.system, "messages": messages, "tools": [TOOL]}
            if way == "stream":
                with client.messages.stream(**sent) as stream:
                    reply = stream.get_final_message()
            elif way == "async":
                reply = await other.messages.create(**sent)
            else:
                reply = client.messages.create(**sent)
            messages.append({"role": "assistant", "content": reply.content})
            uses = [block for block in reply.content if block.type == "tool_use"]
            if not uses:
                break
            results = [{"type": "tool_result", "tool_use_id": use.id, "content": SEEN} for use in uses]
            messages.append({"role": "user", "content": results})
    assert folded >= 2 and len(server.notes) >= 2
    await other.close()
    last = server.bodies("messages")[-1]
    assert len(json.dumps(last["messages"])) < 12_000 and "several gates" in json.dumps(last["messages"])
    assert last["system"] == system


def long_chat() -> list[Any]:
    messages: list[Any] = []
    for turn in range(10):
        messages.append({"role": "user", "content": f"Turn {turn}? " + "It rained. " * 80})
        messages.append({"role": "assistant", "content": "So it is. " * 80})
    return [*messages, {"role": "user", "content": "And \ud83d now?"}]


def test_three_lines_without_a_model() -> None:
    messages = long_chat()
    made = conspectus.openai.compact(messages, window=4000)
    assert made.report.outcome == "compacted" and made.messages[-1] is messages[-1]
    assert len(made.messages) < len(messages) and made.summary
    short = conspectus.openai.compact(messages[:2], window=100_000)
    assert short.report.outcome == "skipped" and short.messages == messages[:2] and short.messages is not messages
    assert conspectus.openai.compact([]).messages == []
    system = conspectus.anthropic.compact(messages, system="Be short.", window=4000)
    assert system.system == "Be short." and system.messages[-1] is messages[-1]
    at_end = conspectus.anthropic.compact(
        messages, {"placement": "system_end"}, system="Be short.", window=4000, only_if_triggered=False
    )
    assert at_end.summary and "conversation_record" in json.dumps([at_end.system, at_end.messages])
    tools = [{**CHAT_TOOL, "description": "word " * 9000}]
    assert conspectus.openai.compact(messages[:3], tools=tools, window=10_000).report.tokens_before > 5000


def test_what_a_client_says_when_it_fails(server: Server) -> None:
    client, other = clients(server)
    asked: Any = {"policy": {"trigger": ("tokens", 1000), "on_failure": "error"}, "model": client, "model_name": "note"}
    too_long = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    server.failures = [(400, too_long)]
    made = conspectus.openai.compact(long_chat(), window=8000, **asked)
    assert made.summary is not None and "several gates" in made.summary, "smaller pieces were asked for"
    server.failures = [(401, {"error": {"message": "no such key"}})] * 9
    with pytest.raises(CompactionError) as raised:
        conspectus.openai.compact(long_chat(), window=8000, **asked)
    assert isinstance(raised.value.__cause__, openai.AuthenticationError)
    server.failures = []
    with pytest.raises(TypeError, match="acompact"):
        conspectus.openai.compact(long_chat(), model=other, model_name="note")
    with pytest.raises(ValueError, match="model_name"):
        conspectus.openai.compact(long_chat(), model=client)
    engine_made = conspectus.Engine(POLICY, model=conspectus.openai.model(client, "note")).compact(long_chat())
    assert engine_made.summary is not None and engine_made.summary.startswith(NOTE[:10])
