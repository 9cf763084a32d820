"""LangGraph's Python client against the service at the URL of the command line."""

import asyncio
import sys

from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError

TALK = [
    {
        "type": "human" if at % 2 == 0 else "ai",
        "id": f"m{at}",
        "content": f"Step {at} is about src/part{at}.py: " + " ".join(f"w{at * 97 + word}" for word in range(120)),
    }
    for at in range(12)
]


async def compacted(client, thread):
    return await client.http.post(f"/threads/{thread}/compact", json={"keep": {"type": "messages", "value": 2}})


async def run(url):
    client = get_client(url=url, api_key="unused")
    threads = client.threads
    made = await threads.create(metadata={"user": "ann"}, graph_id="agent", if_exists="raise")
    thread = made["thread_id"]
    assert made["status"] == "idle" and made["metadata"] == {"user": "ann", "graph_id": "agent"}, made
    named = await threads.create(thread_id="named", if_exists="do_nothing")
    assert named["thread_id"] == "named", named
    try:
        await threads.create(thread_id="named")
        raise AssertionError("there are two of one name")
    except ConflictError as error:
        assert "exists already" in str(error), error

    updated = await threads.update_state(thread, {"messages": TALK}, as_node="model")
    first = updated["checkpoint"]["checkpoint_id"]
    state = await threads.get_state(thread)
    assert [m["id"] for m in state["values"]["messages"]] == [m["id"] for m in TALK], state
    assert state["checkpoint"]["checkpoint_id"] == first and state["next"] == [], state

    done = await compacted(client, thread)
    assert done["compacted"] and done["summary_updated"], done
    now = await threads.get_state(thread, subgraphs=True)
    assert now["values"]["summary_text"] and len(now["values"]["messages"]) < len(TALK), now
    assert now["checkpoint"]["checkpoint_id"] == done["checkpoint_id"] > first
    before = await threads.get_state(thread, checkpoint_id=first)
    assert before["values"]["messages"] == state["values"]["messages"], before
    assert before == await threads.get_state(thread, checkpoint=state["checkpoint"])
    history = await threads.get_history(thread, limit=5)
    assert history[0] == now and before["checkpoint"] in [s["checkpoint"] for s in history], history
    older = await threads.get_history(thread, before=now["checkpoint"])
    assert now not in older and older == history[1:], older

    whole = await threads.get(thread)
    assert whole["values"]["summary_text"] == now["values"]["summary_text"], whole
    await threads.update(thread, metadata={"user": "bob"})
    found = await threads.search(metadata={"user": "bob"}, limit=5, sort_by="created_at", sort_order="desc")
    assert [t["thread_id"] for t in found] == [thread], found
    found = await threads.search(ids=[thread], select=["thread_id", "values"])
    assert found[0]["values"]["title"] is None, found
    assert await threads.count() == 2 and await threads.count(metadata={"user": "bob"}) == 1
    await threads.copy(thread)
    assert await threads.count() == 3
    pruned = await threads.prune(["named"])
    assert pruned["pruned_count"] == 1, pruned
    try:
        await threads.update_state(thread, {"nothing": 1})
        raise AssertionError("what it does not know was taken")
    except UnprocessableEntityError as error:
        assert "unknown field" in str(error), error
    await threads.delete(thread)
    try:
        await threads.get(thread)
        raise AssertionError("it is still there")
    except NotFoundError as error:
        assert f"Thread {thread} not found" in str(error), error


async def run_agents(url):
    """Runs: streamed, waited for, joined, stopped to ask and gone on with."""
    client = get_client(url=url, api_key="unused")
    thread = (await client.threads.create())["thread_id"]
    say = lambda text: {"messages": [{"role": "user", "content": text}]}
    created, parts = [], []
    modes = ["values", "messages-tuple", "updates", "custom"]
    async for part in client.runs.stream(
        thread, "agent", input=say("What was said about the valve?"), stream_mode=modes, on_run_created=created.append
    ):
        parts.append(part)
    names = [part.event for part in parts]
    assert names[0] == "metadata" and names[-1] == "end" and "error" not in names, names
    assert created[0]["run_id"] == parts[0].data["run_id"] and created[0]["thread_id"], created
    chunks = [part.data[0] for part in parts if part.event == "messages"]
    text = "".join(chunk["content"] for chunk in chunks if chunk["type"] == "AIMessageChunk")
    assert text.startswith("Let me look.It says: "), text
    assert any(chunk["type"] == "tool" for chunk in chunks), chunks
    steps = [name for part in parts if part.event == "updates" for name in part.data]
    assert steps == ["model", "tools", "model"], steps
    values = [part.data for part in parts if part.event == "values"][-1]
    assert values["messages"][-1]["content"].startswith("It says: "), values
    run = await client.runs.get(thread, created[0]["run_id"])
    assert run["status"] == "success" and await client.runs.list(thread) == [run], run
    again = [part async for part in client.runs.join_stream(thread, run["run_id"], stream_mode=modes)]
    assert [part.event for part in again if part.event != "values"] == [name for name in names if name != "values"], again
    assert (await client.runs.join(thread, run["run_id"]))["messages"] == values["messages"]

    stopped = await client.runs.wait(thread, "agent", input=say("Make tea."))
    assert stopped["__interrupt__"][0]["value"]["question"] == "Green or black?", stopped
    assert (await client.threads.get(thread))["status"] == "interrupted"
    state = await client.threads.get_state(thread)
    assert state["next"] == ["tools"] and state["tasks"][0]["interrupts"] == stopped["__interrupt__"], state
    answered = await client.runs.wait(thread, "agent", command={"resume": "black"})
    assert answered["messages"][-1]["content"] == "It says: black", answered
    run = await client.runs.create(thread, "agent", input=say("One more."))
    await client.runs.join(thread, run["run_id"])
    try:
        await client.runs.cancel(thread, run["run_id"])
        raise AssertionError("what is over was stopped")
    except ConflictError as error:
        assert "does not run" in str(error), error
    await client.threads.delete(thread)


def run_blocking(url):
    client = get_sync_client(url=url, api_key=None)
    thread = client.threads.create(metadata={})["thread_id"]
    client.threads.update_state(thread, {"messages": {"role": "user", "content": "Tea?"}})
    state = client.threads.get_state(thread)
    assert state["values"]["messages"][0]["content"] == "Tea?", state
    assert len(client.threads.get_history(thread)) == 1
    client.threads.delete(thread)


asyncio.run(run(sys.argv[1]))
asyncio.run(run_agents(sys.argv[1]))
run_blocking(sys.argv[1])
print("langgraph-sdk (PyPI) reads threads, states and history, and runs agents")
