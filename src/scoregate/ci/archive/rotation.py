"""Rotate runs: the last few runs that a newer one replaced are kept in folders below `earlier`."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from scoregate.ci.archive.folder import CASES_FILE, EARLIER, EXTRA, RUN_FILE
from scoregate.ci.archive.run_json import RunHead, read_head
from scoregate.errors import RecordError

REPORT_FILE = "report.html"
_NAMES = re.compile(r"\.?\d{8}T\d{6}Z-[0-9a-f]{8}(\.partial)?")


def rotate(folder: Path, most: int) -> None:
    """Keep the run of a folder and its report before a newer run replaces it.

    With hard links, the run is in both places until the newer one is written; nothing is copied, and no symbolic link
    is followed. Runs without cases are not kept.

    Args:
        folder: of the run.
        most: how many runs are kept, the newest ones; with 0 none.

    Raises:
        OSError: it can't be kept.
    """
    if most < 1 or (head := _read_head(folder)) is None or not head.cases:
        return
    with _open_folder(folder.parent / EARLIER) as shelf:
        if (name := archived_name(head)) not in os.listdir(shelf):  # noqa: PTH208 (a handle, not a path)
            _move(folder, shelf, name)
        _prune(shelf, most)


def _read_head(folder: Path) -> RunHead | None:
    files = (folder / RUN_FILE, folder / CASES_FILE)
    if folder.is_symlink() or not all(_is_file(path) for path in files):
        return None
    with suppress(RecordError):
        return read_head(files[0])
    return None


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def archived_name(head: RunHead) -> str:
    """The name of the folder of a run that was replaced.

    The order of names is the order of time. It has a digest of the id, which may be any text in a forged run.
    """
    return f"{datetime.fromtimestamp(head.started, UTC):%Y%m%dT%H%M%SZ}-{sha256(head.id.encode()).hexdigest()[:8]}"


@contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    """A handle of the folder, which is created if it is missing; links are not followed."""
    path.mkdir(exist_ok=True)
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)


def _move(folder: Path, shelf: int, name: str) -> None:
    partial = f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True, dir_fd=shelf)
    os.mkdir(partial, dir_fd=shelf)
    place = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=shelf)
    try:
        for path in filter(_is_file, (folder / CASES_FILE, folder.parent / REPORT_FILE, folder / RUN_FILE)):
            _link_or_move(path, place)
        for extra in sorted(folder.glob(f"{EXTRA}*")):
            os.rename(extra, extra.name, dst_dir_fd=place)
    finally:
        os.close(place)
    os.rename(partial, name, src_dir_fd=shelf, dst_dir_fd=shelf)


def _link_or_move(path: Path, place: int) -> None:
    try:
        os.link(path, path.name, dst_dir_fd=place, follow_symlinks=False)
    except OSError:  # some disks know no hard links
        os.rename(path, path.name, dst_dir_fd=place)


def _prune(shelf: int, most: int) -> None:
    """Delete the oldest runs, and the remains of a crash; folders with other names are left alone."""
    found = sorted(name for name in os.listdir(shelf) if _NAMES.fullmatch(name) and _is_folder(name, shelf))
    kept = [name for name in found if not name.startswith(".")][-most:]
    for name in found:
        if name not in kept:
            shutil.rmtree(name, ignore_errors=True, dir_fd=shelf)


def _is_folder(name: str, shelf: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=shelf, follow_symlinks=False).st_mode)
