"""LangGraph's checkpoint stores, opened to be read and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from conspectus.checkpoints.state import State, state_of
from conspectus.errors import ConspectusError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

__all__ = ["Source", "SourceError", "opened"]


class SourceError(ConspectusError):
    """A store that cannot be read."""


class Source(Protocol):
    """A store of checkpoints."""

    name: str

    def threads(self) -> list[str]:
        """All threads, by name."""

    def checkpoints(self, thread: str) -> list[str]:
        """The thread's checkpoints, oldest first. Those of subgraphs are not among them."""

    def subgraphs(self, thread: str) -> int:
        """How many checkpoints are of subgraphs."""

    def state(self, thread: str, checkpoint: str, channel: str) -> State:
        """One of them, deserialised. Raises whatever comes."""


class _Saved:
    """What both databases do alike. The saver deserialises; the list of checkpoints is ours, so that one that is broken
    stops no other."""

    #: How a statement says "the next argument".
    mark: str

    def __init__(self, name: str, saver: BaseCheckpointSaver[Any]) -> None:
        self.name = name
        self._saver = saver

    def _rows(self, sql: str, arguments: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def threads(self) -> list[str]:
        rows = self._rows("SELECT DISTINCT thread_id FROM checkpoints WHERE checkpoint_ns = '' ORDER BY thread_id")
        return [str(row[0]) for row in rows]

    def checkpoints(self, thread: str) -> list[str]:
        # Their ids begin with the time.
        sql = f"SELECT checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' AND thread_id = {self.mark}"
        return sorted(str(row[0]) for row in self._rows(sql, [thread]))

    def subgraphs(self, thread: str) -> int:
        sql = f"SELECT count(*) FROM checkpoints WHERE checkpoint_ns <> '' AND thread_id = {self.mark}"
        return int(self._rows(sql, [thread])[0][0])

    def state(self, thread: str, checkpoint: str, channel: str) -> State:
        names = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": checkpoint}
        config: RunnableConfig = {"configurable": names}
        found = self._saver.get_tuple(config)
        if found is None:
            raise ValueError("it is not there any more")
        values = dict(found.checkpoint.get("channel_values") or {})
        if channel not in values and channel in (found.checkpoint.get("channel_versions") or {}):
            values[channel] = self._replayed(config, channel)
        else:
            values[channel] = getattr(values.get(channel), "value", values.get(channel))
        parent = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id")
        return state_of(found.checkpoint, values, dict(found.metadata or {}), checkpoint, parent, channel)

    def _replayed(self, config: RunnableConfig, channel: str) -> Any:
        """A channel of which only changes are stored."""
        from langgraph.graph.message import add_messages
        from langgraph.types import Overwrite

        replay = getattr(self._saver, "get_delta_channel_history", None)
        if replay is None:
            return []
        history = replay(config=config, channels=[channel])[channel]
        seed = history.get("seed")
        value = getattr(seed, "value", seed) or []
        for _, _, written in history["writes"]:
            value = written.value if isinstance(written, Overwrite) else add_messages(value, written)
        return value


class _Sqlite(_Saved):
    mark = "?"

    def __init__(self, name: str, connection: sqlite3.Connection, serde: Any) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        saver = SqliteSaver(connection, serde=serde)
        # It would make tables; this store is only read.
        saver.is_setup = True
        columns = [row[1] for row in connection.execute("PRAGMA table_info(writes)")]
        saver._has_task_path = "task_path" in columns
        super().__init__(name, saver)
        self._connection = connection

    def _rows(self, sql: str, arguments: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, arguments).fetchall()


class _Postgres(_Saved):
    mark = "%s"

    def __init__(self, name: str, connection: Any, serde: Any) -> None:
        from langgraph.checkpoint.postgres import PostgresSaver

        super().__init__(name, PostgresSaver(connection, serde=serde))
        self._connection = connection

    def _rows(self, sql: str, arguments: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, arguments)
            return [tuple(row.values()) for row in cursor.fetchall()]


def _serializer(trust: bool) -> Any:
    """LangGraph's own. Unless its owner is trusted, no class is loaded but those that LangGraph calls safe."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    try:
        return JsonPlusSerializer(allowed_msgpack_modules=True if trust else None)
    except TypeError as error:
        raise SourceError("langgraph-checkpoint is too old to be told which classes are safe: update it") from error


@contextmanager
def opened(store: str | Path, *, trust: bool = False) -> Iterator[Source]:
    """A store by its path (SQLite) or its ``postgresql://`` address."""
    name = str(store)
    if name.startswith(("postgres://", "postgresql://")):
        with _opened_postgres(name, trust) as source:
            yield source
        return
    path = Path(name.removeprefix("sqlite:"))
    if not path.is_file():
        raise SourceError(f"there is no file {path}; a store is an SQLite file or postgresql://…")
    try:
        import langgraph.checkpoint.sqlite  # noqa: F401
    except ImportError as error:
        raise SourceError("SQLite stores need the package langgraph-checkpoint-sqlite") from error
    address = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        source = _Sqlite(path.name, connection, _serializer(trust))
        source.threads()
        yield source
    except sqlite3.DatabaseError as error:
        raise SourceError(f"{path}: {error}") from error
    finally:
        connection.close()


@contextmanager
def _opened_postgres(address: str, trust: bool) -> Iterator[Source]:
    try:
        import langgraph.checkpoint.postgres  # noqa: F401
        import psycopg
        from psycopg.rows import dict_row
    except ImportError as error:
        raise SourceError("PostgreSQL stores need the packages langgraph-checkpoint-postgres and psycopg") from error
    read_only = "-c default_transaction_read_only=on"
    try:
        with psycopg.connect(address, autocommit=True, row_factory=dict_row, options=read_only) as connection:
            source = _Postgres("postgresql", connection, _serializer(trust))
            source.threads()
            yield source
    except psycopg.Error as error:
        # An address may hold a password, so it is not told.
        raise SourceError(f"PostgreSQL: {str(error).splitlines()[0]}") from error
