"""The drop-in in one piece: constructor, errors, calls, results, and a real agent."""

from __future__ import annotations

import asyncio
import pickle
import warnings
from typing import Any

import pytest
from conftest import Scripted, scripted
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware as Theirs
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from conspectus.langchain import SummarizationMiddleware as Ours

BOTH = pytest.mark.parametrize("which", [Theirs, Ours])


def talk(n: int, size: int = 40) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for at in range(n):
        messages += [HumanMessage(f"question {at} " + "x" * size), AIMessage(f"answer {at} " + "y" * size)]
    return messages


def said(make: Any) -> Any:
    """What a constructor says: its warnings with their file, its error, its attributes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = make()
        except Exception as error:
            return type(error), str(error)
    names = ("trigger", "keep", "summary_prompt", "trim_tokens_to_summarize", "summarizer", "name")
    private = ("_trigger_clauses", "_trigger_conditions")
    shown = {name: getattr(made, name) for name in (*names, *private)}
    return shown, [(str(w.message), w.category, w.filename) for w in caught]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"trigger": ("tokens", 5)},
        {"trigger": [("tokens", 5), {"messages": 3, "tokens": 9}], "keep": ("tokens", 4)},
        {"trigger": {"tokens": 4, "messages": 2}},
        {"max_tokens_before_summary": 7, "messages_to_keep": 3, "anything_else": 1},
        {"trigger": ("fraction", 1.7)},
        {"trigger": ("tokens", 0)},
        {"keep": ("messages", -1)},
        {"keep": ("lines", 1)},
        {"trigger": ("fraction", 0.5)},
        {"trigger": {}},
        {"trigger": {"lines": 1}},
        {"trigger": {"tokens": True}},
        {"trigger": {"tokens": 1.5}},
        {"trigger": {"fraction": "x"}},
        {"trigger": "tokens"},
        {"trigger": ["tokens"]},
        {"trigger": ("tokens", "5")},
        {"trigger": ()},
        {"trim_tokens_to_summarize": None, "summary_prompt": "Sum up: {messages}"},
    ],
)
def test_the_constructor_says_what_theirs_says(given: dict[str, Any]) -> None:
    ours = said(lambda: Ours(scripted(), **given))
    assert ours == said(lambda: Theirs(scripted(), **given))


def test_it_is_one_of_theirs_and_takes_one_more_word() -> None:
    made = Ours(scripted(), trigger=("messages", 3), strict_parity=True)
    assert isinstance(made, Theirs) and made.strict_parity and not Ours(scripted()).strict_parity
    assert made.name == "SummarizationMiddleware"


@BOTH
def test_prompt_tags_and_result(which: Any) -> None:
    model = scripted("  so far so good ")
    made = which(model, trigger=("messages", 6), keep=("messages", 2))
    messages = talk(3)
    update = made.before_model({"messages": messages}, None)
    remove, summary, *kept = update["messages"]
    assert isinstance(remove, RemoveMessage) and remove.id == "__remove_all__"
    assert summary.content == "Here is a summary of the conversation to date:\n\nso far so good"
    assert summary.additional_kwargs == {"lc_source": "summarization"} and summary.id is None
    assert kept[0] is messages[4] and kept[1] is messages[5]
    assert '<message type="human">question 0' in model.prompts[0]
    tags, metadata = model.configs[0]
    assert "nostream" in tags and metadata["lc_source"] == "summarization" and "lc_internal_call" in metadata
    assert all(message.id for message in messages)


@BOTH
def test_retries_and_errors(which: Any) -> None:
    flaky = scripted(lambda messages, n: ConnectionError("down") if n < 3 else "third")
    made = which(flaky, trigger=("messages", 4), keep=("messages", 2))
    _no_waiting(made)
    assert "third" in made.before_model({"messages": talk(2)}, None)["messages"][1].content
    broken = scripted(ValueError("no"))
    made = which(broken, trigger=("messages", 4), keep=("messages", 2))
    _no_waiting(made)
    messages = talk(2)
    with pytest.raises(ValueError, match="no"):
        made.before_model({"messages": messages}, None)
    assert len(broken.seen) == 3 and len(messages) == 4


def _no_waiting(made: Any) -> None:
    made._summary_model.wait_exponential_jitter = False


def test_an_overflow_is_read_in_halves_by_ours_and_without_its_middle_by_theirs() -> None:
    def answer(messages: Any, n: int) -> Any:
        return ContextOverflowError("too long") if len(messages[0].content) > 1600 else f"part {n}"

    messages = talk(8, 100)
    ours, theirs = scripted(answer), scripted(answer)
    said = {"trigger": ("messages", 4), "keep": ("messages", 2), "summary_prompt": "{messages}"}
    update = Ours(ours, **said).before_model({"messages": list(messages)}, None)
    assert "part" in update["messages"][1].content
    answered = [prompt for prompt in ours.prompts if len(prompt) <= 1600]
    assert all(any(f"question {at} " in prompt for prompt in answered) for at in range(7))
    strict = Ours(scripted(answer), strict_parity=True, **said)
    strict.before_model({"messages": list(messages)}, None)
    Theirs(theirs, **said).before_model({"messages": list(messages)}, None)
    assert strict.model.prompts == theirs.prompts and "omitted" in theirs.prompts[-1]


def test_blank_answers_replace_nothing() -> None:
    blank = scripted(lambda messages, n: " ")
    said = {"trigger": ("messages", 4), "keep": ("messages", 2)}
    assert Ours(blank, **said).before_model({"messages": talk(3)}, None) is None
    assert len(blank.seen) == 2
    assert Ours(blank, strict_parity=True, **said).before_model({"messages": talk(3)}, None) is not None


def test_the_tail_of_tools_does_not_destroy_the_task() -> None:
    """A9.1: one request, thirty tool turns of 2 kB, keep 4."""
    messages: list[AnyMessage] = [HumanMessage("Port the parser to Rust, and never touch the tests.")]
    for at in range(30):
        call = {"name": "run", "args": {"n": at}, "id": f"c{at}"}
        messages += [AIMessage("", tool_calls=[call]), ToolMessage(f"RESULT {at} " + "z" * 2000, tool_call_id=f"c{at}")]
    said = {"trigger": ("tokens", 4000), "keep": ("messages", 4)}
    theirs, ours = scripted(), scripted()
    lost = Theirs(theirs, **said).before_model({"messages": list(messages)}, None)["messages"]
    assert theirs.seen == [] and "too long to summarize" in lost[1].content
    kept = Ours(ours, **said).before_model({"messages": list(messages)}, None)["messages"]
    assert kept[2] is messages[0] and len(ours.seen) >= 1
    read = "\n".join(ours.prompts)
    assert all(f"RESULT {at} " in read for at in range(28))


def test_the_earlier_summary_reaches_the_next_one() -> None:
    """A9.2."""
    model = scripted(lambda messages, n: f"THE SUMMARY NUMBER {n}")
    made = Ours(model, trigger=("tokens", 6000), keep=("messages", 4))
    messages = talk(60, 300)
    for _ in range(3):
        update = made.before_model({"messages": messages}, None)
        messages = [*update["messages"][1:], *talk(60, 300)]
    assert "THE SUMMARY NUMBER 1" in model.prompts[1] and "THE SUMMARY NUMBER 2" in model.prompts[2]


def test_a_large_kept_tail_does_not_fire_every_turn() -> None:
    """A9.5."""
    calls = {}
    for which in (Theirs, Ours):
        model = scripted()
        made = which(model, trigger=("tokens", 2000), keep=("messages", 10))
        messages: list[AnyMessage] = []
        for turn in range(40):
            messages += talk(1, 1500)
            update = made.before_model({"messages": messages}, None)
            if update:
                messages = list(update["messages"][1:])
        calls[which] = len(model.seen)
    assert calls[Ours] < calls[Theirs]


@BOTH
async def test_async_is_the_same(which: Any) -> None:
    made = which(scripted("ok"), trigger=("messages", 4), keep=("messages", 2))
    update = await made.abefore_model({"messages": talk(3)}, None)
    assert update["messages"][1].content.endswith("ok")


@BOTH
async def test_a_summarizer_of_ones_own(which: Any) -> None:
    said = {"trigger": ("messages", 4), "keep": ("messages", 2)}
    made = which(scripted(), summarizer=lambda messages: f" {len(messages)} messages ", **said)
    assert made.before_model({"messages": talk(3)}, None)["messages"][1].content.endswith("\n4 messages")
    made = which(scripted(), summarizer=lambda messages: 3, **said)
    with pytest.raises(TypeError, match="must return a str, got int"):
        made.before_model({"messages": talk(3)}, None)

    async def slow(messages: Any) -> str:
        await asyncio.sleep(0)
        return "slow"

    made = which(scripted(), summarizer=slow, **said)
    assert (await made.abefore_model({"messages": talk(3)}, None))["messages"][1].content.endswith("slow")
    with pytest.raises(TypeError, match="coroutine function synchronously"):
        made.before_model({"messages": talk(3)}, None)


@BOTH
def test_counters_may_be_set_later_and_may_raise(which: Any) -> None:
    made = which(scripted("ok"), trigger=("tokens", 1000), keep=("messages", 2))
    assert made.before_model({"messages": talk(3)}, None) is None
    made.token_counter = lambda messages: 5000
    assert made.before_model({"messages": talk(3)}, None) is not None

    def raises(messages: Any) -> int:
        raise RuntimeError("counter")

    made.token_counter = raises
    with pytest.raises(RuntimeError, match="counter"):
        made.before_model({"messages": talk(3)}, None)


def test_a_real_agent() -> None:
    def answer(messages: Any, n: int) -> Any:
        if len(messages) == 1 and "Messages to summarize" in str(messages[0].content):
            return "a short summary"
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("done")
        return AIMessage("", tool_calls=[{"name": "look", "args": {"at": n}, "id": f"call_{n}"}])

    def look(at: int) -> str:
        """Looks."""
        return f"seen at {at} " + "w" * 300

    model = scripted(answer)
    made = Ours(model, trigger=("tokens", 600), keep=("messages", 3))
    agent = create_agent(model, [look], middleware=[made], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    streamed: list[str] = []
    for turn in range(12):
        asked = {"messages": [HumanMessage(f"turn {turn}")]}
        for chunk, _ in agent.stream(asked, config, stream_mode="messages"):
            streamed.append(str(chunk.content))
        messages = agent.get_state(config).values["messages"]
        ids = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
        assert all(m.tool_call_id in ids for m in messages if isinstance(m, ToolMessage))
        assert any(m.content == f"turn {turn}" for m in messages)
    assert any("a short summary" in prompt for prompt in model.prompts)
    assert not any(text == "a short summary" for text in streamed), "no token of it reaches the stream"
