"""A corpus of sessions on one machine: files of JSON lines, a pool of processes, and again without doing it again."""

import json
import tempfile
from pathlib import Path

from conspectus import Policy
from conspectus.batch import run

policy = Policy(trigger=("tokens", 3000), keep=("messages", 4), window=16_000)


def session(n: int) -> str:
    turns = [(f"Turn {turn}: what of bed {n}? " + "It rained. " * 60, "So it is. " * 60) for turn in range(12)]
    messages = [m for ask, say in turns for m in ({"role": "user", "content": ask}, {"role": "assistant", "content": say})]
    return json.dumps({"id": n, "messages": [*messages, {"role": "user", "content": "And now?"}]})


def main() -> None:
    global told
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder, "sessions")
        sessions.mkdir()
        for part in range(2):
            lines = [session(n) for n in range(part * 10, part * 10 + 10)]
            (sessions / f"part-{part}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        told = run(sessions, Path(folder, "compacted"), policy, workers=2)
        print(told)
        again = run(sessions, Path(folder, "compacted"), policy)
        print(again)
        assert again.already_there == 20


# Processes of the pool may import this file.
if __name__ in {"__main__", "<run_path>"}:
    main()
