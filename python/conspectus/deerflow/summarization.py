"""deer-flow's summarization: the summary lives in the channel ``summary_text``, and no message stands for it.

When it fires, where it cuts and what each call reads is decided by the engine, as in
:class:`conspectus.langchain.SummarizationMiddleware`, of which this is one. Beside deer-flow's class at the same settings,
all that is removed is read, the newest part of it too, and the whole of the earlier summary.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langchain_core.messages.utils import get_buffer_string
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from conspectus._driver import aperform, perform
from conspectus._plain import sound
from conspectus.deerflow.models import UNSET, Candidates, SummaryGenerationError
from conspectus.deerflow.state import DurableContextState
from conspectus.langchain.summarization import Given, SummarizationMiddleware, part_of
from conspectus.langchain.views import view

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import Runtime

__all__ = ["ContextCompactionResult", "DeerFlowSummarizationMiddleware", "SummarizationEvent"]

logger = logging.getLogger(__name__)

_CONFIG: Final[RunnableConfig] = {"metadata": {"lc_source": "summarization"}}
_NOTHING: Final = "No previous conversation history."
_CARRY_ON: Final = (
    "The summary so far stands in existing_summary. Carry on what still holds of it, with what new_messages add or change."
)


@dataclass(frozen=True)
class SummarizationEvent:
    """What hooks are told before messages are removed."""

    messages_to_summarize: tuple[AnyMessage, ...]
    preserved_messages: tuple[AnyMessage, ...]
    thread_id: str | None
    agent_name: str | None
    runtime: Any


@dataclass(frozen=True)
class ContextCompactionResult:
    """What a compaction came to. ``total_tokens``: the size before it, the earlier summary included."""

    summary_text: str
    messages_to_summarize: tuple[AnyMessage, ...]
    preserved_messages: tuple[AnyMessage, ...]
    total_tokens: int


class DeerFlowSummarizationMiddleware(SummarizationMiddleware):
    """LangChain's surface, and what deer-flow adds to it.

    ``before_summarization``: hooks, called in order with a :class:`SummarizationEvent`. ``configured_model_name``: the model
    of the configuration, asked first. ``run_model_name``: the run's own, asked next, or alone where none is configured; the
    first model of ``app_config`` stands for it where it is not known. ``anchor_model_name``: the name of ``model``.
    ``create_model``: builds the others from a name and ``app_config``. ``extensions`` is taken and not told anything.
    """

    state_schema = DurableContextState

    def __init__(
        self,
        *args: Any,
        before_summarization: Sequence[Callable[[SummarizationEvent], None]] | None = None,
        app_config: Any = None,
        configured_model_name: str | None = None,
        run_model_name: str | None = None,
        anchor_model_name: str | None = UNSET,
        extensions: Any = None,
        create_model: Callable[[str | None, Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._hooks = list(before_summarization or ())
        self._extensions = extensions
        self._candidates = Candidates(
            self.model,
            anchor_name=anchor_model_name,
            configured=configured_model_name,
            run=run_model_name,
            app_config=app_config,
            create=create_model,
        )

    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Summarises older messages where a trigger is reached."""
        return _update(self.compact_state(state, runtime))

    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Summarises older messages where a trigger is reached."""
        return _update(await self.acompact_state(state, runtime))

    def compact_state(
        self, state: Any, runtime: Any, *, force: bool = False, raise_on_failure: bool = False
    ) -> ContextCompactionResult | None:
        """What the state would be compacted to; ``None``: it stays. ``force``: no trigger is asked.

        Raises :class:`SummaryGenerationError` where no model gave a summary and ``raise_on_failure`` is set.
        """
        return perform(self._compacting(state, runtime, force, raise_on_failure), self._create_summary)

    async def acompact_state(
        self, state: Any, runtime: Any, *, force: bool = False, raise_on_failure: bool = False
    ) -> ContextCompactionResult | None:
        """The same, with async calls."""
        return await aperform(self._compacting(state, runtime, force, raise_on_failure), self._acreate_summary)

    def _compacting(
        self, state: Any, runtime: Any, force: bool, raise_on_failure: bool
    ) -> Generator[list[AnyMessage], str, ContextCompactionResult | None]:
        messages: list[AnyMessage] = list(state.get("messages") or ())
        if not messages:
            return None
        self._ensure_message_ids(messages)
        earlier = state.get("summary_text")
        beside = HumanMessage(earlier, name="summary") if isinstance(earlier, str) and earlier else None
        more: dict[str, Any] = {"force": force}
        if beside is not None:
            weight = view(beside).tokens(self._counter() == "approximate_anthropic")
            more["beside"] = (sound(earlier), weight)
        machine = self._machine(messages, **more)
        try:
            end = yield from self._steps(machine, messages, beside)
        except SummaryGenerationError:
            if raise_on_failure:
                raise
            logger.warning("No model gave a summary; the conversation stays as it is.")
            return None
        if end[0] != "replace":
            return None
        _, leading, summary, kept = end
        staying = {*leading, *kept}
        gone = tuple(message for at, message in enumerate(messages) if at not in staying)
        preserved = tuple(messages[at] for at in sorted(staying))
        self._fire(gone, preserved, runtime)
        return ContextCompactionResult(summary, gone, preserved, int(machine.total))

    def _fire(self, gone: tuple[AnyMessage, ...], preserved: tuple[AnyMessage, ...], runtime: Any) -> None:
        if not self._hooks:
            return
        thread, agent = (_said(runtime, name) for name in ("thread_id", "agent_name"))
        event = SummarizationEvent(gone, preserved, thread, agent, runtime)
        for hook in self._hooks:
            try:
                hook(event)
            except Exception:
                name = getattr(hook, "__name__", type(hook).__name__)
                logger.exception("before_summarization hook %s failed", name)

    # What the summariser is given

    def _given(self, ask: tuple[Any, ...], messages: list[AnyMessage]) -> list[AnyMessage]:
        _, positions, part, earlier, is_divisible = ask
        given: list[AnyMessage] = [messages[at] for at in positions]
        if part is not None:
            given = [part_of(given[0], *part)]
        return Given(given, is_divisible=is_divisible, earlier=earlier)

    def _asked(self, given: Sequence[AnyMessage]) -> str:
        new = escape(get_buffer_string(given), quote=False)
        body = f"<new_messages>\n{new}\n</new_messages>"
        earlier = getattr(given, "earlier", None)
        if earlier:
            before = escape(earlier.strip(), quote=False)
            body = f"{_CARRY_ON}\n\n<existing_summary>\n{before}\n</existing_summary>\n\n{body}"
        return self.summary_prompt.format(messages=body).rstrip()

    def _create_summary(self, messages_to_summarize: list[AnyMessage]) -> str:
        return perform(self._asking(messages_to_summarize), lambda call: call[0].invoke(call[1], config=_CONFIG))

    async def _acreate_summary(self, messages_to_summarize: list[AnyMessage]) -> str:
        return await aperform(self._asking(messages_to_summarize), lambda call: call[0].ainvoke(call[1], config=_CONFIG))

    def _asking(self, given: list[AnyMessage]) -> Generator[tuple[Any, str], Any, str]:
        """One model after the other, each once, until one writes something."""
        if not given and not getattr(given, "earlier", None):
            return _NOTHING
        asked = self._asked(given)
        overflow: ContextOverflowError | None = None
        for name, model in self._candidates:
            try:
                text = (yield model, asked).text
                if isinstance(text, str) and text.strip():
                    return text.strip()
                logger.warning("The summarization model %s wrote nothing.", name)
            except ContextOverflowError as error:
                overflow = error
            except Exception:
                logger.warning("The summarization model %s failed.", name, exc_info=True)
        if overflow is not None and getattr(given, "is_divisible", False):
            raise overflow
        raise SummaryGenerationError("summary generation failed") from overflow


def _update(made: ContextCompactionResult | None) -> dict[str, Any] | None:
    if made is None:
        return None
    messages = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *made.preserved_messages]
    return {"messages": messages, "summary_text": made.summary_text}


def _said(runtime: Any, name: str) -> str | None:
    """What the run's context says, else its configuration."""
    context = getattr(runtime, "context", None)
    said = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
    if said is None:
        try:
            said = (get_config().get("configurable") or {}).get(name)
        except RuntimeError:
            return None
    return None if said is None else str(said)
