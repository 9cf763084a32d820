"""A drop-in for ``langchain.agents.middleware.SummarizationMiddleware`` that loses nothing.

Constructor, attributes, errors, prompts and result are LangChain's own: this class is one of theirs. When it fires,
where it cuts, what each call of the summariser reads and whether an answer counts is decided by the engine
(``conspectus_core::listed``); the loops here only count, call and put the list together.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from langchain.agents.middleware.summarization import SummarizationMiddleware as _LangChains
from langchain.agents.middleware.types import AgentState
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately, get_buffer_string
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from conspectus._driver import aperform, perform
from conspectus._native import ListMachine, is_quiet
from conspectus._plain import sound
from conspectus.langchain.views import views

if TYPE_CHECKING:
    from langchain.agents.middleware.summarization import ContextSize, Summarizer, TokenCounter, TriggerClause
    from langchain.chat_models import BaseChatModel
    from langgraph.runtime import Runtime

__all__ = ["SummarizationMiddleware"]

logger = logging.getLogger(__name__)

_Self = TypeVar("_Self", bound="SummarizationMiddleware")

#: LangChain's default for ``trim_tokens_to_summarize``: nobody asked for it, so it is no cap of a call here.
_UNSAID_TRIM: Final = 4000
_CLASSES: Final = (HumanMessage, AIMessage, ToolMessage, SystemMessage)
#: What a summariser is given where nobody knows its window, in tokens: three fifths of 128,000.
_UNKNOWN_CALL: Final = 76_800


class Given(list[AnyMessage]):
    """What a call of the summariser is given. ``is_divisible``: too large, it can be made in two. ``earlier``: the summary
    so far, where that is no message among them."""

    def __init__(
        self, messages: Iterable[AnyMessage], *, is_divisible: bool = False, earlier: str | None = None
    ) -> None:
        super().__init__(messages)
        self.is_divisible = is_divisible
        self.earlier = earlier


class SummarizationMiddleware(_LangChains[Any, Any]):
    """LangChain's summarization middleware, without its losses.

    Everything that :class:`langchain.agents.middleware.SummarizationMiddleware` takes, does and shows holds here, but:

    - a tool call stays with its results, whatever order they came in;
    - the current request of the user stays, and so do system messages at the start;
    - all that is removed is read by the summariser, the earlier summary too: what does not fit into one call goes into
      further ones, each of which is given the summary so far;
    - a blank answer is asked for once more, and replaces nothing;
    - nothing is summarised that would gain less than a tenth.

    ``strict_parity=True`` restores LangChain's behaviour to the letter.
    """

    strict_parity: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            model: str | BaseChatModel,
            *,
            trigger: ContextSize | TriggerClause | list[ContextSize | TriggerClause] | None = None,
            keep: ContextSize = ...,
            token_counter: TokenCounter = ...,
            summary_prompt: str = ...,
            trim_tokens_to_summarize: int | None = ...,
            summarizer: Summarizer | None = None,
            strict_parity: bool = False,
            **deprecated_kwargs: Any,
        ) -> None: ...

    else:

        # Not in `__init__`: theirs passes over keywords that it does not know, and warns in the caller's name.
        def __new__(cls: type[_Self], *_: Any, strict_parity: bool = False, **__: Any) -> _Self:
            made = super().__new__(cls)
            made.strict_parity = bool(strict_parity)
            return made

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Summarises older messages where a trigger is reached."""
        return perform(self._replacing(state["messages"]), self._create_summary)

    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Summarises older messages where a trigger is reached."""
        return await aperform(self._replacing(state["messages"]), self._acreate_summary)

    def _replacing(self, messages: list[AnyMessage]) -> Generator[list[AnyMessage], str, dict[str, Any] | None]:
        if self._is_quiet(messages):
            return None
        self._ensure_message_ids(messages)
        end = yield from self._steps(self._machine(messages), messages)
        return self._result(end, messages)

    def _is_quiet(self, messages: list[AnyMessage]) -> bool:
        """Whether the list is surely below every trigger: one look at it, without anything made of it."""
        counter = self._counter()
        if counter == "host" or type(messages) is not list:
            return False
        is_anthropic = counter == "approximate_anthropic"
        found = is_quiet(messages, _CLASSES, self._clauses(), self._get_profile_limits(), is_anthropic)
        if found is None:
            return False
        quiet, has_nameless = found
        if has_nameless:
            self._ensure_message_ids(messages)
        return quiet

    def _clauses(self) -> list[tuple[float | None, float | None, float | None]]:
        clauses: list[Mapping[str, Any]] = list(self._trigger_clauses)
        return [(clause.get("tokens"), clause.get("messages"), clause.get("fraction")) for clause in clauses]

    def _steps(
        self, machine: ListMachine, messages: list[AnyMessage], beside: AnyMessage | None = None
    ) -> Generator[list[AnyMessage], str, tuple[Any, ...]]:
        """Runs the machine: yields what a call of the summariser is given, is sent its text, returns how it ended."""
        while True:
            match machine.poll():
                case ("count", positions, is_total):
                    listed = self._listed(positions, messages, beside)
                    machine.counted((self.token_counter if is_total else self._partial_token_counter)(listed))
                case ("provider",):
                    machine.provided(self.model._get_ls_params().get("ls_provider"))
                case ("summarise", *_) as ask:
                    given = self._given(ask, messages)
                    try:
                        machine.summarised(sound((yield given)))
                    except ContextOverflowError:
                        if not isinstance(given, Given) or not given.is_divisible:
                            raise
                        machine.too_large()
                case end:
                    return end

    def _listed(
        self, positions: Sequence[int], messages: list[AnyMessage], beside: AnyMessage | None
    ) -> list[AnyMessage]:
        """What is to be counted; the very same list where that is all of it."""
        if len(positions) == len(messages):
            return messages
        return [beside if at == len(messages) and beside is not None else messages[at] for at in positions]

    def _machine(self, messages: Sequence[AnyMessage], **more: Any) -> ListMachine:
        kind, value = self.keep
        return ListMachine(
            views(messages),
            trigger=self._clauses(),
            keep=(kind, value),
            window=self._get_profile_limits(),
            call_cap=None if self.strict_parity else self._call_cap(),
            strict=self.strict_parity,
            counter=self._counter(),
            **more,
        )

    def _counter(self) -> str:
        """LangChain's own formula is counted by the engine, which knows it; any other is asked."""
        counter = self.token_counter
        if not isinstance(counter, partial) or counter.func is not count_tokens_approximately or counter.args:
            return "host"
        known = {"use_usage_metadata_scaling": True}
        if counter.keywords == known:
            return "approximate"
        if counter.keywords == {**known, "chars_per_token": 3.3}:
            return "approximate_anthropic"
        return "host"

    def _call_cap(self) -> int | None:
        trim = self.trim_tokens_to_summarize
        if trim is None or trim > 0 and trim != _UNSAID_TRIM:
            return trim
        window = None if self.summarizer else self._get_profile_limits(self._summary_chat_model)
        return _UNKNOWN_CALL if window is None else max(window * 3 // 5, _UNSAID_TRIM)

    def _given(self, ask: tuple[Any, ...], messages: list[AnyMessage]) -> list[AnyMessage]:
        """What one call of the summariser reads."""
        _, positions, part, earlier, is_divisible = ask
        given: list[AnyMessage] = [messages[at] for at in positions]
        if part is not None:
            given = [part_of(given[0], *part)]
        if earlier is not None:
            given = [*self._build_new_messages(earlier), *given]
        return Given(given, is_divisible=True) if is_divisible else given

    def _result(self, ask: tuple[Any, ...], messages: list[AnyMessage]) -> dict[str, Any] | None:
        if ask[0] != "replace":
            if ask[1] == "blank":
                logger.warning("The summary was blank twice; the conversation stays as it is.")
            return None
        _, leading, summary, kept = ask
        return {
            "messages": [
                RemoveMessage(id=REMOVE_ALL_MESSAGES),
                *(messages[at] for at in leading),
                *self._build_new_messages(summary),
                *(messages[at] for at in kept),
            ]
        }

    def _trim_messages_for_summary(self, messages: list[AnyMessage]) -> list[AnyMessage]:
        return super()._trim_messages_for_summary(messages) if self.strict_parity else messages

    def _overflow_retry_prompt(self, messages: list[AnyMessage]) -> str | None:
        # Two calls read what one cannot; the middle is left out only where nothing can be divided.
        is_divisible = isinstance(messages, Given) and messages.is_divisible
        return None if is_divisible else super()._overflow_retry_prompt(messages)


def part_of(message: AnyMessage, number: int, of: int) -> HumanMessage:
    """A part of a message that no call can read whole."""
    text = get_buffer_string([message])
    begin, end = len(text) * number // of, len(text) * (number + 1) // of
    return HumanMessage(content=f"[part {number + 1} of {of} of one message]\n{text[begin:end]}")
