"""LangChain's models of OpenAI and Anthropic through the proxy: `chains.py PROXY UPSTREAM`."""

import json

from common import LONG, PIXEL, PROXY, each
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, messages_to_dict
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI


def run(cmd: str) -> str:
    """Runs a command."""
    return f"{cmd}: {LONG}"


TOOL = StructuredTool.from_function(run)
PICTURE = {"type": "image", "base64": PIXEL, "mime_type": "image/png"}


def whole(stream):
    message = None
    for chunk in stream:
        message = chunk if message is None else message + chunk
    return message


def talk(name, model, thinks=False):
    """A picture, a stream, a call of a tool, then turns until the list is longer than what the upstream takes."""
    messages = [SystemMessage("Be brief."), HumanMessage([{"type": "text", "text": f"What is this, {name}?"}, PICTURE])]
    assert whole(model.stream(messages)).text
    tools = model.bind_tools([TOOL])
    called = whole(tools.stream(messages))
    assert called.tool_calls, called
    if thinks:
        kinds = [block["type"] for block in called.content]
        assert "thinking" in kinds and "tool_use" in kinds, kinds
    messages.append(AIMessage(called.content, tool_calls=called.tool_calls, id=called.id))
    messages += [ToolMessage(run(str(call["args"])), tool_call_id=call["id"]) for call in called.tool_calls]
    for n in range(25):
        reply = tools.invoke(messages)
        assert reply.usage_metadata["input_tokens"], reply
        messages.append(reply)
        messages += [ToolMessage("done", tool_call_id=call["id"]) for call in reply.tool_calls]
        messages.append(HumanMessage(f"Request {n}. {LONG}"))
    tools.invoke(messages)
    return len(json.dumps(messages_to_dict(messages)))


def openai(name, responses):
    store = False if responses else None
    model = ChatOpenAI(model="m", base_url=f"{PROXY}/v1", api_key="made-up", max_retries=0, use_responses_api=responses, store=store)
    return talk(name, model)


def anthropic():
    thinking = {"type": "enabled", "budget_tokens": 1024}
    model = ChatAnthropic(model="m", base_url=PROXY, api_key="made-up", max_retries=0, max_tokens=2000, thinking=thinking)
    return talk("anthropic", model, thinks=True)


each(
    {
        "langchain-openai chat": lambda: openai("chat", False),
        "langchain-openai responses": lambda: openai("responses", True),
        "langchain-anthropic": anthropic,
    }
)
