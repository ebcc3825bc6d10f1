"""Keep runs in the embedded history before `keep_runs` deletes their folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from scoregate.ci.archive import EARLIER, RUN_FILE, read_head
from scoregate.errors import RecordError

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
    from scoregate.ci.history.folders import import_folders
    from scoregate.ci.history.location import open_history, shared_address
    from scoregate.ci.history.project import find_project_name
    from scoregate.ci.history.rows import RunSource

    if shared_address(environ):
        return
    store = open_history(root, environ)
    try:
        import_folders(store, doomed, RunSource(anyio.run(find_project_name, root, environ)))
    finally:
        store.close()


def _list_doomed(out: Path, keep_runs: int) -> Iterator[Path]:
    # The names of folders are in the order of time. The current run gets a place among them before the next one starts.
    earlier = sorted(out.glob(f"{EARLIER}/[0-9]*/"))
    for folder in earlier[: max(0, len(earlier) + 1 - keep_runs)] if keep_runs else ():
        with suppress(RecordError):
            head = read_head(folder / RUN_FILE)
            if sum(suite.cases * max(1, len(suite.evaluators)) for suite in head.suites) <= _MOST_SCORES:
                yield folder
