"""Where the history is: in the PostgreSQL that the environment names, else in the project's cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scoregate.features.history.declare import VARIABLE
from scoregate.features.history.stores import HistoryStore

_CACHE_FOLDER, _FILE_NAME = ".scoregate-cache", "history.sqlite"


def open_history(root: Path, environ: Mapping[str, str], *, migrates: bool = False) -> HistoryStore:
    """Open the shared history that SCOREGATE_HISTORY names, else the one in the project's cache.

    Args:
        root: the folder of the project.
        environ: the host's environment.
        migrates: whether the tables of a shared history are made or updated. It needs the right to create them.

    Raises:
        HistoryError: it can't be opened.
        UsageError: the variable is not valid, or the extra is not installed.
    """
    if address := shared_address(environ):
        from scoregate.features.history.postgres import PostgresHistory

        return PostgresHistory(address, migrates=migrates)
    from scoregate.features.history.embedded import EmbeddedHistory

    return EmbeddedHistory(embedded_path(root))


def shared_address(environ: Mapping[str, str]) -> str:
    """The address of the shared history, with its password; empty if there is none."""
    return environ.get(VARIABLE, "").strip()


def embedded_path(root: Path) -> Path:
    """The file of the embedded history."""
    return root / _CACHE_FOLDER / _FILE_NAME
