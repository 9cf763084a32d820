"""The same under Ray Data: ``pip install 'ray[data]'``."""

import json

import ray

from conspectus import Policy
from conspectus.batch import COLUMNS, Compact, report


def session(n: int) -> str:
    turns = [(f"Turn {turn}: what of bed {n}? " + "It rained. " * 60, "So it is. " * 60) for turn in range(12)]
    messages = [m for ask, say in turns for m in ({"role": "user", "content": ask}, {"role": "assistant", "content": say})]
    return json.dumps([*messages, {"role": "user", "content": "And now?"}])


compact = Compact(Policy(trigger=("tokens", 3000), keep=("messages", 4), window=16_000))
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
try:
    sessions = ray.data.from_items([{"id": n, "messages": session(n)} for n in range(20)])
    # Of files: ray.data.read_parquet(...), ray.data.read_json(...); to files: .write_parquet(...).
    compacted = sessions.map_batches(compact.table, batch_format="pyarrow", batch_size=8).materialize()
    told = report(compacted.select_columns(list(COLUMNS)).iter_rows())
    print(told)
    # A row at a time, and what came out goes through as it is.
    again = report(compacted.map(compact).iter_rows())
    assert (again.outcomes, again.tokens_after) == (told.outcomes, told.tokens_after)
finally:
    ray.shutdown()
