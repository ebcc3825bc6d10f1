"""Runs in a history that are bases of later runs, with all of their files."""

from __future__ import annotations

from scoregate.errors import RecordError
from scoregate.features.history.stores import HistoryStore
from scoregate.features.history.tables import clean_text
from scoregate.kernel.types.records import record

MOST_BYTES = 64 << 20
_MOST_LISTED = 300


@record
class StoredBase:
    """A base in the history: its commit, the id of its run, and when it finished, in seconds since 1970."""

    commit: str
    run_id: int
    finished: float


def list_bases(store: HistoryStore, project: str, *, branch: str, key: str | None) -> list[StoredBase]:
    """The bases of a branch, the newest first.

    Args:
        store: the history.
        project: the name of the project.
        branch: the branch.
        key: only bases of this use in the project; None for all.

    Raises:
        HistoryError: it can't be read.
    """
    of_key = " AND key = :key" if key is not None else ""
    rows = store.query(
        "SELECT commit_sha, run_id, finished FROM bases"
        " WHERE project = :project AND branch = :branch AND commit_sha IS NOT NULL"
        f"{of_key} ORDER BY finished DESC LIMIT {_MOST_LISTED}",
        {
            "project": clean_text(project),
            "branch": clean_text(branch),
            **({"key": clean_text(key)} if key is not None else {}),
        },
    )
    return [StoredBase(*row) for row in rows]


def read_base(store: HistoryStore, run_id: int) -> bytes:
    """The files of a base as a zip.

    Raises:
        HistoryError: it can't be read.
        RecordError: it is not there any more, or too large.
    """
    rows = store.query(
        "SELECT content FROM bases WHERE run_id = :run AND LENGTH(content) <= :most",
        {"run": run_id, "most": MOST_BYTES},
    )
    if not rows:
        raise RecordError(f"it has been deleted, or has more than {MOST_BYTES >> 20} MB")
    return bytes(rows[0][0])


def find_known_jobs(store: HistoryStore, project: str, key: str) -> set[str]:
    """The jobs whose runs are known.

    Raises:
        HistoryError: it can't be read.
    """
    rows = store.query(
        "SELECT DISTINCT job FROM runs WHERE project = :project AND key = :key AND job <> ''",
        {"project": clean_text(project), "key": clean_text(key)},
    )
    return {job for (job,) in rows}
