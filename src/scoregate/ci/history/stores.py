"""The databases of the history, behind one Protocol."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from scoregate.ci.history.tables import Row, RunRows

VARIABLE = "SCOREGATE_HISTORY"
CACHE_FOLDER, FILE_NAME = ".scoregate-cache", "history.sqlite"


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

    def query(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        """The rows of a query.

        Raises:
            HistoryError: it can't be read.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def open_history(root: Path, environ: Mapping[str, str], *, migrates: bool = False) -> HistoryStore:  # noqa: ARG001
    """Open the shared history that SCOREGATE_HISTORY names, else the one in the project's cache.

    Args:
        root: the folder of the project.
        environ: the host's environment.
        migrates: whether the tables of a shared history are made or updated. It needs the right to create them.

    Raises:
        HistoryError: it can't be opened.
        UsageError: the variable is not valid, or the extra is not installed.
    """
    from scoregate.ci.history.embedded import EmbeddedHistory

    return EmbeddedHistory(embedded_path(root))


def shared_address(environ: Mapping[str, str]) -> str:
    """The address of the shared history, with its password; empty if there is none."""
    return environ.get(VARIABLE, "").strip()


def embedded_path(root: Path) -> Path:
    """The file of the embedded history."""
    return root / CACHE_FOLDER / FILE_NAME
