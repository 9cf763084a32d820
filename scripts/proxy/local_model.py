"""A conversation with a small real model, client code as anybody writes it: `local_model.py BASE_URL SERVER WINDOW [END]`.

BASE_URL is the proxy's or the server's own; SERVER is asked for counts of tokens and nothing else. Says what was asked and
answered, and the tokens of each request as the server counted them. It ends at the first call that fails, with 3.
"""

import json
import pathlib
import sys
import time
import urllib.request

import openai

BASE, SERVER, WINDOW = sys.argv[1], sys.argv[2], int(sys.argv[3])
TURNS = (pathlib.Path(__file__).parent.parent / "local-model" / "turns.txt").read_text().splitlines()
QUESTIONS = TURNS[-5:]  # about what was said at the beginning
TURNS = TURNS[:-5]


def readings(n):
    """What the display of a heating says, another text each time."""
    lines = [f"{5 + m}:{(7 * n + m) % 60:02} flow {52 + (n * m) % 17}, return {38 + (n + m) % 11}, {1 + n % 4 / 10} bar" for m in range(8)]
    return " The display says: " + "; ".join(lines) + "."


def tokens(messages):
    text = "\n".join(f"{message['role']}: {message['content']}" for message in messages)
    asked = urllib.request.Request(f"{SERVER}/tokenize", json.dumps({"content": text}).encode(), {"content-type": "application/json"})
    return len(json.load(urllib.request.urlopen(asked))["tokens"])


client = openai.OpenAI(base_url=BASE, api_key="made-up", max_retries=0, timeout=900)
messages = [{"role": "system", "content": "You help people with their heating. Answer in one or two short sentences."}]
largest = calls = read = 0
began = time.monotonic()


def say(text):
    global largest, calls, read
    messages.append({"role": "user", "content": text})
    calls += 1
    try:
        reply = client.chat.completions.create(model="small", messages=messages, max_tokens=70, temperature=0)
    except openai.APIStatusError as error:
        print(f"{calls}: the conversation has {tokens(messages)} tokens, and the call fails: {error.status_code} {error.message[:200]}")
        sys.exit(3)
    answer = reply.choices[0].message.content
    messages.append({"role": "assistant", "content": answer})
    largest = max(largest, reply.usage.prompt_tokens)
    read += reply.usage.prompt_tokens
    print(f"{calls}: {reply.usage.prompt_tokens} tokens sent of {tokens(messages[:-1])}", flush=True)
    return answer


n = 0
while n < len(TURNS) or tokens(messages) < 4 * WINDOW:
    question = TURNS[n] if n < len(TURNS) else "Is anything odd in these readings?"
    # The first turns are short, as when people tell what it is about.
    say(question + (readings(n) if n > 7 else ""))
    n += 1
whole = tokens(messages)
for question in QUESTIONS:
    answer = say(question)
    print(f"  > {question}\n  {answer}")
assert whole >= 4 * WINDOW, whole
assert largest <= WINDOW, largest
print(f"{calls} calls, none failed, in {time.monotonic() - began:.0f} s; the conversation has {tokens(messages)} tokens, the window {WINDOW}, the largest request {largest}")
