"""Conversation compaction for LLM agents.

>>> from conspectus import Policy, compact
>>> long = "It rained all day, and the garden was glad of it. " * 200
>>> messages = [
...     {"role": "user", "content": "Tell me of the weather. " + long},
...     {"role": "assistant", "content": long},
...     {"role": "user", "content": "And tomorrow?"},
... ]
>>> compact(messages).report.outcome
'compacted'
"""

from conspectus._native import __version__
from conspectus.engine import (
    Compacted,
    Conversation,
    Engine,
    Inspection,
    ModelCall,
    Policy,
    Reply,
    Report,
    compact,
    count,
    inspect,
    prune,
)
from conspectus.errors import CompactionError, ConspectusError, PolicyError, ReadError, StateError

__all__ = [
    "Compacted",
    "CompactionError",
    "ConspectusError",
    "Conversation",
    "Engine",
    "Inspection",
    "ModelCall",
    "Policy",
    "PolicyError",
    "ReadError",
    "Reply",
    "Report",
    "StateError",
    "__version__",
    "compact",
    "count",
    "inspect",
    "prune",
]
