"""Keep runs in the embedded history before `keep_runs` deletes their folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive import EARLIER, RUN_FILE, RunHead, read_head, sort_by_start

# To import a score takes 30 to 80 µs. Larger runs are imported by the commands of `scoregate history` alone.
_MOST_SCORES = 10_000


def keep_oldest_runs(root: Path, out: Path, keep_runs: int, environ: Mapping[str, str]) -> None:
    """Import the runs that the next run deletes. One that can't be read, or is large, is left out.

    Args:
        root: the folder of the project.
        out: the output folder.
        keep_runs: how many earlier runs are kept.
        environ: the host's environment. With a shared history in it, nothing is imported.

    Raises:
        HistoryError: the history can't be written.
    """
    doomed = list(_list_doomed(out, keep_runs))
    if not doomed:
        return
    from scoregate.features.history.folders import import_folders
    from scoregate.features.history.location import open_history, shared_address
    from scoregate.features.history.project import find_project_name
    from scoregate.features.history.rows import RunSource

    if shared_address(environ):
        return
    store = open_history(root, environ)
    try:
        import_folders(store, doomed, RunSource(anyio.run(find_project_name, root, environ)))
    finally:
        store.close()


def _list_doomed(out: Path, keep_runs: int) -> Iterator[Path]:
    # The current run gets a place among the earlier ones before the next one starts.
    folders = {folder.name: folder for folder in out.glob(f"{EARLIER}/[0-9]*/")}
    if not keep_runs or len(folders) < keep_runs:
        return
    heads: dict[str, RunHead | None] = dict.fromkeys(folders)
    for name, folder in folders.items():
        with suppress(RecordError):
            heads[name] = read_head(folder / RUN_FILE)
    for name in sort_by_start(heads)[: len(folders) + 1 - keep_runs]:
        head = heads[name]
        scores = 0 if head is None else sum(suite.cases * max(1, len(suite.evaluators)) for suite in head.suites)
        if head is not None and scores <= _MOST_SCORES:
            yield folders[name]
