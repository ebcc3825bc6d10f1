"""Import run folders into a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from scoregate.errors import RecordError, UsageError
from scoregate.features.history.rows import RunSource, make_id, read_rows
from scoregate.features.history.stores import HistoryStore
from scoregate.features.history.tables import RunRows
from scoregate.kernel.judge.archive import EARLIER, RUN_FILE, RUN_FOLDER, read_head

_BATCH = 8


@dataclass(slots=True)
class ImportResult:
    """How many runs were added and how many were known, and what could not be read."""

    added: int = 0
    known: int = 0
    problems: list[str] = field(default_factory=list)


def list_run_folders(path: Path) -> list[Path]:
    """The folders of runs at a path: a run's folder, an output folder with its earlier runs, or a folder of these.

    Raises:
        UsageError: there is none.
    """
    folders = list(_run_folders(path))
    if not folders and path.is_dir():
        folders = [folder for child in sorted(path.glob("*/")) for folder in _run_folders(child)]
    if not folders:
        problem = f"{path} holds no run" if path.exists() else f"{path} does not exist"
        raise UsageError(problem, advice="Name run folders, such as scoregate-out; `scoregate run` writes one.")
    return folders


def _run_folders(path: Path) -> Iterator[Path]:
    folder = path.parent if path.is_file() and path.name == RUN_FILE else path
    places = (folder, folder / RUN_FOLDER, *sorted(folder.glob(f"{EARLIER}/*/")))
    return (place for place in places if (place / RUN_FILE).is_file())


def import_folders(store: HistoryStore, folders: Sequence[Path], source: RunSource) -> ImportResult:
    """Import the runs of folders that are not known yet; one that can't be read is a problem of the result.

    Args:
        store: the history.
        folders: the folders of runs.
        source: the project.

    Raises:
        HistoryError: the history can't be read or written.
    """
    result = ImportResult()
    new = _new_folders(store, folders, source, result)
    runs = _read_folders(new, source, result)
    # The next runs are read while the database writes the last ones.
    with ThreadPoolExecutor(max_workers=1) as writer:
        writing: Future[int] | None = None
        while part := tuple(islice(runs, _BATCH)):
            result.added += writing.result() if writing is not None else 0
            writing = writer.submit(store.add_runs, part)
        result.added += writing.result() if writing is not None else 0
    result.known = len(folders) - result.added - len(result.problems)
    return result


def _new_folders(store: HistoryStore, folders: Iterable[Path], source: RunSource, result: ImportResult) -> list[Path]:
    by_id: dict[int, Path] = {}
    for folder in folders:
        try:
            by_id.setdefault(make_id(source.project, read_head(folder / RUN_FILE).id), folder)
        except RecordError as error:
            result.problems.append(error.message)
    known = store.find_known(by_id)
    return [folder for run_id, folder in by_id.items() if run_id not in known]


def _read_folders(folders: Iterable[Path], source: RunSource, result: ImportResult) -> Iterator[RunRows]:
    for folder in folders:
        try:
            yield read_rows(folder, source)
        except RecordError as error:
            result.problems.append(error.message)
