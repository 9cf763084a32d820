"""Our drop-in and LangChain's class on the same random states, with the same scripted model.

Under ``strict_parity`` everything is the same. Else each difference follows from a loss that a predicate computes from
the state, LangChain's cut and its prompt; none is let through by a list of seeds.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from conftest import Scripted, scripted
from langchain.agents.middleware import SummarizationMiddleware as Theirs
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from states import calm, state

from conspectus.langchain import SummarizationMiddleware as Ours

#: Of each kind; both kinds, and under ``strict_parity``: three thousand states.
SEEDS = 1000


def settings(rng: random.Random) -> dict[str, Any]:
    clause = lambda: rng.choice(  # noqa: E731
        [
            ("messages", rng.randrange(1, 30)),
            ("tokens", rng.randrange(1, 2500)),
            ("fraction", rng.choice([0.05, 0.2, 0.5])),
            {"tokens": rng.randrange(1, 1500), "messages": rng.randrange(1, 20)},
        ]
    )
    said: dict[str, Any] = {
        "trigger": rng.choice([clause(), clause(), [clause(), clause()], None]) if rng.random() < 0.9 else [],
        "keep": rng.choice(
            [("messages", rng.randrange(1, 25)), ("tokens", rng.randrange(1, 1500)), ("fraction", rng.choice([0.02, 0.1]))]
        ),
    }
    if rng.random() < 0.5:
        said["trim_tokens_to_summarize"] = rng.choice([None, 50, 300, 4000])
    if rng.random() < 0.25:
        said["token_counter"] = rng.choice([words, len])
    return said


def calm_settings(rng: random.Random) -> dict[str, Any]:
    """At which LangChain's class loses little."""
    keep = rng.randrange(2, 8)
    said: dict[str, Any] = {"trigger": ("messages", keep + rng.randrange(2, 6)), "keep": ("messages", keep)}
    if rng.random() < 0.3:
        said = {"trigger": ("tokens", 600), "keep": ("tokens", rng.randrange(150, 500))}
    if rng.random() < 0.3:
        said["token_counter"] = words
    return {**said, "trim_tokens_to_summarize": rng.choice([None, 4000])}


def words(messages: Any) -> int:
    """A counter that is not additive."""
    return 7 + sum(len(str(message.content).split()) for message in messages)


def model(rng: random.Random) -> Scripted:
    provider = rng.choice([None, "openai", "anthropic"])
    kind = rng.choice(["scripted", "anthropic-chat"])
    return scripted(kind=kind, provider=provider, profile={"max_input_tokens": 4000})


def plain(update: Any) -> Any:
    """A result without what is random in it."""
    if update is None:
        return None
    return [(type(m).__name__, m.content if not isinstance(m, (AIMessage, ToolMessage)) else "", getattr(m, "id", None))
            for m in update["messages"]]


def run(which: Any, seed: int, **more: Any) -> tuple[list[AnyMessage], Any, Any, Any]:
    rng = random.Random(seed)
    is_calm = seed >= SEEDS
    messages = calm(rng) if is_calm else state(rng)
    for at, message in enumerate(messages):
        message.id = f"m{at}"
    writer = model(rng)
    made = which(writer, **(calm_settings(rng) if is_calm else settings(rng)), **more)
    try:
        update = made.before_model({"messages": messages}, None)
    except Exception as error:  # the same error on both sides is the same behaviour
        update = {"messages": [HumanMessage(f"{type(error).__name__}: {error}")]}
    return messages, made, update, writer


@pytest.mark.parametrize("block", range(4))
def test_strict_parity_is_langchains_to_the_letter(block: int) -> None:
    fired = 0
    for seed in range(block * 250, block * 250 + 250):
        _, _, theirs, writer = run(Theirs, seed)
        _, _, ours, our_writer = run(Ours, seed, strict_parity=True)
        assert plain(ours) == plain(theirs), seed
        assert our_writer.prompts == writer.prompts, seed
        fired += theirs is not None
    assert fired > 20


