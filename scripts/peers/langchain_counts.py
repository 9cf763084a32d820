#!/usr/bin/env python3
"""Writes crates/core/tests/fixtures/langchain_counts.json: what LangChain's count_tokens_approximately says.

The Rust test `count::langchain` checks its own formula against these rows. Run with the real package:

    python3 -m venv VENV && VENV/bin/pip install langchain-core==1.8.3
    VENV/bin/python scripts/peers/langchain_counts.py [SHARED]

SHARED: a folder with data/deer-flow (real conversations); without it only the generated rows are written.

Each conversation is a list of messages in a small neutral form that both sides read:
role, content (string or list of blocks), name, tool_call_id, calls [{name, args, id}], provider, total.
"""

import json
import pathlib
import random
import sys

from langchain_core import __version__
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

OUT = pathlib.Path(__file__).parents[2] / "crates/core/tests/fixtures/langchain_counts.json"

STRINGS = [
    "", "a", "hi", "it's", 'say "hi"', "it's \"both\"", "back\\slash", "tab\tline\nret\r", "\x00\x07\x1b\x7f",
    "\u0080\u00a0\u00ad\u00e9", "日本語のテキスト", "한국어", "🙂👩‍👩‍👧‍👦🏳️‍🌈", "\u200b\u2028\ufeff\ue000", "a" * 12,
    "Привет, мир", "שלום", "ไทย", "e\u0301", "\U0001f9ff\U00013000\U000e0001",
]
NUMBERS = [0, 1, -1, 10**6, 12345678901234567890123, 0.1, 1.0, -0.0, 1e5, 1e15, 1e16, 1.5e300, 1e-4, 1e-5, 3.3333333333333335]


def value(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 2:
        return rng.choice(STRINGS) + rng.choice(["", " ", rng.choice(STRINGS)])
    if kind == 2:
        return rng.choice(NUMBERS)
    if kind == 3:
        return rng.choice([True, False, None])
    if kind == 4:
        return rng.choice([[], {}])
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(STRINGS) + str(i): value(rng, depth + 1) for i in range(rng.randrange(4))}


def block(rng):
    kind = rng.randrange(7)
    text = rng.choice(STRINGS) * rng.randrange(1, 4)
    if kind < 3:
        return {"type": "text", "text": text}
    if kind == 3:
        return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBOR" * 20}}
    if kind == 4:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    if kind == 5:
        return {"type": "thinking", "thinking": text, "signature": "c2ln"}
    return {"type": "odd_" + str(rng.randrange(3)), "data": value(rng), "index": 0}


def calls(rng):
    return [
        {"name": rng.choice(["t", "read_file", "it's"]), "args": {k: value(rng) for k in ["p", "q\n"][: rng.randrange(3)]},
         "id": rng.choice(["c1", "call_9f8e7d", "toolu_é"])}
        for _ in range(rng.randrange(3))
    ]


def message(rng):
    role = rng.choice(["system", "user", "assistant", "assistant", "tool"])
    as_list = rng.randrange(3) == 0
    m = {"role": role, "content": [block(rng) for _ in range(rng.randrange(4))] if as_list else rng.choice(STRINGS) * rng.randrange(1, 9)}
    if rng.randrange(5) == 0:
        m["name"] = rng.choice(["bob", "名前"])
    if role == "tool":
        m["tool_call_id"] = rng.choice(["c1", "call_9f8e7d"])
    if role == "assistant":
        m["calls"] = calls(rng)
        if rng.randrange(2):
            m["provider"] = "openai" if rng.randrange(12) else "anthropic"
        if "provider" in m and rng.randrange(2):
            m["total"] = rng.randrange(1, 600)
    return m


def build(m):
    keys = {"content": m["content"]}
    if m.get("name"):
        keys["name"] = m["name"]
    if m["role"] == "system":
        return SystemMessage(**keys)
    if m["role"] == "user":
        return HumanMessage(**keys)
    if m["role"] == "tool":
        return ToolMessage(tool_call_id=m["tool_call_id"], **keys)
    if "provider" in m:
        keys["response_metadata"] = {"model_provider": m["provider"]}
    if "total" in m:
        keys["usage_metadata"] = {"input_tokens": m["total"] - 1, "output_tokens": 1, "total_tokens": m["total"]}
    return AIMessage(tool_calls=m.get("calls", []), **keys)


def real(shared):
    """The last messages of a real conversation, long texts cut so that the fixture stays small."""
    for path in sorted(pathlib.Path(shared, "data/deer-flow").glob("**/*.json"))[:3]:
        found = []
        stack = [json.loads(path.read_text("utf-8"))]
        while stack:
            node = stack.pop()
            if isinstance(node, list):
                stack.extend(node)
            elif isinstance(node, dict):
                if node.get("type") in ("human", "ai", "tool", "system") and isinstance(node.get("content"), (str, list)):
                    found.append(node)
                else:
                    stack.extend(node.values())
        messages = []
        for node in found[:12]:
            role = {"human": "user", "ai": "assistant"}.get(node["type"], node["type"])
            content = node["content"]
            m = {"role": role, "content": content[:400] if isinstance(content, str) else [b for b in content if len(str(b)) < 800]}
            if role == "tool":
                m["tool_call_id"] = node.get("tool_call_id") or "x"
            if role == "assistant":
                m["calls"] = [{k: c[k] for k in ("name", "args", "id")} for c in node.get("tool_calls") or [] if len(str(c)) < 1500]
            messages.append(m)
        yield messages


def tools(rng):
    return [{"name": rng.choice(["t", "naïve"]), "description": rng.choice(STRINGS), "parameters": value(rng)} for _ in range(rng.randrange(3))]


def main():
    rng = random.Random(20261130)
    conversations = [[message(rng) for _ in range(rng.randrange(1, 6))] for _ in range(90)]
    conversations += [[{"role": "user", "content": "a" * 12}], [{"role": "assistant", "content": ""}]]
    conversations += list(real(sys.argv[1])) if len(sys.argv) > 1 else []
    rows = []
    for conversation in conversations:
        built = [build(m) for m in conversation]
        # From JSON, as a checkpoint would be read: key order, floats and integers as both sides see them.
        offered = tools(rng)
        rows.append({
            "messages": conversation,
            "tools": offered,
            "each": [count_tokens_approximately([m]) for m in built],
            "each33": [count_tokens_approximately([m], chars_per_token=3.3) for m in built],
            "total": count_tokens_approximately(built, tools=offered),
            "scaled": count_tokens_approximately(built, tools=offered, use_usage_metadata_scaling=True),
        })
    out = {"package": "langchain-core " + __version__, "rows": rows}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    # ASCII, so that control characters and lone marks are visible in the file.
    OUT.write_text(json.dumps(out, separators=(",", ":")).replace('{"messages"', '\n{"messages"') + "\n", "utf-8")
    print(OUT, OUT.stat().st_size, "bytes,", len(rows), "conversations")


main()
