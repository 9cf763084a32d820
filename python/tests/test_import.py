"""Threads out of LangGraph's stores, written by real agents and read back by the real program where it is there."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from conftest import scripted
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, SummarizationMiddleware
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, _messages_delta_reducer, add_messages
from typing_extensions import TypedDict

from conspectus.checkpoints.journal import Journal
from conspectus.checkpoints.sources import SourceError, opened
from conspectus.checkpoints.state import State
from conspectus.checkpoints.target import Program
from conspectus.import_checkpoints import ImportReport, import_threads, main

PROGRAM = os.environ.get("CONSPECTUS_BIN", "")
if PROGRAM:
    assert Path(PROGRAM).is_file(), f"CONSPECTUS_BIN names {PROGRAM}, which is not there"


def look(at: int) -> str:
    """Looks."""
    return f"seen at {at}: the gate number {at * 7} is open. " + "Nothing else of note there. " * 12


def answer(messages: Any, n: int) -> Any:
    if "context extraction" in str(messages[0].content).lower():
        return f"Summary {n}: several gates were looked at."
    if isinstance(messages[-1], ToolMessage):
        return AIMessage(f"That was look {n}.")
    calls = [{"name": "look", "args": {"at": n + k}, "id": f"call_{n}_{k}"} for k in range(1 + n % 2)]
    return AIMessage("", tool_calls=calls)


def agent_of(saver: Any, keep: int = 4) -> Any:
    model = scripted(answer)
    compacts = SummarizationMiddleware(model, trigger=("messages", 12), keep=("messages", keep))
    return create_agent(model, [look], middleware=[compacts], checkpointer=saver)


def drive(agent: Any, config: Any, turns: range) -> Any:
    for turn in turns:
        agent.invoke({"messages": [HumanMessage(f"Turn {turn}: look at the next gate.")]}, config)
    return agent.get_state(config).values


def config_of(thread: str) -> Any:
    return {"configurable": {"thread_id": thread, "user_id": "ann"}}


@contextmanager
def saver_at(path: Path) -> Iterator[SqliteSaver]:
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        yield SqliteSaver(connection)
    finally:
        connection.close()


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Path:
    """An agent's thread with several compactions, a fork of it, and a second one without any."""
    path = tmp_path / "checkpoints.db"
    with saver_at(path) as saver:
        agent = agent_of(saver)
        drive(agent, config_of("gates"), range(12))
        drive(agent, config_of("short one!"), range(2))
    return path


class Read:
    """A journal, done by hand: what it says is shown at its end, and all messages."""

    def __init__(self, text: str) -> None:
        self.lines = [json.loads(line) for line in text.splitlines()]
        self.meta = self.lines[0]["thread"]["meta"]
        self.all: list[Any] = []
        before: list[int | None] = []
        self.path: list[int] = []
        self.folded: set[int] = set()
        self.summary: str | None = None
        for line in self.lines[1:]:
            ((kind, said),) = line.items()
            if kind == "message":
                before.append(self.path[-1] if self.path else None)
                self.path.append(len(self.all))
                self.all.append(said["body"]["json"])
            elif kind == "move":
                at, self.path = said["to"], []
                while at is not None:
                    self.path.insert(0, at)
                    at = before[at]
                self.folded &= set(self.path)
            elif kind == "fold":
                for first, last in said["nodes"]:
                    self.folded |= set(range(first, last + 1)) & set(self.path)
                self.summary = said["summary"]
            else:
                assert said["messages"] == len(self.all)

    @property
    def shown(self) -> list[Any]:
        return [self.all[node] for node in self.path if node not in self.folded]


def read(folder: Path, id: str) -> Read:
    return Read((folder / f"{id}.jsonl").read_text(encoding="utf-8"))


def ids(messages: Any) -> list[str]:
    return [m["id"] if isinstance(m, dict) else m.id for m in messages]


def ours(*words: str) -> Any:
    """What the program answers."""
    ended = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads(ended.stdout)["result"]


