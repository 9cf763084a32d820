"""deer-flow's summarization and durable context on this engine, in the shape of its own files.

``SummarizationConfig`` is its section ``summarization:``, ``create_summarization_middleware`` its factory,
``DeerFlowSummarizationMiddleware`` and ``DurableContextMiddleware`` its two middlewares, ``DurableContextState`` the channels
that they need. What deer-flow has of its own (its model factory, its memory) is handed in, or found where it is installed.
"""

from conspectus.deerflow.config import ContextSize, SummarizationConfig
from conspectus.deerflow.durable import DurableContextMiddleware, stamp_skill_read
from conspectus.deerflow.factory import MemoryFlush, create_summarization_middleware
from conspectus.deerflow.models import SummaryGenerationError
from conspectus.deerflow.state import DurableContextState, merge_delegations, merge_skill_context
from conspectus.deerflow.summarization import (
    ContextCompactionResult,
    DeerFlowSummarizationMiddleware,
    SummarizationEvent,
)

__all__ = [
    "ContextCompactionResult",
    "ContextSize",
    "DeerFlowSummarizationMiddleware",
    "DurableContextMiddleware",
    "DurableContextState",
    "MemoryFlush",
    "SummarizationConfig",
    "SummarizationEvent",
    "SummaryGenerationError",
    "create_summarization_middleware",
    "merge_delegations",
    "merge_skill_context",
    "stamp_skill_read",
]
