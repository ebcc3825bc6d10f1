"""Rotate runs: the last few runs that a newer one replaced are kept in folders below `earlier`."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive.folder import CASES_FILE, COLUMNS_FILE, EARLIER, RUN_FILE, list_companions
from scoregate.kernel.judge.archive.media import MEDIA_FOLDER
from scoregate.kernel.judge.archive.run_json import RunHead, read_head

REPORT_FILE = "report.html"
_NAMES = re.compile(r"\.?\d{8}T\d{6}Z-[0-9a-f]{8}(\.partial)?")


def rotate(folder: Path, most: int) -> None:
    """Keep the run of a folder and its report before a newer run replaces it.

    With hard links, the run is in both places until the newer one is written; nothing is copied, and no symbolic link
    is followed. Runs without cases are not kept.

    Args:
        folder: the folder of the run.
        most: how many runs to keep, the newest ones; 0 for none.

    Raises:
        OSError: the run can't be kept.
    """
    files = (folder / RUN_FILE, folder / CASES_FILE)
    if most < 1 or folder.is_symlink() or not all(map(_is_file, files)):
        return
    try:
        head = read_head(files[0])
    except RecordError:
        return
    if not head.cases:
        return
    with _open_folder(folder.parent / EARLIER) as earlier_fd:
        if (name := archived_name(head)) not in os.listdir(earlier_fd):  # noqa: PTH208 (a handle, not a path)
            _move(folder, earlier_fd, name)
        _prune(earlier_fd, most, folder.parent / EARLIER)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def archived_name(head: RunHead) -> str:
    """The name of the folder of a run that was replaced.

    The alphabetical order of names is chronological. The name has a digest of the id, since the id of a forged run may
    be any text.
    """
    return f"{datetime.fromtimestamp(head.started, UTC):%Y%m%dT%H%M%SZ}-{sha256(head.id.encode()).hexdigest()[:8]}"


@contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    """Open a folder, or create it if it is missing; links are not followed."""
    path.mkdir(exist_ok=True)
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)


def _move(folder: Path, earlier_fd: int, name: str) -> None:
    partial = f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True, dir_fd=earlier_fd)
    os.mkdir(partial, dir_fd=earlier_fd)
    partial_fd = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=earlier_fd)
    try:
        # run.json comes last: without it, the folder is no run yet.
        own = (folder / CASES_FILE, folder / COLUMNS_FILE, folder.parent / REPORT_FILE, folder / RUN_FILE)
        for path in filter(_is_file, own):
            try:
                os.link(path, path.name, dst_dir_fd=partial_fd, follow_symlinks=False)
            except OSError:  # some disks have no hard links
                os.rename(path, path.name, dst_dir_fd=partial_fd)
        # Folders can't be linked.
        for beside in (*(path for _, path in list_companions(folder)), *folder.glob(MEDIA_FOLDER)):
            os.rename(beside, beside.name, dst_dir_fd=partial_fd)
    finally:
        os.close(partial_fd)
    os.rename(partial, name, src_dir_fd=earlier_fd, dst_dir_fd=earlier_fd)


def _prune(earlier_fd: int, most: int, earlier: Path) -> None:
    """Delete the oldest runs and what a crash left; folders with other names stay."""
    names = sorted(
        name
        for name in os.listdir(earlier_fd)
        if _NAMES.fullmatch(name) and stat.S_ISDIR(os.stat(name, dir_fd=earlier_fd, follow_symlinks=False).st_mode)
    )
    heads = {name: _read_head(earlier / name) for name in names if not name.startswith(".")}
    in_order = sort_by_start(heads)
    kept = {*in_order[-most:], *_find_baselines([(name, head) for name in in_order if (head := heads[name])], most)}
    for name in names:
        if name not in kept:
            shutil.rmtree(name, ignore_errors=True, dir_fd=earlier_fd)


def _find_baselines(in_order: Sequence[tuple[str, RunHead]], most: int) -> Iterator[str]:
    """The baselines of the next runs on a developer's machine, however many runs that can't be one follow."""
    complete = [(name, head) for name, head in in_order if head.has_all_results]
    yield from [name for name, head in complete if not head.has_fallen][-1:] or [name for name, _ in complete][-1:]
    # A run of a part may have one of its own.
    ids = {head.compared_with.id for _, head in in_order[-most:] if head.has_fallen and head.compared_with is not None}
    yield from (name for name, head in in_order if head.id in ids)


def sort_by_start(heads: Mapping[str, RunHead | None]) -> list[str]:
    """The names of folders in the order of their runs. Names are exact to the second only.

    Args:
        heads: the runs by the names of their folders; None for one that can't be read.
    """
    return sorted(
        heads, key=lambda name: (name.partition("-")[0], 0.0 if (head := heads[name]) is None else head.started)
    )


def _read_head(folder: Path) -> RunHead | None:
    try:
        return read_head(folder / RUN_FILE) if _is_file(folder / RUN_FILE) else None
    except RecordError:
        return None
