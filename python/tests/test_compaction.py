"""Our middleware in real agents: the state keeps everything, the request is the projection."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from conftest import Scripted, scripted
from langchain.agents import create_agent
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from conspectus.langchain import CompactionMiddleware

POLICY = {"trigger": ("tokens", 1500), "keep": ("messages", 4), "window": 8000}


def look(at: int) -> str:
    """Looks."""
    return f"seen at {at}: the gate number {at * 7} is open. " + "Nothing else of note there. " * 12


def is_summary(messages: Any) -> bool:
    return "hand-over note" in str(messages[0].content)


def answer(messages: Any, n: int) -> Any:
    if is_summary(messages):
        return "## Goal\nLook at the gates, each turn one.\n## State\n- several gates were seen to be open\n"
    if isinstance(messages[-1], ToolMessage):
        return AIMessage(f"That was look {n}.")
    return AIMessage("", tool_calls=[{"name": "look", "args": {"at": n}, "id": f"call_{n}"}])


def check_order(request: Any) -> None:
    calls: set[str] = set()
    for message in request:
        if isinstance(message, AIMessage):
            calls |= {str(c["id"]) for c in message.tool_calls}
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in calls
    assert not isinstance(request[0], ToolMessage)


def requests(model: Scripted) -> list[Any]:
    return [seen for seen in model.seen if not is_summary(seen)]


def summaries(model: Scripted) -> list[Any]:
    return [seen for seen in model.seen if is_summary(seen)]


def drive(agent: Any, config: Any, turns: range) -> None:
    for turn in turns:
        agent.invoke({"messages": [HumanMessage(f"Turn {turn}: look at the next gate.")]}, config)


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
def test_the_state_keeps_everything_and_the_request_is_bounded(saver: str) -> None:
    model = scripted(answer)
    database = sqlite3.connect(":memory:", check_same_thread=False)
    keeps = InMemorySaver() if saver == "memory" else SqliteSaver(database)
    agent = create_agent(model, [look], middleware=[CompactionMiddleware(POLICY)], checkpointer=keeps)
    config: Any = {"configurable": {"thread_id": "t"}}
    drive(agent, config, range(40))
    state = agent.get_state(config).values
    assert len(state["messages"]) == 160, "nothing is removed"
    assert state["conspectus"]["folded"] > 60 and state["conspectus"]["summary"]
    assert summaries(model), "a model wrote it"
    for request in requests(model):
        check_order(request)
        assert sum(len(str(m.content)) for m in request) < 12_000
        assert any(isinstance(m, HumanMessage) and "Turn" in str(m.content) for m in request)


def test_a_process_that_begins_anew_goes_on_from_the_state() -> None:
    keeps = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}

    def made() -> tuple[Scripted, Any]:
        model = scripted(answer)
        return model, create_agent(model, [look], middleware=[CompactionMiddleware(POLICY)], checkpointer=keeps)

    _, agent = made()
    drive(agent, config, range(20))
    folded = agent.get_state(config).values["conspectus"]["folded"]
    model, again = made()
    drive(again, config, range(20, 21))
    first = requests(model)[0]
    assert len(first) < 40 and again.get_state(config).values["conspectus"]["folded"] >= folded
    # A fork from before the first compaction finds none.
    past = [s for s in agent.get_state_history(config) if not s.values.get("conspectus")]
    fork = next(s for s in past if s.next == () and s.values.get("messages"))
    model, third = made()
    third.invoke({"messages": [HumanMessage("Turn 99: and this gate?")]}, fork.config)
    assert len(requests(model)[0]) == len(fork.values["messages"]) + 1


async def test_async_agents_compact_beside_the_conversation() -> None:
    model = scripted(answer)
    policy = {"window": 4000, "max_output": 500, "keep": ("messages", 4)}
    async with AsyncSqliteSaver.from_conn_string(":memory:") as keeps:
        middleware = CompactionMiddleware(policy)
        agent = create_agent(model, [look], middleware=[middleware], checkpointer=keeps)
        config: Any = {"configurable": {"thread_id": "t"}}
        for turn in range(40):
            await agent.ainvoke({"messages": [HumanMessage(f"Turn {turn}: look.")]}, config)
        state = (await agent.aget_state(config)).values
    assert len(state["messages"]) == 160 and state["conspectus"]["folded"] > 40
    for request in requests(model):
        check_order(request)


def test_an_overflow_is_recovered_from_once() -> None:
    def small(messages: Any, n: int) -> Any:
        if not is_summary(messages) and sum(len(str(m.content)) for m in messages) > 6000:
            return ContextOverflowError("prompt is too long")
        return answer(messages, n)

    model = scripted(small)
    options = {**POLICY, "trigger": ("tokens", 100_000), "window": 200_000}
    agent = create_agent(model, [look], middleware=[CompactionMiddleware(options)], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    drive(agent, config, range(25))
    assert agent.get_state(config).values["conspectus"]["folded"] > 0


def test_without_a_model_and_with_recall() -> None:
    def recalls(messages: Any, n: int) -> Any:
        said = str(messages[-1].content)
        if "find" in said and not isinstance(messages[-1], ToolMessage):
            return AIMessage("", tool_calls=[{"name": "recall", "args": {"query": "gate number 7 open"}, "id": f"r{n}"}])
        return answer(messages, n)

    model = scripted(recalls)
    options = {**POLICY, "strategy": "digest"}
    hooked: list[int] = []
    middleware = CompactionMiddleware(options, before_removal=lambda gone: hooked.append(len(gone)))
    agent = create_agent(model, [look], middleware=[middleware], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    drive(agent, config, range(20))
    assert not summaries(model) and hooked
    out = agent.invoke({"messages": [HumanMessage("Please find the first gate.")]}, config)
    found = next(m for m in reversed(out["messages"]) if isinstance(m, ToolMessage) and m.name == "recall")
    assert "gate number 7 is open" in str(found.content)


def test_a_giant_result_is_shortened_in_the_request_only() -> None:
    def giant(at: int) -> str:
        """Looks at much."""
        return "BEGIN " + "data " * 12_000 + " END"

    def asks(messages: Any, n: int) -> Any:
        if is_summary(messages) or isinstance(messages[-1], ToolMessage):
            return answer(messages, n)
        return AIMessage("", tool_calls=[{"name": "giant", "args": {"at": n}, "id": f"call_{n}"}])

    model = scripted(asks)
    agent = create_agent(
        model, [giant], middleware=[CompactionMiddleware({**POLICY, "prune": {"when": "always"}})], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    drive(agent, config, range(3))
    whole = [m for m in agent.get_state(config).values["messages"] if isinstance(m, ToolMessage)]
    assert all(len(str(m.content)) > 50_000 for m in whole)
    shown = [m for m in requests(model)[-2] if isinstance(m, ToolMessage)]
    assert any(len(str(m.content)) < 20_000 and "cx-" in str(m.content) for m in shown)


@pytest.mark.parametrize("kind", ["summarization", "compaction"])
def test_lone_surrogates_change_nothing(kind: str) -> None:
    """Half a pair, as a cut stream leaves it: kept, counted, summed up, and never an error."""
    from conspectus.langchain import SummarizationMiddleware

    def odd(at: int) -> str:
        """Looks."""
        return f"half \ud83d at {at} " + "w" * 300

    def asks(messages: Any, n: int) -> Any:
        if is_summary(messages) or "Messages to summarize" in str(messages[0].content):
            return "## Goal\nLook at the gates \udc00\n## State\n- several gates were seen to be open\n"
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(f"seen \ude00 {n}")
        return AIMessage("", tool_calls=[{"name": "odd", "args": {"at": n, "why": "\ud800"}, "id": f"call_{n}"}])

    model = scripted(asks)
    made: Any = CompactionMiddleware({**POLICY, "trigger": ("tokens", 900)})
    if kind == "summarization":
        made = SummarizationMiddleware(model, trigger=("tokens", 900), keep=("messages", 4))
    agent = create_agent(model, [odd], middleware=[made])
    messages: list[Any] = []
    for turn in range(12):
        messages = agent.invoke({"messages": [*messages, HumanMessage(f"Turn {turn} \ud83d: the next gate.")]})["messages"]
    assert model.seen and messages[-4].content == "Turn 11 \ud83d: the next gate."
    assert any("half \ud83d" in str(m.content) for m in messages)
    if kind == "summarization":
        assert len(messages) < 30
    else:
        assert len(messages) == 48 and summaries(model)


def test_a_message_that_is_changed_between_turns_is_sent_as_it_is_now() -> None:
    model = scripted(answer)
    middleware = CompactionMiddleware(POLICY)
    agent = create_agent(model, [look], middleware=[middleware], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    drive(agent, config, range(12))
    state = agent.get_state(config).values
    assert state["conspectus"]["folded"] > 0
    last = state["messages"][-1]
    last.content = "Changed by the host."
    agent.update_state(config, {"messages": [last]})
    drive(agent, config, range(12, 14))
    shown = requests(model)[-1]
    assert any(m.content == "Changed by the host." for m in shown)
    check_order(shown)
    # One that was folded: what stood for it no longer does, and the conversation goes on.
    first = agent.get_state(config).values["messages"][0]
    first.content = "Turn 0 was another."
    agent.update_state(config, {"messages": [first]})
    drive(agent, config, range(14, 16))
    check_order(requests(model)[-1])


def test_middlewares_can_be_copied_and_results_pickled() -> None:
    import copy
    import pickle

    from conspectus import Engine, Policy, compact, inspect

    chat = [{"role": "user", "content": "word " * 3000}, {"role": "assistant", "content": "so"}, {"role": "user", "content": "?"}]
    for value in (compact(chat).report, compact(chat), inspect(chat), Policy(window=9000)):
        again = pickle.loads(pickle.dumps(value))
        assert again._repr_html_() == value._repr_html_()
    assert "<table>" in Engine().conversation([{"type": "human", "content": "<b>"}])._repr_html_()
    model = scripted(answer)
    from conspectus.langchain import SummarizationMiddleware

    made = SummarizationMiddleware(model, trigger=("messages", 3))
    again = copy.copy(made)
    assert again.trigger == made.trigger and again.strict_parity is False
