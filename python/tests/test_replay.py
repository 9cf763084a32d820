"""Strategy replay: the run's own request is repeated to the run's own model, so that the provider's cache is hit."""

from __future__ import annotations

from typing import Any

from agent_server import served
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from test_agents import CONFIG, Drive, approve, look, model

from conspectus.langchain import CompactionMiddleware

POLICY = {"trigger": ("tokens", 3000), "keep": ("messages", 8), "window": 40_000, "strategy": "replay"}


def run(options: dict[str, Any], **more: Any) -> tuple[Any, Drive]:
    with served() as server:
        writer = model("openai", server.url)
        middleware = CompactionMiddleware(options, **({"model": model("openai", server.url)} if more.get("other") else {}))
        agent = create_agent(
            writer, [look, approve], system_prompt="You watch gates.", middleware=[middleware], checkpointer=InMemorySaver()
        )
        drive = Drive()
        for turn in range(30):
            drive.turn(agent, turn)
        assert server.refused == [] and server.notes
        return server, drive


def test_the_runs_request_is_repeated_with_the_instruction_behind_it() -> None:
    server, drive = run(POLICY)
    for at, body in enumerate(server.bodies):
        if body not in server.notes:
            continue
        before = next(b for b in reversed(server.bodies[:at]) if b not in server.notes)
        same = {k: v for k, v in before.items() if k != "messages"}
        assert {k: v for k, v in body.items() if k != "messages"} == same, "tools, model and settings are the same"
        shared = before["messages"]
        assert body["messages"][: len(shared)] == shared, "what was sent last is its beginning"
        assert "hand-over note" in str(body["messages"][-1]) and body["messages"][-1]["role"] == "user"
    assert "zanzibar" not in "".join(drive.streamed), "no token of it reaches the stream"


def test_a_model_of_its_own_is_given_a_transcript() -> None:
    server, _ = run(POLICY, other=True)
    assert all(len(body["messages"]) == 2 and not body.get("tools") for body in server.notes)


def test_where_the_run_must_answer_in_a_form_nothing_is_repeated() -> None:
    from langchain.agents.structured_output import ToolStrategy
    from pydantic import BaseModel

    class Gate(BaseModel):
        """A gate."""

        number: int

    middleware = CompactionMiddleware(POLICY)
    seen: list[str] = []
    middleware_policy = middleware._policy

    def policy(request: Any) -> Any:
        found = middleware_policy(request)
        seen.append(found[1])
        return found

    middleware._policy = policy  # type: ignore[method-assign]
    with served() as server:
        agent = create_agent(
            model("openai", server.url), [look], middleware=[middleware], response_format=ToolStrategy(Gate)
        )
        agent.invoke({"messages": [HumanMessage("go")]}, {**CONFIG, "recursion_limit": 12})
    assert seen and all('"replay": false' in routes for routes in seen)
