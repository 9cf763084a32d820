"""An agent of LangChain's with the drop-in: the import is all that changes. The model here is a fake one."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from conspectus.langchain import SummarizationMiddleware  # was: from langchain.agents.middleware import ...


class Model(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


answers = Model(messages=(AIMessage(f"That is gate {n}. " + "It stands open. " * 30) for n in range(1000)))
notes = Model(messages=(AIMessage(f"Note {n}: several gates were looked at.") for n in range(1000)))
middleware = SummarizationMiddleware(notes, trigger=("tokens", 2000), keep=("messages", 4))
agent = create_agent(answers, tools=[], middleware=[middleware], checkpointer=InMemorySaver())
config: Any = {"configurable": {"thread_id": "gates"}}
sizes = []
for turn in range(40):
    state = agent.invoke({"messages": [HumanMessage(f"Turn {turn}: the next gate, please.")]}, config)
    sizes.append(len(state["messages"]))
print(sizes)
assert max(sizes) < 30
assert state["messages"][0].additional_kwargs["lc_source"] == "summarization"
