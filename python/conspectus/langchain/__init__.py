"""For LangChain's agents: a drop-in for its summarization, and a compaction that removes nothing from the state."""

from conspectus.langchain.compaction import CompactionMiddleware, CompactionState
from conspectus.langchain.summarization import SummarizationMiddleware

__all__ = ["CompactionMiddleware", "CompactionState", "SummarizationMiddleware"]
