"""The shared history: a PostgreSQL that many jobs and repositories write to and read from.

Runs are copied with COPY, each in a transaction that starts with its row in `runs`. So a job that is killed leaves no
part of a run, and two jobs that write the same run leave one of it. The rows of names come first, in a transaction of
their own, sorted by id so that writers never wait for each other in a circle. Names without a run do no harm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from scoregate.errors import HistoryError, UsageError
from scoregate.features.history.declare import VARIABLE
from scoregate.features.history.tables import (
    BASES,
    BYTES,
    FLAG,
    INT,
    NUMBER,
    RUN_TABLES,
    RUNS,
    SHARED_TABLES,
    Row,
    RunRows,
    Table,
)
from scoregate.features.history.tables import TEXT as TEXT_COLUMN
from scoregate.kernel.types.backoff import backoff_s

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Connection, Engine

_T = TypeVar("_T")
_SCHEMES = ("postgresql://", "postgres://")
_CONNECT_S = 10
_MOST_TRIES = 3
# A statement that takes longer fails; so does a transaction whose process hangs.
_LIMITS = ("statement_timeout = '120s'", "lock_timeout = '60s'", "idle_in_transaction_session_timeout = '60s'")
# Before its statistics are made, PostgreSQL looks up a million rows one by one: minutes instead of a second (measured).
_FOR_SCANS = ("enable_nestloop = off", "work_mem = '64MB'")
# Lost connections, a server that stops or starts, deadlocks, a lock that came too late. Writing is idempotent, so it
# is tried again.
_TRANSIENT = ("08", "40", "55P03", "57P")
_ARRAYS = {INT: "bigint[]", NUMBER: "float8[]", TEXT_COLUMN: "text[]", FLAG: "smallint[]", BYTES: "bytea[]"}
# Rows of these tables hold no text from outside, so they need no escapes.
_PLAIN = ("trials", "scores")
# PostgreSQL keeps roles apart: whoever may only read must not see an error about tables to create.
_ADVICE = f"Check {VARIABLE}, the server, and the rights of its user."


class PostgresHistory:
    """A history in a PostgreSQL.

    Args:
        address: `postgresql://user:password@host/database`, with parameters of libpq such as `?sslmode=verify-full`.
        migrates: whether its tables are made or updated.

    Raises:
        HistoryError: it can't be reached, or has other tables than this version needs.
        UsageError: the address is not valid, or the extra is not installed.
    """

    def __init__(self, address: str, *, migrates: bool = False) -> None:
        self._parameters = _parse_address(address)
        self._known: set[tuple[str, int]] = set()
        self._months: set[int] = set()
        self._engine = _make_engine(self._parameters)
        self._open: Connection | None = None
        with self._explained():
            if migrates:
                upgrade(self._connect())
            self._check_version(self._connect())

    @property
    def location(self) -> str:
        """The server and the database, without user and password."""
        host, port = self._parameters.get("host", "localhost"), self._parameters.get("port", 5432)
        return self._without_password(f"postgresql://{host}:{port}/{self._parameters.get('dbname', '')}")

    def add_runs(self, runs: Sequence[RunRows]) -> int:
        """Add runs, each in a transaction; what fails for the moment is tried again."""
        return self._repeat(lambda connection: self._add_runs(connection, runs))

    def find_known(self, run_ids: Collection[int]) -> set[int]:
        """Those of the ids whose runs are known."""
        rows = self.query("SELECT id FROM runs WHERE id = ANY(:ids)", {"ids": list(run_ids)})
        return {row[0] for row in rows}

    def query(self, sql: str, parameters: Mapping[str, Any], *, scans: bool = False) -> list[Row]:
        """The rows of a query."""
        from sqlalchemy import text

        def read(connection: Connection) -> list[Row]:
            with self._transaction(connection):
                if scans:
                    _cursor(connection).execute("; ".join(f"SET LOCAL {setting}" for setting in _FOR_SCANS))
                return [tuple(row) for row in connection.execute(text(sql), parameters)]

        return self._repeat(read)

    def close(self) -> None:
        """Close the connection."""
        self._disconnect()
        self._engine.dispose()

    def _add_runs(self, connection: Connection, runs: Sequence[RunRows]) -> int:
        self._add_months(connection, runs)
        for table in SHARED_TABLES:
            self._add_names(connection, table, runs)
        added = 0
        for run in runs:
            with self._transaction(connection):
                added += _copy_run(_cursor(connection), run)
        return added

    def _add_months(self, connection: Connection, runs: Sequence[RunRows]) -> None:
        for month in sorted({int(run.value("month")) for run in runs} - self._months):
            with self._transaction(connection):
                _cursor(connection).execute("SELECT scoregate_add_month(%s)", (month,))
            self._months.add(month)

    def _add_names(self, connection: Connection, table: Table, runs: Sequence[RunRows]) -> None:
        rows = {row[0]: row for run in runs for row in run.rows[table.name] if (table.name, row[0]) not in self._known}
        if not rows:
            return
        columns = list(zip(*(rows[row_id] for row_id in sorted(rows)), strict=True))
        arrays = ", ".join(f"%s::{_ARRAYS[kind]}" for kind in table.columns.values())
        sql = f"INSERT INTO {table.name} SELECT * FROM unnest({arrays}) ORDER BY 1 ON CONFLICT DO NOTHING"
        with self._transaction(connection):
            _cursor(connection).execute(sql, [list(column) for column in columns])
        self._known |= {(table.name, row_id) for row_id in rows}

    def _check_version(self, connection: Connection) -> None:
        needed = newest_revision()
        with self._transaction(connection):
            cursor = _cursor(connection)
            table = cursor.execute("SELECT to_regclass('alembic_version')").fetchone()
            row = cursor.execute("SELECT version_num FROM alembic_version").fetchone() if table and table[0] else None
        if row is None or row[0] < needed:
            state = "has no tables" if row is None else f"has tables of version {row[0]}, and {needed} is needed"
            advice = "Run `scoregate history upgrade` as a user who may create tables."
            raise HistoryError(f"the history {self.location} {state}", advice=advice)
        if row[0] > needed:
            raise HistoryError(
                f"the history {self.location} has tables of version {row[0]}; this scoregate knows {needed}",
                advice="Update scoregate.",
            )

    def _repeat(self, work: Callable[[Connection], _T]) -> _T:
        for number in range(1, _MOST_TRIES):
            try:
                return work(self._connect())
            except Exception as error:
                if not _is_transient(error):
                    with self._explained():
                        raise
                self._disconnect()
                time.sleep(backoff_s(number, first_s=0.2))
        with self._explained():
            return work(self._connect())

    def _connect(self) -> Connection:
        if self._open is None:
            self._open = self._engine.connect()
        return self._open

    def _disconnect(self) -> None:
        if self._open is not None:
            with suppress(Exception):
                self._open.close()
            self._open = None

    @contextmanager
    def _transaction(self, connection: Connection) -> Iterator[None]:
        with connection.begin():
            cursor = _cursor(connection)
            # Of this transaction only, so that poolers between us and the server don't leak them.
            cursor.execute("; ".join(f"SET LOCAL {limit}" for limit in _LIMITS))
            yield

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Replace errors of the database by one without statements, values and the password."""
        import psycopg
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except (psycopg.Error, SQLAlchemyError) as error:
            self._disconnect()
            text = str(_driver_error(error) or type(error).__name__).strip().partition("\n")[0]
            text = self._without_password(text)
            raise HistoryError(f"the history {self.location} can't be used: {text:.300}", advice=_ADVICE) from None

    def _without_password(self, text: str) -> str:
        """A text without the password, which a wrong address may have in any place."""
        password = str(self._parameters.get("password") or "")
        for form in filter(None, (password, quote(password, safe=""), quote(password))):
            text = text.replace(form, "***")
        return text


