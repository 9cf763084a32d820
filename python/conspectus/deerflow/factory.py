"""The middleware of a configuration."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from conspectus.deerflow.config import ContextSize, SummarizationConfig
from conspectus.deerflow.models import _built, default_name
from conspectus.deerflow.summarization import DeerFlowSummarizationMiddleware, SummarizationEvent

__all__ = ["MemoryFlush", "create_summarization_middleware"]

logger = logging.getLogger(__name__)


class MemoryFlush:
    """A hook that hands messages that are about to be removed to the memory. ``manager`` has ``add_nowait``."""

    def __init__(self, manager: Any, *, user_id: Callable[[Any], str | None] | None = None) -> None:
        self.manager = manager
        self._user_id = user_id or _user_of

    def __call__(self, event: SummarizationEvent) -> None:
        """Only where the thread is known: memories belong to one."""
        if event.thread_id is None:
            return
        self.manager.add_nowait(
            thread_id=event.thread_id,
            messages=list(event.messages_to_summarize),
            agent_name=event.agent_name,
            user_id=self._user_id(event.runtime),
        )


def _user_of(runtime: Any) -> str | None:
    context = getattr(runtime, "context", None)
    found = context.get("user_id") if isinstance(context, dict) else getattr(context, "user_id", None)
    return None if found is None else str(found)


def create_summarization_middleware(
    *,
    app_config: Any = None,
    config: SummarizationConfig | None = None,
    keep: ContextSize | None = None,
    skip_memory_flush: bool = False,
    run_model_name: str | None = None,
    extensions: Any = None,
    hooks: Sequence[Callable[[SummarizationEvent], None]] = (),
    memory: Any = None,
    create_model: Callable[[str | None, Any], Any] | None = None,
) -> DeerFlowSummarizationMiddleware | None:
    """``None`` where summarization is off or no model can be built.

    ``config``: the section, else ``app_config.summarization``. ``memory``: a manager that gets messages before they are
    removed, where ``app_config.memory`` is enabled; ``skip_memory_flush`` leaves that out, as for subagents, who share their
    parent's thread. ``hooks`` come before it.
    """
    said = config or getattr(app_config, "summarization", None)
    if said is None or not said.enabled:
        return None
    create = create_model or _built
    owner = run_model_name or default_name(app_config)
    anchor, anchor_name = _anchor([said.model_name, owner, default_name(app_config), None], create, app_config)
    if anchor is None:
        return None
    options: dict[str, Any] = {
        "trigger": _trigger(said.trigger),
        "keep": (keep or said.keep).to_tuple(),
        "trim_tokens_to_summarize": said.trim_tokens_to_summarize,
    }
    if said.summary_prompt is not None:
        options["summary_prompt"] = said.summary_prompt
    flush = []
    if memory is not None and not skip_memory_flush and getattr(getattr(app_config, "memory", None), "enabled", True):
        flush = [MemoryFlush(memory)]
    return DeerFlowSummarizationMiddleware(
        anchor,
        before_summarization=[*hooks, *flush],
        app_config=app_config,
        configured_model_name=said.model_name,
        run_model_name=run_model_name,
        anchor_model_name=anchor_name,
        extensions=extensions,
        create_model=create_model,
        **options,
    )


def _anchor(
    names: Sequence[str | None], create: Callable[[str | None, Any], Any], app_config: Any
) -> tuple[Any, str | None]:
    """The first model that can be built: one that cannot must not keep an agent from being made."""
    for name in dict.fromkeys([*(name for name in names if name is not None), None]):
        try:
            model = create(name, app_config)
        except Exception:
            logger.warning("The summarization model %s cannot be built.", name or "(default)", exc_info=True)
        else:
            if model is not None:
                return model, name
    return None, None


def _trigger(said: ContextSize | list[ContextSize] | None) -> Any:
    if said is None:
        return None
    return [size.to_tuple() for size in said] if isinstance(said, list) else said.to_tuple()
