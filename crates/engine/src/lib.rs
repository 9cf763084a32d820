//! Conversation compaction for LLM agents: keeps a long conversation inside the context window without losing the thread.