def _parse_address(address: str) -> dict[str, Any]:
    """The parameters of libpq in an address; no message repeats a part of it, as any may be the password."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        advice = "Run: pip install 'scoregate[history]'"
        raise UsageError(f"{VARIABLE} needs the packages of the extra history", advice=advice) from None
    form = "Its form is postgresql://user:password@host/database; write special characters of the password as %XX."
    if not address.startswith(_SCHEMES):
        raise UsageError(f"{VARIABLE} is not the address of a PostgreSQL", advice=form)
    try:
        return {"connect_timeout": _CONNECT_S, **conninfo_to_dict(address)}
    except ProgrammingError:
        raise UsageError(f"{VARIABLE} is not a valid address", advice=form) from None


def _make_engine(parameters: Mapping[str, Any]) -> Engine:
    """An engine that passes the parameters to libpq as they are: SQLAlchemy's own URLs know fewer."""
    try:
        import psycopg
        from sqlalchemy import NullPool, create_engine
    except ImportError:
        advice = "Run: pip install 'scoregate[history]'"
        raise UsageError(f"{VARIABLE} needs the packages of the extra history", advice=advice) from None
    settings = {"application_name": "scoregate", "keepalives_idle": 30, "tcp_user_timeout": 60_000, **parameters}

    def connect() -> psycopg.Connection[Any]:
        # Prepared statements outlive transactions, which poolers don't support.
        return psycopg.connect(**settings, prepare_threshold=None)

    return create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool, hide_parameters=True)


