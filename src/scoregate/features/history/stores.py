"""The Protocol of the databases that hold a history."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from scoregate.features.history.tables import Row, RunRows


class HistoryStore(Protocol):
    """A database with the tables of `tables.py`.

    Queries are written in the SQL that SQLite and PostgreSQL share. Values are only passed as parameters `:name`.
    """

    @property
    def location(self) -> str:
        """What messages call it; it holds no password."""
        ...

    def add_runs(self, runs: Sequence[RunRows]) -> int:
        """Add runs, each in a transaction; a run that is known already stays as it is.

        Returns:
            The number of runs that were added.

        Raises:
            HistoryError: they can't be written.
        """
        ...

    def find_known(self, run_ids: Collection[int]) -> set[int]:
        """Those of the ids whose runs are known.

        Raises:
            HistoryError: it can't be read.
        """
        ...

    def query(self, sql: str, parameters: Mapping[str, Any], *, scans: bool = False) -> list[Row]:
        """The rows of a query.

        Args:
            sql: the query.
            parameters: its values, by name.
            scans: whether it reads a large part of a table.

        Raises:
            HistoryError: it can't be read.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
