"""A loop of one's own, with an async model: compaction before each call, undo, and what was folded found again."""

import asyncio

from conspectus import Engine, ModelCall, Policy


async def writes(call: ModelCall) -> str:
    """A fake model. A real one is sent both texts: ``call.system`` and ``call.document``."""
    await asyncio.sleep(0)
    return "## Goal\nTend the garden\n## State\n- it rained on the beds"


async def main() -> int:
    engine = Engine(Policy(trigger=("tokens", 2000), keep=("messages", 4), window=8000), model=writes)
    talk = engine.conversation([{"type": "system", "content": "You tend a garden."}])
    compacted = 0
    for turn in range(30):
        talk.append([{"type": "human", "content": f"Turn {turn}: what of bed {turn}? " + "It rained. " * 30}])
        report = await engine.abefore_call(talk)
        compacted += report.is_change
        request = talk.request()  # what the model is sent now
        assert request[-1]["content"].startswith(f"Turn {turn}:")
        talk.append([{"type": "ai", "content": "It is well. " * 30}])
    print(talk, "after", compacted, "compactions")
    found = talk.recall("bed 3")
    assert found and talk.undo() and talk.redo()
    return compacted


compactions = asyncio.run(main())
assert compactions > 2
