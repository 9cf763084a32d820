"""How a check or a compaction ended, and what it came to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conspectus._table import table

__all__ = ["Compacted", "Inspection", "Report"]


@dataclass(frozen=True)
class Report:
    """How a check or a compaction ended."""

    outcome: str
    tokens_before: int = 0
    tokens_after: int | None = None
    messages_before: int = 0
    messages_removed: int = 0
    reasons: tuple[str, ...] = ()
    failure: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Report:
        """From the engine's own."""
        measured = raw["measured"]
        failure = raw.get("failure")
        return cls(
            outcome=raw["outcome"],
            tokens_before=measured["tokens_before"],
            tokens_after=measured["tokens_after"],
            messages_before=measured["messages_before"],
            messages_removed=measured["messages_removed"],
            reasons=tuple(r if isinstance(r, str) else next(iter(r)) for r in raw["reasons"]),
            failure=None if failure is None else json.dumps(failure) if not isinstance(failure, str) else failure,
            raw=raw,
        )

    @property
    def is_change(self) -> bool:
        """Whether the conversation is shown differently now."""
        return self.outcome in {"compacted", "pruned"}

    def _repr_html_(self) -> str:
        return table(
            "Report",
            [
                ("outcome", self.outcome),
                ("tokens", f"{self.tokens_before} → {self.tokens_after}"),
                ("messages folded", f"{self.messages_removed} of {self.messages_before}"),
                ("reasons", ", ".join(self.reasons)),
            ],
        )


@dataclass(frozen=True)
class Compacted:
    """What a compaction of a list or a document came to."""

    messages: Any
    report: Report
    summary: str | None = None

    def _repr_html_(self) -> str:
        return self.report._repr_html_() + (table("Summary", [("text", self.summary)]) if self.summary else "")


@dataclass(frozen=True)
class Inspection:
    """Where the tokens of a conversation are."""

    messages: int
    tokens: int
    window: int
    triggered: bool
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    def _repr_html_(self) -> str:
        shares = [(share["name"], f"{share['tokens']} tokens in {share['count']}") for share in self.raw["roles"]]
        rows: list[tuple[str, object]] = [
            ("messages", self.messages),
            ("tokens", f"{self.tokens} of {self.window}"),
            ("trigger reached", self.triggered),
            *shares,
        ]
        return table("Inspection", rows)
