"""The channels beside the messages, each with its reducer. The reducers are the agent runtime's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from langchain.agents.middleware.types import AgentState
from typing_extensions import NotRequired

from conspectus._native import delegations_reduced, skills_reduced
from conspectus._plain import sound_json

__all__ = ["DurableContextState", "merge_delegations", "merge_skill_context"]

Entries: TypeAlias = "Sequence[Mapping[str, Any]] | None"


def merge_delegations(known: Entries, news: Entries) -> list[dict[str, Any]]:
    """By id, in the order first seen; what ended is never in progress again; the newest 50 are kept."""
    if not news:
        return [dict(entry) for entry in known or ()]
    merged: list[dict[str, Any]] = json.loads(delegations_reduced(sound_json(known or []), sound_json(news)))
    return merged


def merge_skill_context(known: Entries, news: Entries) -> list[dict[str, Any]]:
    """By path; one that is read again moves to the end; the 8 read last are kept."""
    merged: list[dict[str, Any]] = json.loads(skills_reduced(sound_json(known or []), sound_json(news or [])))
    return merged


class DurableContextState(AgentState[Any]):
    """What outlives every summary."""

    #: The summary so far; no message of the list.
    summary_text: NotRequired[str | None]
    #: Work given to subagents.
    delegations: NotRequired[Annotated[list[dict[str, Any]], merge_delegations]]
    #: Skills that were loaded, as references.
    skill_context: NotRequired[Annotated[list[dict[str, Any]], merge_skill_context]]
