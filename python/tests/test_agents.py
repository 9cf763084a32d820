"""Agents of 200 turns, and of 60 in four sessions, with LangChain's own clients for OpenAI and Anthropic, against a server that is as strict as they are.

Tools, parallel calls, interrupts, streaming, checkpoints in memory and SQLite, and a process that ends in between.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_server import NOTE, Server, served
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, interrupt

from conspectus.langchain import CompactionMiddleware, SummarizationMiddleware

TURNS = 200
CONFIG: Any = {"configurable": {"thread_id": "gates"}}


def look(at: int) -> str:
    """Looks at a gate."""
    return f"gate {at} is open. " + "Nothing else there. " * 10


def approve(what: str) -> str:
    """Asks a person."""
    return f"the person says: {interrupt(what)}"


def model(provider: str, url: str) -> Any:
    if provider == "openai":
        made = ChatOpenAI(model="gpt-4.1", base_url=url + "/v1", api_key="none", max_retries=0)  # type: ignore[arg-type]
    else:
        made = ChatAnthropic(model="claude-opus-4-7", base_url=url, api_key="none", max_retries=0)  # type: ignore
    return made


def middleware(kind: str, writer: Any) -> Any:
    if kind == "summarization":
        return SummarizationMiddleware(writer, trigger=("tokens", 2500), keep=("messages", 8))
    return CompactionMiddleware({"trigger": ("tokens", 3500), "keep": ("messages", 8), "window": 20_000})


def agent_of(kind: str, provider: str, url: str, keeps: Any) -> Any:
    writer = model(provider, url)
    return create_agent(
        writer, [look, approve], system_prompt="You watch gates.", middleware=[middleware(kind, writer)], checkpointer=keeps
    )


class Drive:
    """Turns of an agent, and what came out of its stream."""

    def __init__(self) -> None:
        self.streamed: list[str] = []
        self.interrupts = 0

    def take(self, mode: str, chunk: Any) -> Any:
        if mode == "messages":
            said, _ = chunk
            if isinstance(said, (AIMessage, AIMessageChunk)):
                self.streamed.append(said.text)
            return None
        return chunk.get("__interrupt__") if isinstance(chunk, dict) else None

    def turn(self, agent: Any, turn: int) -> None:
        asked: Any = {"messages": [HumanMessage(f"Turn {turn}: the next gate.")]}
        while asked is not None:
            stopped = None
            for mode, chunk in agent.stream(asked, CONFIG, stream_mode=["messages", "updates"]):
                stopped = self.take(mode, chunk) or stopped
            self.interrupts += stopped is not None
            asked = Command(resume="yes") if stopped else None

    async def aturn(self, agent: Any, turn: int) -> None:
        asked: Any = {"messages": [HumanMessage(f"Turn {turn}: the next gate.")]}
        while asked is not None:
            stopped = None
            async for mode, chunk in agent.astream(asked, CONFIG, stream_mode=["messages", "updates"]):
                stopped = self.take(mode, chunk) or stopped
            self.interrupts += stopped is not None
            asked = Command(resume="yes") if stopped else None


def check(kind: str, state: dict[str, Any], server: Server, drive: Drive, turns: int = TURNS) -> None:
    assert server.refused == [], "the provider took every request"
    assert len(server.notes) > 2, "it was summed up more than once"
    assert drive.interrupts == turns // 10
    said = "".join(drive.streamed)
    assert "Looked." in said and "zanzibar" not in said and "Messages to summarize" not in said
    messages = state["messages"]
    calls = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    results = [m for m in messages if isinstance(m, ToolMessage)]
    assert {m.tool_call_id for m in results} == calls
    people = [str(m.content) for m in messages if isinstance(m, HumanMessage)]
    assert people[-1] == f"Turn {turns - 1}: the next gate."
    if kind == "compaction":
        assert [p for p in people if p.startswith("Turn")] == [f"Turn {n}: the next gate." for n in range(turns)]
        assert state["conspectus"]["folded"] > len(messages) / 2
    else:
        assert len(messages) < 80 and NOTE in people[0]
    # A request never holds much more than its trigger.
    sizes = [sum(len(str(m.get("content"))) for m in body["messages"]) for body in server.turns]
    assert max(sizes) < 20_000


@pytest.mark.parametrize("kind", ["summarization", "compaction"])
def test_two_hundred_turns_in_memory_with_openai(kind: str) -> None:
    with served() as server:
        agent = agent_of(kind, "openai", server.url, InMemorySaver())
        drive = Drive()
        for turn in range(TURNS):
            drive.turn(agent, turn)
        check(kind, agent.get_state(CONFIG).values, server, drive)


@pytest.mark.parametrize("kind", ["summarization", "compaction"])
async def test_async_turns_in_sqlite_with_anthropic_over_four_sessions(kind: str, tmp_path: Path) -> None:
    drive = Drive()
    file = str(tmp_path / "state.sqlite")

    async def some(turns: range, url: str) -> dict[str, Any]:  # one loop: their client is bound to it
        # Everything is made anew: model, middleware, connection.
        async with AsyncSqliteSaver.from_conn_string(file) as keeps:
            agent = agent_of(kind, "anthropic", url, keeps)
            for turn in turns:
                await drive.aturn(agent, turn)
            values: dict[str, Any] = (await agent.aget_state(CONFIG)).values
            return values

    with served() as server:
        for begin in range(0, 60, 15):
            state = await some(range(begin, begin + 15), server.url)
        check(kind, state, server, drive, 60)


@pytest.mark.parametrize(("kind", "provider"), [("summarization", "openai"), ("compaction", "anthropic")])
def test_another_process_goes_on_from_sqlite(kind: str, provider: str, tmp_path: Path) -> None:
    file = str(tmp_path / "state.sqlite")
    with served() as server:
        drive = Drive()
        with SqliteSaver.from_conn_string(file) as keeps:
            agent = agent_of(kind, provider, server.url, keeps)
            for turn in range(30):
                drive.turn(agent, turn)
        before = len(server.turns)
        done = subprocess.run(
            [sys.executable, __file__, kind, provider, server.url, file], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert server.refused == []
        first = server.turns[before]
        assert "zanzibar" in str(first["messages"]), "the summary is there"
        assert len(first["messages"]) < 60, "the messages that it stands for are not"
        with SqliteSaver.from_conn_string(file) as keeps:
            state = agent_of(kind, provider, server.url, keeps).get_state(CONFIG).values
        assert "Turn 30: the next gate." in [m.content for m in state["messages"]]


if __name__ == "__main__":
    with SqliteSaver.from_conn_string(sys.argv[4]) as saver:
        Drive().turn(agent_of(*sys.argv[1:4], saver), 30)
