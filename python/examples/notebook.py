"""A notebook as a program: open it as one (`# %%` begins a cell), or run it."""

# %% A conversation that is too long
import json
from pathlib import Path

from conspectus import Engine, Policy, compact, inspect, prune

root = Path(__file__).parents[2] / "examples" / "conversations"
messages = json.loads((root / "openai.json").read_text(encoding="utf-8"))
policy = Policy(trigger=("tokens", 6000), window=32_000)
seen = inspect(messages, policy)
seen  # a table: roles, tokens, whether the trigger is reached

# %% Without a model: shortening alone, and an extract
shorter = prune(messages, max_result_chars=1000)
made = compact(messages, policy)
made  # a table: outcome, tokens before and after, the summary

# %% With a model: any function of two texts
NOTE = "## Goal\nDowngrade the reservations\n## State\n- the flights were looked up"
noted = compact(messages, policy, model=lambda call: NOTE)
assert noted.summary is not None
print(noted.summary)

# %% A conversation that goes on
engine = Engine(policy, model=lambda call: NOTE)
talk = engine.conversation([{"type": "system", "content": "You tend a garden."}])
sizes = []
for turn in range(30):
    talk.append([{"type": "human", "content": f"Turn {turn}: " + "it rained on the roses. " * 60}])
    engine.before_call(talk)
    sizes.append(talk.size()["tokens"])
    talk.append([{"type": "ai", "content": "The roses are glad of it. " * 60}])
talk  # a table: messages, folded, size, summary

# %% The size of each request: it rises to the trigger and falls
print("\n".join(f"{turn:3} {'#' * (size // 150)} {size}" for turn, size in enumerate(sizes)))
assert max(sizes) < 6000 and talk.folded

# %% Nothing is lost: what was folded is found, and a compaction can be taken back
print(talk.recall("roses Turn 3")[0][1][:80])
talk.undo()
