"""A scripted chat model of LangChain's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    """Answers by a function of what it was given, and remembers that."""

    answer: Callable[[list[BaseMessage], int], Any] = lambda messages, n: f"summary {n}"
    seen: list[Any] = []
    configs: list[Any] = []
    kind: str = "scripted"
    provider: str | None = None

    @property
    def _llm_type(self) -> str:
        return self.kind

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        return {"ls_provider": self.provider} if self.provider else {}

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.seen.append(messages)
        if run_manager is not None:
            self.configs.append((run_manager.tags, run_manager.metadata))
        said = self.answer(messages, len(self.seen))
        if isinstance(said, BaseException):
            raise said
        message = said if isinstance(said, BaseMessage) else AIMessage(said)
        return ChatResult(generations=[ChatGeneration(message=message)])

    @property
    def prompts(self) -> list[str]:
        """What it was given, as text."""
        return ["\n".join(str(message.content) for message in messages) for messages in self.seen]


def scripted(answer: Any = None, **fields: Any) -> Scripted:
    if answer is not None and not callable(answer):
        text = answer
        answer = lambda messages, n: text  # noqa: E731
    if answer is not None:
        fields["answer"] = answer
    return Scripted(seen=[], configs=[], **fields)
