"""A thread that an agent of LangGraph's left in SQLite, with all that its summaries took away. The model is a fake one."""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from conspectus.import_checkpoints import import_threads

model = GenericFakeChatModel(messages=(AIMessage(f"Answer {n}.") for n in range(1000)))
with tempfile.TemporaryDirectory() as folder:
    store = Path(folder, "checkpoints.db")
    connection = sqlite3.connect(store, check_same_thread=False)
    compacts = SummarizationMiddleware(model, trigger=("messages", 8), keep=("messages", 2))
    agent = create_agent(model, tools=[], middleware=[compacts], checkpointer=SqliteSaver(connection))
    config: Any = {"configurable": {"thread_id": "garden"}}
    for turn in range(12):
        state = agent.invoke({"messages": [HumanMessage(f"Question {turn}?")]}, config)
    connection.close()

    # Into a folder here; "sqlite:threads.db" or "http://127.0.0.1:7437" with the program conspectus.
    report = import_threads(store, Path(folder, "threads"))
    (thread,) = report.threads
    print(thread)
    lines = [json.loads(line) for line in Path(folder, "threads", "garden.jsonl").read_text().splitlines()]
asked = [line["message"]["body"]["json"]["content"] for line in lines if "message" in line]
assert len(state["messages"]) < 9 < 24 == len(asked)
assert asked[0] == "Question 0?" and any("fold" in line for line in lines)
