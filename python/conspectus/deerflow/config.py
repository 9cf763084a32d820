"""The section ``summarization:`` of deer-flow's configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

__all__ = ["ContextSize", "SummarizationConfig"]


class ContextSize(BaseModel):
    """A trigger, or what is kept. Ranges are checked where a middleware is made of it."""

    type: Literal["fraction", "tokens", "messages"]
    value: int | float

    def to_tuple(self) -> tuple[Literal["fraction", "tokens", "messages"], int | float]:
        """As LangChain writes it."""
        return self.type, self.value


def _reads() -> list[str]:
    return ["read_file", "read", "view", "cat"]


class SummarizationConfig(BaseModel):
    """When the conversation is summarised, by which model, and what stays. Unknown keys are passed over."""

    enabled: bool = False
    #: ``None``: the model that the run executes with.
    model_name: str | None = None
    trigger: ContextSize | list[ContextSize] | None = None
    keep: ContextSize = Field(default_factory=lambda: ContextSize(type="messages", value=20))
    #: The most that one call of the summariser reads; ``None``: whatever its window takes.
    trim_tokens_to_summarize: int | None = 4000
    summary_prompt: str | None = None
    #: Tools whose reads of a ``SKILL.md`` are kept as references; none: nothing is.
    skill_file_read_tool_names: list[str] = Field(default_factory=_reads)