def _cursor(connection: Connection) -> psycopg.Cursor[Any]:
    cursor: psycopg.Cursor[Any] = connection.connection.cursor()  # type: ignore[assignment]
    return cursor


def _copy_run(cursor: psycopg.Cursor[Any], run: RunRows) -> int:
    """Write a run within a transaction; 0 if it is known."""
    cursor.execute(_insert(RUNS), run.run)
    added = cursor.rowcount
    if added:
        for table in RUN_TABLES:
            _copy_rows(cursor, table, run.rows[table.name])
    if (base := run.base_row()) is not None:
        cursor.execute(_insert(BASES), base)
        cursor.execute("SELECT scoregate_trim_bases(%s, %s)", (run.value("project"), run.value("key")))
    return added


def _insert(table: Table) -> str:
    return f"INSERT INTO {table.name} VALUES ({', '.join(['%s'] * len(table.columns))}) ON CONFLICT DO NOTHING"


def _copy_rows(cursor: psycopg.Cursor[Any], table: Table, rows: Sequence[Row]) -> None:
    names = ", ".join(table.columns)
    if table.name in _PLAIN:
        # Python formats a million rows of numbers in 0.5 s, psycopg in 5 s (measured).
        line = "\t".join(["%s"] * len(table.columns)) + "\n"
        with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN (NULL 'None')") as copy:
            copy.write("".join([line % row for row in rows]))
        return
    with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _driver_error(error: BaseException) -> BaseException:
    return getattr(error, "orig", None) or error


def _is_transient(error: BaseException) -> bool:
    import psycopg

    cause = _driver_error(error)
    if not isinstance(cause, psycopg.Error):
        return False
    if cause.sqlstate is None:  # the connection was lost, or never made
        return isinstance(cause, psycopg.OperationalError)
    return cause.sqlstate.startswith(_TRANSIENT)


def newest_revision() -> str:
    """The version of the tables that this scoregate needs."""
    from scoregate.features.history.tables import SCHEMA

    return f"{SCHEMA:04d}"


def upgrade(connection: Connection) -> None:
    """Make the tables, or update those of an earlier version; one process at a time."""
    from pathlib import Path

    from alembic import command
    from alembic.config import Config

    config = Config()
    place = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", place.replace("%", "%%"))  # Alembic reads it with configparser
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
