"""Which models are asked for a summary, and in which order: the configured one, then the run's own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from langchain_core.language_models import BaseChatModel

from conspectus.errors import ConspectusError

__all__ = ["UNSET", "Candidates", "SummaryGenerationError", "tagged"]

logger = logging.getLogger(__name__)

#: Nobody named the model that the middleware was made with.
UNSET: Final[Any] = object()
_TAGS: Final = ("middleware:summarize", "nostream")


class SummaryGenerationError(ConspectusError, RuntimeError):
    """No model gave a summary."""


def tagged(model: Any) -> Any:
    """A copy with the tags that keep its tokens out of streams; the model itself is shared by runs and stays as it is."""
    if not isinstance(model, BaseChatModel):
        return model
    before = list(model.tags or [])
    return model.model_copy(update={"tags": [*before, *(tag for tag in _TAGS if tag not in before)]})


def _built(name: str | None, app_config: Any) -> Any:
    """A model by name: deer-flow's factory where it is installed, else LangChain's."""
    try:
        from deerflow.models import create_chat_model  # type: ignore[import-not-found]
    except ImportError:
        from langchain.chat_models import init_chat_model

        return init_chat_model(name)
    return create_chat_model(name=name, thinking_enabled=False, app_config=app_config, attach_tracing=False)


class Candidates:
    """The models of one middleware. Each is built once, when it is first needed; one that cannot be built stays out."""

    def __init__(
        self,
        anchor: Any,
        *,
        anchor_name: Any = UNSET,
        configured: str | None = None,
        run: str | None = None,
        app_config: Any = None,
        create: Callable[[str | None, Any], Any] | None = None,
    ) -> None:
        self._app_config = app_config
        self._create = create or _built
        owner = run or default_name(app_config)
        names = [configured, owner] if configured is not None else [owner]
        self.names: list[str | None] = list(dict.fromkeys(name for name in names if name is not None)) or [None]
        self._built: dict[str | None, Any] = {self.names[0] if anchor_name is UNSET else anchor_name: tagged(anchor)}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[str | None, Any]]:
        for name in self.names:
            model = self._model(name)
            if model is not None:
                yield name, model

    def _model(self, name: str | None) -> Any:
        with self._lock:
            if name not in self._built:
                try:
                    self._built[name] = tagged(self._create(name, self._app_config))
                except Exception:
                    logger.warning("The summarization model %s cannot be built.", name, exc_info=True)
                    self._built[name] = None
            return self._built[name]


def default_name(app_config: Any) -> str | None:
    """The first model of the configuration."""
    models = getattr(app_config, "models", None) or []
    name = getattr(models[0], "name", None) if models else None
    return name if isinstance(name, str) else None
