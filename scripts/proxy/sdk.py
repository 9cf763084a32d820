"""The SDKs of OpenAI and Anthropic through the proxy: `sdk.py PROXY UPSTREAM`. Client code as anybody writes it."""

import json

import anthropic
import openai
from common import FUNCTION, LONG, PIXEL, PROXY, each, seen


def chat():
    client = openai.OpenAI(base_url=f"{PROXY}/v1", api_key="made-up", max_retries=0)
    assert [m.id for m in client.models.list()] == ["m"]
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    tools = [{"type": "function", "function": FUNCTION}]
    messages = [{"role": "system", "content": "Be brief."}]
    messages.append({"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]})
    said = client.chat.completions.create(model="m", messages=messages)
    assert said.choices[0].message.content
    text = ""
    with client.chat.completions.create(model="m", messages=messages, stream=True) as stream:
        for chunk in stream:
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    assert text
    called = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
    messages.append(called.model_dump(exclude_none=True))
    for call in called.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": LONG})
    for n in range(25):
        messages.append({"role": "user", "content": f"Request {n}. {LONG}"})
        reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append({"role": "assistant", "content": reply.content})
    return len(json.dumps(messages))


def responses():
    client = openai.OpenAI(base_url=f"{PROXY}/v1", api_key="made-up", max_retries=0)
    tools = [{"type": "function", "strict": False, **FUNCTION}]
    items = [{"role": "user", "content": [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "low"}]}]
    kinds = [event.type for event in client.responses.create(model="m", input=items, tools=tools, store=False, stream=True)]
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    reply = client.responses.create(model="m", input=items, store=False, instructions="Be brief.")
    assert reply.output
    for n in range(25):
        items.append({"role": "user", "content": f"Request {n}. {LONG}"})
        reply = client.responses.create(model="m", input=items, store=False)
        items.append({"role": "assistant", "content": reply.output_text or "Fine."})
    compacted = client.responses.compact(model="m", input=items)
    capsule = compacted.output[-1]
    assert capsule.type == "compaction" and capsule.encrypted_content.startswith("cnsp1."), capsule
    after = [{"role": "user", "content": "Go on."}]
    client.responses.create(model="m", input=[{"type": "compaction", "encrypted_content": capsule.encrypted_content}, *after], store=False)
    sent = seen()[-1]["raw"]
    assert "cnsp1." not in sent and "E-4417" in sent, sent[:2000]
    return len(json.dumps(items))


def messages():
    client = anthropic.Anthropic(base_url=PROXY, api_key="made-up", max_retries=0)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    tools = [{"name": "run", "description": "Runs a command.", "input_schema": FUNCTION["parameters"]}]
    listed = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}]
    asked = dict(model="m", max_tokens=2000, system="Be brief.")
    with client.messages.stream(**asked, messages=listed) as stream:
        assert "".join(stream.text_stream)
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with client.messages.stream(**asked, messages=listed, tools=tools, thinking=thinking) as stream:
        reply = stream.get_final_message()
    kinds = [block.type for block in reply.content]
    assert "thinking" in kinds and "tool_use" in kinds, kinds
    assert client.messages.count_tokens(model="m", messages=listed).input_tokens
    listed.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]})
    calls = [block for block in reply.content if block.type == "tool_use"]
    listed.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": LONG} for call in calls]})
    # Calls in the list want definitions beside it.
    asked |= {"tools": tools, "tool_choice": {"type": "none"}}
    for n in range(25):
        reply = client.messages.create(**asked, messages=listed)
        text = "".join(block.text for block in reply.content if block.type == "text")
        listed.append({"role": "assistant", "content": text or "Fine."})
        listed.append({"role": "user", "content": f"Request {n}. {LONG}"})
    client.messages.create(**asked, messages=listed)
    return len(json.dumps(listed))


each({"python openai chat": chat, "python openai responses": responses, "python anthropic messages": messages})
