"""What LangChain's class loses on the public cases, and what ours keeps, at the same settings and with the same model.

    python losses.py [folder of cases]

Each case is a public bug report with its conversation and settings. The model answers with one sentence; what is measured
does not depend on it: which messages stay, and what it was given to read.
"""

from __future__ import annotations

import html
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware as Theirs
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage, convert_to_messages

from conspectus.langchain import SummarizationMiddleware as Ours

ROOT = Path(__file__).parents[2]


class Model(GenericFakeChatModel):
    """Remembers what it was given."""

    given: list[str] = []

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.given.append(html.unescape(str(messages[0].content)))
        return super()._generate(messages, *args, **kwargs)


def told(value: Any) -> Any:
    """Texts that a case writes as a recipe."""
    if isinstance(value, dict) and "$gen" in value:
        made = value["$gen"]
        return made.get("prefix", "") + made.get("text", "") * made.get("repeat", 1) + made.get("suffix", "")
    if isinstance(value, dict):
        return {name: told(inner) for name, inner in value.items() if not name.startswith("_")}
    return [told(inner) for inner in value] if isinstance(value, list) else value


def cases(folder: Path) -> Iterator[tuple[str, list[AnyMessage], dict[str, Any]]]:
    for file in sorted(folder.glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        try:
            messages = convert_to_messages(told(case["messages"]))
        except Exception:  # of another provider's format
            continue
        config = case.get("config") or {}
        keep = size(config.get("keep")) or ("messages", 4)
        trigger = size(config.get("trigger")) or ("messages", 2)
        yield file.stem, messages, {"trigger": trigger, "keep": keep}


def size(said: Any) -> tuple[str, int] | None:
    if isinstance(said, dict) and len(said) == 1:
        kind, value = next(iter(said.items()))
        if kind in {"messages", "tokens"} and isinstance(value, int) and value > 0:
            return kind, value
    return None


def losses(which: type[Theirs], messages: list[AnyMessage], settings: dict[str, Any]) -> Counter[str]:
    model = Model(messages=iter([AIMessage("The work so far is noted.")] * 1000), given=[])
    update = which(model, **settings).before_model({"messages": messages}, None)  # type: ignore[arg-type, typeddict-item]
    found: Counter[str] = Counter()
    if update is None:
        return found
    found["compacted"] = 1
    kept = update["messages"][1:]
    calls = {c["id"] for m in kept if isinstance(m, AIMessage) for c in m.tool_calls}
    found["results without their call"] = sum(
        isinstance(m, ToolMessage) and m.tool_call_id not in calls for m in kept
    )
    ids = {m.id for m in kept}
    people = [m for m in messages if isinstance(m, HumanMessage)]
    found["current request removed"] = int(bool(people) and people[-1].id not in ids)
    read = "\n".join(model.given)
    gone = [m for m in messages if m.id not in ids and m.text.strip()]
    found["messages removed"] = len(gone)
    found["messages removed that nobody read"] = sum(not is_read(m.text.strip(), read) for m in gone)
    found["canned sentence in place of a summary"] = int(not model.given)
    return found


def is_read(text: str, read: str) -> bool:
    """Whether most of it was given to the model: what is too long for one call is given in parts."""
    pieces = [text[at : at + 500] for at in range(0, len(text), 500)]
    return sum(piece in read for piece in pieces) * 10 >= len(pieces) * 9


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "cases"
    if not folder.is_dir():
        print(f"no cases at {folder}; name their folder")
        return
    both: dict[str, Counter[str]] = {"theirs": Counter(), "ours": Counter()}
    hit: dict[str, Counter[str]] = {"theirs": Counter(), "ours": Counter()}
    number = 0
    for _, messages, settings in cases(folder):
        number += 1
        for name, which in (("theirs", Theirs), ("ours", Ours)):
            found = losses(which, list(messages), settings)
            both[name] += found
            hit[name] += Counter(key for key, n in found.items() if n)
    print(f"{number} cases")
    print("| | LangChain's | in cases | ours | in cases |\n|---|---|---|---|---|")
    for key in dict.fromkeys([*both["theirs"], *both["ours"]]):
        theirs, ours = both["theirs"][key], both["ours"][key]
        print(f"| {key} | {theirs} | {hit['theirs'][key]} | {ours} | {hit['ours'][key]} |")


if __name__ == "__main__":
    main()
