"""The embedded history: a file of SQLite in the project's cache."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scoregate.errors import HistoryError
from scoregate.features.history.tables import (
    BASES,
    BYTES,
    FLAG,
    INT,
    NUMBER,
    RUN_TABLES,
    RUNS,
    SCHEMA,
    SHARED_TABLES,
    TABLES,
    TEXT,
    Row,
    RunRows,
    Table,
)

_TYPES = {INT: "INTEGER", NUMBER: "REAL", TEXT: "TEXT", FLAG: "INTEGER", BYTES: "BLOB"}
_WAIT_S = 30
_MOST_PARAMETERS = 500  # older versions of SQLite allow 999
_DAMAGED = ("file is not a database", "database disk image is malformed")
_ADVICE = "Delete the file; `scoregate history import` fills a new one from run folders."


class EmbeddedHistory:
    """A history in one file. A file that is damaged or of another version is replaced by an empty one.

    Any thread may use it, one at a time.

    Args:
        path: the file; its folder is created with a .gitignore.

    Raises:
        HistoryError: it can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            ignore = path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
            try:
                self._connection = _open_file(path)
            except sqlite3.DatabaseError as error:
                if str(error) not in _DAMAGED:
                    raise
                delete_file(path)
                self._connection = _open_file(path)

    @property
    def location(self) -> str:
        """The path of the file."""
        return str(self._path)

    def add_runs(self, runs: Sequence[RunRows]) -> int:
        """Add runs, each in a transaction."""
        with _explained(self._path):
            return sum(self._add_run(run) for run in runs)

    def _add_run(self, run: RunRows) -> bool:
        with _transaction(self._connection):
            is_new = self._connection.execute(_insert(RUNS), run.run).rowcount == 1
            if is_new:
                for table in (*SHARED_TABLES, *RUN_TABLES):
                    self._connection.executemany(_insert(table), run.rows[table.name])
            if (base := run.base_row()) is not None:
                self._connection.execute(_insert(BASES), base)
        return is_new

    def find_known(self, run_ids: Collection[int]) -> set[int]:
        """Those of the ids whose runs are known."""
        known: set[int] = set()
        for part in _split(sorted(run_ids)):
            places = ", ".join("?" * len(part))
            with _explained(self._path):
                rows = self._connection.execute(f"SELECT id FROM runs WHERE id IN ({places})", part)
                known |= {each[0] for each in rows}
        return known

    def query(self, sql: str, parameters: Mapping[str, Any], *, scans: bool = False) -> list[Row]:  # noqa: ARG002
        """The rows of a query."""
        with _explained(self._path):
            return self._connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def delete_file(path: Path) -> None:
    """Delete the file of a history, with the files that SQLite keeps next to it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


def _open_file(path: Path) -> sqlite3.Connection:
    # Without `isolation_level=None`, Python would begin transactions by itself.
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")  # readers don't wait for a writer
        connection.execute("PRAGMA synchronous = NORMAL")  # what a power cut loses is imported again
        connection.execute("PRAGMA cache_size = -65536")  # 64 MB
        with _transaction(connection):  # another process may make the tables meanwhile
            if connection.execute("PRAGMA user_version").fetchone() != (SCHEMA,):
                _create_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _create_tables(connection: sqlite3.Connection) -> None:
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table.name}")
        connection.execute(_definition(table))
        for number, columns in enumerate(table.indexes):
            connection.execute(f"CREATE INDEX {table.name}_{number} ON {table.name} ({', '.join(columns)})")
        if table.failures:  # flaky cases are searched among failures, which are few
            failed = ", ".join(table.failures)
            connection.execute(f"CREATE INDEX {table.name}_failures ON {table.name} ({failed}) WHERE passed = 0")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _definition(table: Table) -> str:
    columns = [f"{name} {_TYPES[kind]}" for name, kind in table.columns.items()]
    key = [f"PRIMARY KEY ({', '.join(table.key)})"] if table.key else []
    return f"CREATE TABLE {table.name} ({', '.join((*columns, *key))})"


def _insert(table: Table) -> str:
    conflict = " OR IGNORE" if table.key else ""
    return f"INSERT{conflict} INTO {table.name} VALUES ({', '.join('?' * len(table.columns))})"


def _split(values: Sequence[int]) -> Iterable[Sequence[int]]:
    return (values[index : index + _MOST_PARAMETERS] for index in range(0, len(values), _MOST_PARAMETERS))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    # IMMEDIATE: a transaction that begins with reading fails at once if another process writes meanwhile.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise HistoryError(f"the history {path} can't be used: {error}", advice=_ADVICE) from None
    except OSError as error:
        raise HistoryError(f"the history {path} can't be used: {error.strerror}") from None