def test_an_agents_thread_comes_whole(store: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    told: list[str] = []
    report = import_threads(store, tmp_path / "out", on_progress=lambda t, done, of: told.append(f"{done}/{of} {t.id}"))
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before, "the store is only read"
    assert report.problems == [] and report.count("imported") == 2
    assert told[0] == "1/2 gates" and told[1].startswith("2/2 short-one-")
    gates = report.threads[0]
    assert gates.summaries >= 3 and gates.branches == 0
    assert report._repr_html_().startswith("<table>")
    made = read(tmp_path / "out", "gates")
    with saver_at(store) as saver:
        state = agent_of(saver).get_state(config_of("gates")).values["messages"]
    marker, kept = state[0], state[1:]
    assert ids(made.shown) == ids(kept), "what the agent had in its list is what is shown"
    assert made.summary and marker.text.endswith(made.summary)
    asked = [m["content"] for m in made.all if m["type"] == "human"]
    assert asked == [f"Turn {turn}: look at the next gate." for turn in range(12)], "nothing is lost"
    assert made.meta["metadata"]["user_id"] == "ann"
    assert made.meta["metadata"]["imported"]["thread_id"] == "gates"


def test_again_and_grown_and_anew(store: Path, tmp_path: Path) -> None:
    def run(**more: Any) -> ImportReport:
        return import_threads(store, tmp_path / "out", **more)

    run()
    first = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert run().count("already_there") == 2
    import_threads(store, tmp_path / "other")
    assert first == {file.name: file.read_bytes() for file in (tmp_path / "other").iterdir()}, "always the same"
    with saver_at(store) as saver:
        drive(agent_of(saver), config_of("gates"), range(12, 13))
    grown = run(threads=["gates"])
    assert [t.outcome for t in grown.threads] == ["differs"]
    assert run(replace=True).count("replaced") == 1
    assert run().count("already_there") == 2


def test_branches_of_the_checkpoint_history(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    config = config_of("forked")
    with saver_at(path) as saver:
        agent = agent_of(saver)
        drive(agent, config, range(3))
        history = list(agent.get_state_history(config))
        early = [s for s in history if s.values.get("messages") and not s.next][-1]
        drive(agent, config, range(3, 5))
        agent.invoke({"messages": [HumanMessage("Another way.")]}, early.config)
        agent.invoke({"messages": [HumanMessage("And on.")]}, config)
        # A message that is said anew: the list differs in its middle.
        values = agent.get_state(config).values["messages"]
        changed = HumanMessage("Said anew.", id=values[0].id)
        agent.update_state(config, {"messages": [changed, RemoveMessage(values[-1].id)]}, as_node="SummarizationMiddleware.before_model")
        state = agent.get_state(config).values["messages"]
    report = import_threads(path, tmp_path / "out")
    assert report.problems == [] and report.threads[0].branches >= 2
    made = read(tmp_path / "out", "forked")
    assert ids(made.shown) == ids(state) and made.shown[0]["content"] == "Said anew."
    everything = json.dumps(made.all)
    for text in ("Turn 4", "Another way.", "And on.", "Turn 0"):
        assert text in everything, text


class FlowState(AgentState[Any]):
    summary_text: str
    title: str
    delegations: list[Any]
    skill_context: list[Any]


class Flow(AgentMiddleware[FlowState, Any, Any]):
    """What deer-flow keeps, the way it keeps it: the summary in a channel, rescued messages in front."""

    state_schema = FlowState

    def before_model(self, state: Any, runtime: Any) -> Any:
        messages = state["messages"]
        if len(messages) < 9 or isinstance(messages[-1], ToolMessage):
            return None
        kept = [m for m in messages if m is messages[-1] or m.additional_kwargs.get("dynamic_context_reminder")]
        count = int((state.get("summary_text") or "0").split()[0]) + 1
        return {
            "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept],
            "summary_text": f"{count} times it was summed up.",
            "title": "Gates",
            "delegations": [{"id": "d1", "description": "look", "status": "completed"}],
            "skill_context": [{"name": "gates", "path": "/mnt/skills/gates/SKILL.md", "description": "of gates"}],
        }


def flow_of(saver: Any) -> Any:
    return create_agent(scripted(answer), [look], middleware=[Flow()], checkpointer=saver)


def test_a_summary_in_a_channel_with_title_delegations_and_skills(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    config = config_of("flow")
    with saver_at(path) as saver:
        agent = flow_of(saver)
        reminder = HumanMessage("Today is Monday.", additional_kwargs={"dynamic_context_reminder": True})
        agent.invoke({"messages": [reminder, HumanMessage("Turn: look.")]}, config)
        state = drive(agent, config, range(6))
    report = import_threads(path, tmp_path / "out")
    made = read(tmp_path / "out", "flow")
    assert report.problems == [] and report.threads[0].summaries >= 2
    assert made.summary == state["summary_text"]
    assert ids(made.shown) == ids(state["messages"])
    assert made.shown[0]["content"] == "Today is Monday." and len(made.all) > len(made.shown) + 10
    assert made.meta["title"] == "Gates"
    assert made.meta["skills"][0]["path"] == "/mnt/skills/gates/SKILL.md"
    assert made.meta["note"]["channels"]["delegations"][0]["id"] == "d1"


def test_a_store_that_was_pruned_still_has_its_summary(store: Path, tmp_path: Path) -> None:
    flow = tmp_path / "flow.db"
    with saver_at(flow) as saver:
        drive(flow_of(saver), config_of("flow"), range(6))
    for path, thread in ((store, "gates"), (flow, "flow")):
        with sqlite3.connect(path) as database:
            database.execute(
                "DELETE FROM checkpoints WHERE checkpoint_id NOT IN "
                "(SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id DESC LIMIT 3)",
                [thread],
            )
        out = tmp_path / thread
        report = import_threads(path, out, threads=[thread])
        assert report.problems == []
        made = read(out, thread)
        assert made.shown[0]["additional_kwargs"]["lc_source"] == "summarization"
        assert not made.folded and made.path == list(range(len(made.all)))


def test_a_broken_checkpoint_stops_nothing_else(store: Path, tmp_path: Path) -> None:
    with sqlite3.connect(store) as database:
        (some,) = database.execute(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = 'gates' ORDER BY checkpoint_id LIMIT 1 OFFSET 20"
        ).fetchone()
        database.execute("UPDATE checkpoints SET checkpoint = X'c1ff' WHERE checkpoint_id = ?", [some])
        database.execute("INSERT INTO checkpoints VALUES ('nothing', '', '1', NULL, 'msgpack', X'c1', X'7b7d')")
    whole = import_threads(store, tmp_path / "out")
    assert [(p.thread, p.checkpoint) for p in whole.problems] == [("gates", some), ("nothing", "1")]
    assert [t.outcome for t in whole.threads] == ["imported", "failed", "imported"]
    made = read(tmp_path / "out", "gates")
    assert sum(m["type"] == "human" for m in made.all) == 12
    assert main([str(store), "--to", str(tmp_path / "out"), "--quiet"]) == 1
    with pytest.raises(SourceError, match="no file"):
        import_threads(tmp_path / "none.db", tmp_path / "out")
    (tmp_path / "no.db").write_text("not a database, " * 100)
    assert main([str(tmp_path / "no.db"), "--to", str(tmp_path / "out")]) == 4


class Loaded:
    """A class that a store names."""

    made = 0

    def __init__(self, **fields: Any) -> None:
        type(self).made += 1


class Kinds(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


class Delta(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


def test_no_class_is_loaded_that_the_store_names(tmp_path: Path) -> None:
    import ormsgpack

    path = tmp_path / "checkpoints.db"
    with saver_at(path) as saver:
        drive(agent_of(saver), config_of("t"), range(1))
        ext = ormsgpack.Ext(2, ormsgpack.packb((__name__, "Loaded", {"a": 1})))
        (blob,) = saver.conn.execute("SELECT checkpoint FROM checkpoints ORDER BY checkpoint_id DESC").fetchone()
        values = ormsgpack.unpackb(blob, ext_hook=lambda code, data: ormsgpack.Ext(code, data))
        values["channel_values"]["evil"] = ext
        saver.conn.execute(
            "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?", [ormsgpack.packb(values), values["id"]]
        )
        saver.conn.commit()
    before = Loaded.made
    report = import_threads(path, tmp_path / "out")
    assert report.count("imported") == 1 and report.problems == []
    assert Loaded.made == before
    import_threads(path, tmp_path / "trusted", trust=True)
    assert Loaded.made > before, "the check can fail"


def test_messages_of_every_kind_survive(tmp_path: Path) -> None:
    graph = StateGraph(Kinds)
    graph.add_node("nothing", lambda state: {})
    graph.add_edge(START, "nothing")
    graph.add_edge("nothing", END)
    path = tmp_path / "checkpoints.db"
    odd: list[Any] = [
        SystemMessage("You look.", id="s"),
        HumanMessage([{"type": "text", "text": "a \ud83d alone"}, {"type": "image_url", "image_url": {"url": "x"}}], id="h"),
        AIMessage("", tool_calls=[{"name": "look", "args": {"at": 1}, "id": "c"}], id="a"),
        ToolMessage("x", tool_call_id="c", artifact={"n": float("inf"), "set": {1}}, id="t", status="error"),
        AIMessage("nul \x00 and \u2028", id="b", response_metadata={"n": float("nan")}),
        {"role": "user", "content": "last", "id": "d"},
    ]
    with saver_at(path) as saver:
        graph.compile(checkpointer=saver).invoke({"messages": odd[:1] + odd[2:]}, config_of("kinds"))
    report = import_threads(path, tmp_path / "out")
    assert report.problems == []
    made = read(tmp_path / "out", "kinds")
    assert ids(made.shown) == ["s", "a", "t", "b", "d"]
    # What msgpack does not take never was in a store; in memory it can be.
    journal = Journal()
    journal.take(State("1", None, 5, [odd[1]], None, None))
    (line,) = Read(journal.text("x", {})).all
    assert line["content"][0]["text"] == "a \ud83d alone"


def random_history(seed: int, *, with_calls: bool = False) -> Iterator[tuple[Journal, list[Any], str | None]]:
    """Grown, cut, edited, forked and summed up at random: after each step the journal, and what the state holds."""
    rng = random.Random(seed)
    journal, n = Journal(), 0
    states: list[State] = []
    for step in range(rng.randrange(1, 25)):
        parent = rng.choice(states) if states and rng.random() < 0.3 else states[-1] if states else None
        messages: list[Any] = list(parent.messages) if parent else []
        summary = parent.summary if parent else None
        what = rng.random()
        if what < 0.15 and messages:
            at = rng.randrange(len(messages))
            messages[at] = HumanMessage(f"anew {step}", id=messages[at].id)
        elif what < 0.25 and messages:
            del messages[rng.randrange(len(messages)) :][: rng.randrange(1, 4)]
        elif what < 0.45 and messages:
            summary = f"summary {step}"
            messages = [m for m in messages if rng.random() < 0.3]
        for _ in range(rng.randrange(3)):
            made: list[Any] = [HumanMessage(f"text {n}", id=f"m{n}")]
            if with_calls and rng.random() < 0.6:
                calls = [{"name": "look", "args": {"at": n}, "id": f"c{rng.randrange(4)}"} for _ in range(rng.randrange(3))]
                made = [AIMessage(f"text {n}", id=f"m{n}", tool_calls=calls)]
                made += [ToolMessage(f"seen {n}", tool_call_id=f"c{rng.randrange(4)}", id=f"t{n}")] * rng.randrange(2)
            messages += made
            n += 1
        state = State(str(step), parent.id if parent else None, step, messages, summary, None)
        states.append(state)
        journal.take(state)
        yield journal, messages, summary


def test_random_histories_are_what_they_say() -> None:
    for seed in range(400):
        for journal, messages, summary in random_history(seed):
            made = Read(journal.text("t", {}))
            shown = [m for m in made.shown if m["additional_kwargs"].get("lc_source") != "summarization"]
            assert [(m["id"], m["content"]) for m in shown] == [(m.id, m.content) for m in messages], seed
            if made.folded:
                assert made.summary == summary, seed


@pytest.mark.skipif(not PROGRAM, reason="CONSPECTUS_BIN names no program")
def test_the_program_takes_every_history(tmp_path: Path) -> None:
    place = Program(f"sqlite:{tmp_path / 'threads.db'}")
    summed_up = 0
    for seed in range(25):
        *_, (journal, messages, summary) = random_history(seed, with_calls=True)
        if not journal.messages:
            continue
        place.put(f"t{seed}", journal.text(f"t{seed}", {}))
        request = json.dumps(ours("thread", "request", f"t{seed}", "--store", place.place[1])["messages"])
        # Results whose call is nowhere are not sent; all else is there, and may be more: what must stay stays.
        for message in messages:
            assert isinstance(message, ToolMessage) or json.dumps(message.content) in request, (seed, message)
        summed_up += summary is not None and summary in request
    assert summed_up > 10


@pytest.mark.skipif(not PROGRAM, reason="CONSPECTUS_BIN names no program")
def test_the_program_reads_it_back(store: Path, tmp_path: Path) -> None:
    place = f"sqlite:{tmp_path / 'threads.db'}"
    assert main([str(store), "--to", place]) == 0
    assert main([str(store), "--to", place, "--quiet"]) == 0, "again"
    with saver_at(store) as saver:
        values = agent_of(saver).get_state(config_of("gates")).values["messages"]
    request = ours("thread", "request", "gates", "--store", place)
    messages = request["messages"]
    texts = json.dumps(messages)
    assert values[0].text.split("\n\n")[1] in texts, "the summary"
    assert all(json.dumps(m.content) in texts for m in values[1:] if m.content)
    threads = {t["thread_id"]: t for t in ours("thread", "ls", "--store", place)["threads"]}
    gates = threads["gates"]
    assert gates["record_count"] >= 3 and gates["message_count"] > len(values) + 20
    log = ours("thread", "log", "gates", "--store", place)
    assert len(log["log"] if isinstance(log, dict) else log) == gates["record_count"]
    found = ours("recall", "--thread", "gates", "Turn 0", "--store", place)
    assert "Turn 0" in json.dumps(found)
    ours("thread", "undo", "gates", "--store", place)
    longer = ours("thread", "request", "gates", "--store", place)["messages"]
    assert len(longer) > len(messages)
    # It differs now for nobody: what it was made of is the same.
    again = import_threads(store, place)
    assert again.count("already_there") == 2
    program = Program(place)
    program.page = 1
    assert set(program.known()) == set(threads)


@pytest.mark.skipif(not PROGRAM, reason="CONSPECTUS_BIN names no program")
def test_a_service_takes_them_and_a_grown_thread_is_made_anew(store: Path) -> None:
    command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--store", "memory"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        try:
            assert service.stdout is not None
            url = re.search(r"http://\S+", service.stdout.readline())
            assert url is not None
            assert import_threads(store, url[0]).count("imported") == 2
            with saver_at(store) as saver:
                drive(agent_of(saver), config_of("gates"), range(12, 14))
            again = import_threads(store, url[0])
            assert (again.count("differs"), again.count("already_there")) == (1, 1)
            assert import_threads(store, url[0], replace=True).count("replaced") == 1
            threads = ours("thread", "ls", "--server", url[0])["threads"]
            assert sorted(t["thread_id"] for t in threads)[0] == "gates" and len(threads) == 2
        finally:
            service.terminate()


@pytest.mark.skipif(not PROGRAM, reason="CONSPECTUS_BIN names no program")
def test_what_the_program_does_not_take_is_named(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    with saver_at(path) as saver:
        drive(agent_of(saver), config_of("t"), range(1))
    place = f"sqlite:{tmp_path / 'threads.db'}"
    import conspectus.checkpoints.journal as journal

    whole = journal._message_json
    journal._message_json = lambda m: '{"type": "who"}' if isinstance(m, ToolMessage) else whole(m)
    try:
        report = import_threads(path, place)
    finally:
        journal._message_json = whole
    (problem,) = report.problems
    assert problem.thread == "t" and problem.checkpoint and "line 4" in problem.message


@pytest.mark.skipif(not os.environ.get("CONSPECTUS_POSTGRES"), reason="CONSPECTUS_POSTGRES names no server")
def test_postgresql(tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("langgraph.checkpoint.postgres")
    from langgraph.checkpoint.postgres import PostgresSaver

    words = os.environ["CONSPECTUS_POSTGRES"]
    name = f"checkpoints_{os.getpid()}"
    with psycopg.connect(f"{words} dbname=postgres", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
    parts = dict(word.split("=", 1) for word in words.split())
    query = "&".join(f"{key}={value}" for key, value in parts.items() if key in {"host", "port", "user"})
    address = f"postgresql:///{name}?{query}"
    try:
        with PostgresSaver.from_conn_string(address) as saver:
            saver.setup()
            agent = agent_of(saver)
            values = drive(agent, config_of("gates"), range(8))["messages"]
        report = import_threads(address, tmp_path / "out")
        assert report.problems == [] and report.threads[0].summaries >= 1
        made = read(tmp_path / "out", "gates")
        assert ids(made.shown) == ids(values[1:])
        assert sum(m["type"] == "human" for m in made.all) == 8
        with psycopg.connect(address, autocommit=True) as database:
            database.execute(
                "UPDATE checkpoint_blobs SET blob = '\\xc1ff' WHERE channel = 'messages' AND version = "
                "(SELECT max(version) FROM checkpoint_blobs WHERE channel = 'messages')"
            )
        broken = import_threads(address, tmp_path / "broken")
        assert broken.problems and all(p.thread == "gates" and p.checkpoint for p in broken.problems)
        assert broken.count("imported") == 1
    finally:
        with psycopg.connect(f"{words} dbname=postgres", autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_channel_of_which_only_changes_are_stored(tmp_path: Path) -> None:
    graph = StateGraph(Delta)
    graph.add_node("say", lambda state: {"messages": [AIMessage(f"said {len(state['messages'])}")]})
    graph.add_edge(START, "say")
    graph.add_edge("say", END)
    path = tmp_path / "checkpoints.db"
    with saver_at(path) as saver:
        made_of = graph.compile(checkpointer=saver)
        for turn in range(4):
            made_of.invoke({"messages": [HumanMessage(f"turn {turn}")]}, config_of("delta"))
        state = made_of.get_state(config_of("delta")).values["messages"]
    report = import_threads(path, tmp_path / "out")
    assert report.problems == []
    made = read(tmp_path / "out", "delta")
    assert [m["content"] for m in made.shown] == [m.content for m in state] and len(state) == 8


def test_it_runs_as_a_program(store: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conspectus.import_checkpoints", str(store), "--to", str(tmp_path / "out")]
    ended = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert len(json.loads(ended.stdout)["threads"]) == 2 and "[2/2]" in ended.stderr
    ended = subprocess.run([*command, "--thread", "gates"], capture_output=True, text=True, check=True)
    assert ended.stdout == "1 threads: 1 already there\n"
    with opened(store) as source:
        assert source.threads() == ["gates", "short one!"]
