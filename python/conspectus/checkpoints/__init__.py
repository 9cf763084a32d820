"""Threads out of LangGraph's checkpoint stores, deer-flow's too: see :mod:`conspectus.import_checkpoints`."""