def losses(messages: list[AnyMessage], theirs: Theirs, update: Any, writer: Scripted) -> set[str]:
    """What LangChain's class loses or risks on this state, by what it did."""
    if update is None or not isinstance(update["messages"][0], BaseMessage):
        return set()
    kept = {m.id for m in update["messages"][2:]}
    gone = [m for m in messages if m.id not in kept]
    found = set()
    calls = {c["id"]: m.id for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    for message in messages:
        if isinstance(message, ToolMessage):
            asked = calls.get(message.tool_call_id)
            if asked is None:
                found.add("orphan")
            elif (asked in kept) != (message.id in kept):
                found.add("split")
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    if any(c not in answered for c in calls):
        found.add("unanswered")
    people = [m for m in messages if isinstance(m, HumanMessage) and m.additional_kwargs.get("lc_source") is None]
    trailing = []
    for message in reversed(messages):
        if not isinstance(message, HumanMessage):
            break
        trailing.append(message)
    if (people and people[-1].id not in kept) or any(m.id not in kept for m in trailing):
        found.add("request")
    unread = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        unread.append(message)
    if any(m.id not in kept for m in unread):
        found.add("unread")
    if isinstance(messages[0], SystemMessage) and messages[0].id not in kept:
        found.add("system")
    if any(m.additional_kwargs.get("lc_source") and m.id in kept for m in messages):
        found.add("summary kept")
    if theirs._trim_messages_for_summary(gone) != gone:
        found.add("unread by the summariser")
    new = [m for m in gone if m.additional_kwargs.get("lc_source") is None]
    total = theirs.token_counter(messages)
    gains = [count(new) for count in (theirs.token_counter, theirs._partial_token_counter)]
    if min(gains) < total / 10 or len(new) < len(messages) / 10:
        found.add("gains little")
    clauses = theirs._trigger_clauses
    limits = [clause.get("tokens") or int(4000 * clause.get("fraction", 0)) for clause in clauses]
    counts = [clause.get("messages") for clause in clauses]
    if any(n and total - min(gains) >= n for n in limits) or any(n and len(messages) - len(new) >= n for n in counts):
        found.add("stays over its trigger")
    return found


def test_every_difference_follows_from_a_loss() -> None:
    same = differs = 0
    for seed in range(2 * SEEDS):
        messages, their, theirs, writer = run(Theirs, seed)
        _, _, ours, our_writer = run(Ours, seed)
        is_same = plain(ours) == plain(theirs) and our_writer.prompts == writer.prompts
        if theirs is None:
            assert ours is None and is_same, seed
        elif not losses(messages, their, theirs, writer):
            assert is_same, (seed, plain(theirs), plain(ours))
            same += 1
        else:
            differs += not is_same
    assert same > SEEDS / 3 and differs > SEEDS / 10, (same, differs)


@pytest.mark.parametrize("block", range(4))
def test_ours_loses_nothing(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        messages, made, update, writer = run(Ours, seed)
        if update is None:
            continue
        kept = update["messages"][1:]
        ids = {m.id for m in kept}
        by_id = {m.id: m for m in messages}
        assert all(m.id is None or by_id[m.id] is m for m in kept), "the very same objects"
        calls: set[str] = set()
        for message in kept:
            if isinstance(message, AIMessage):
                calls |= {c["id"] for c in message.tool_calls if c["id"]}
            if isinstance(message, ToolMessage):
                assert message.tool_call_id in calls, (seed, "an answer without its call")
        people = [m for m in messages if isinstance(m, HumanMessage) and not m.additional_kwargs.get("lc_source")]
        assert not people or people[-1].id in ids, (seed, "the request")
        if made.token_counter not in (words, len):
            read = "\n".join(writer.prompts)
            from html import unescape

            read = unescape(read)
            for message in messages:
                if message.id not in ids and isinstance(message.content, str) and "part 1 of" not in read:
                    assert message.content in read, (seed, "nobody read it")


def test_counts_are_langchains() -> None:
    from conspectus.langchain.views import view

    for seed in range(400):
        messages = state(random.Random(seed))
        for message in messages:
            four = count_tokens_approximately([message])
            three = count_tokens_approximately([message], chars_per_token=3.3)
            seen = view(message)
            assert (seen.tokens(), seen.tokens(True)) == (four, three), (seed, message)


def test_the_quick_look_is_exact() -> None:
    """One token more or less than LangChain counts decides, also after messages were changed in place."""
    looked = 0
    for seed in range(300):
        rng = random.Random(seed)
        messages = state(rng)
        if seed % 3 == 0:
            # Whether a report reaches the trigger depends on whose it is: that only the machine can tell.
            for message in messages:
                if isinstance(message, AIMessage):
                    message.usage_metadata = None
        made = Ours(model(rng), trigger=("tokens", 1 << 40), keep=("messages", 1))
        for _ in range(2):
            total = made.token_counter(messages)
            reported = max((m.usage_metadata or {}).get("total_tokens", 0) if isinstance(m, AIMessage) else 0 for m in messages)
            made._trigger_clauses = [{"tokens": total}]
            assert not made._is_quiet(messages), seed
            made._trigger_clauses = [{"tokens": max(total, reported) + 1}]
            assert made._is_quiet(messages) and all(m.id for m in messages), seed
            looked += 1
            victim = rng.choice(messages)
            if isinstance(victim, AIMessage) and victim.tool_calls:
                victim.tool_calls[0]["args"]["more"] = "it's \n more " * rng.randrange(30)
            elif isinstance(victim.content, list):
                victim.content.append({"type": "custom", "x": [1.5, None, True]})
            else:
                victim.content += " and more" * rng.randrange(30)
    assert looked == 600


def test_odd_messages_are_counted_as_there() -> None:
    from langchain_core.messages import ChatMessage, FunctionMessage

    from conspectus.langchain.views import view

    odd = [
        HumanMessage("\ud83d\ude00 half \ud800"),
        HumanMessage("hi", additional_kwargs={"__openai_role__": "developer"}),
        ChatMessage("x", role="critic"),
        FunctionMessage("x", name="f"),
        AIMessage("", tool_calls=[{"name": "f", "args": {"a": float("nan"), "b": {1, 2}}, "id": "c"}]),
        AIMessage("", tool_calls=[{"name": "f", "args": {"a": (1, 2)}, "id": None}]),
        ToolMessage([{"type": "text", "text": "a"}, {"type": "custom", "x": [1.5, None]}], tool_call_id="c"),
    ]
    for message in odd[:5] + odd[6:]:
        assert view(message).tokens() == count_tokens_approximately([message]), message


def test_messages_that_are_changed_in_place_are_seen() -> None:
    message = AIMessage("short", tool_calls=[{"name": "f", "args": {"a": "x"}, "id": "c"}])
    from conspectus.langchain.views import views

    def check() -> None:
        assert views([message])[0].tokens() == count_tokens_approximately([message])

    check()
    message.content = "a good deal longer than before, as somebody wrote more into it"
    check()
    message.tool_calls[0]["args"]["a"] = "x" * 400
    check()
    message.content = [{"type": "text", "text": "one"}]
    check()
    message.content[0]["text"] = "one and another, and a third one behind it"  # type: ignore[index]
    check()
    again = copy.deepcopy(message)
    assert views([again])[0].tokens() == views([message])[0].tokens()
