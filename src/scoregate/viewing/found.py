"""The runs that can be shown: looked for in folders, known by keys that say nothing of where they are."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from scoregate.ci.archive import CASES_FILE, EXTRA, IN_PROGRESS, RUN_FILE, RUN_FOLDER, RunHead, read_head
from scoregate.ci.archive.live import Live, read_live
from scoregate.ci.archive.marker import is_being_written
from scoregate.errors import RecordError

_DEPTH, _MOST_FOLDERS, _MOST_RUNS = 3, 2_000, 200
# What was run again of a run is a part of it.
_PARTS = (".", EXTRA, "confirm-")
Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """A run, and the folder that it was in when somebody looked."""

    key: str
    folder: Path
    head: RunHead

    @property
    def stamp(self) -> tuple[Stamp | None, ...]:
        """Another one, once the run has been written anew."""
        return tuple(stamp_of(self.folder / name) for name in (RUN_FILE, CASES_FILE))


def find_runs(places: Iterable[Path]) -> list[Found]:
    """The runs in folders and not far below them, the newest first, each once; those that cannot be read are not seen.

    No link below a place is followed, and only so many folders are looked into, those that are near before the others.
    """
    found = (run for folder in islice(_folders(places), _MOST_FOLDERS) if (run := _run_in(folder)) is not None)
    runs = sorted({run.key: run for run in found}.values(), key=lambda run: run.head.started, reverse=True)
    return runs[:_MOST_RUNS]


def find_damaged(places: Iterable[Path]) -> list[RecordError]:
    """What is wrong with those that cannot be read, in the folders that `find_runs` looks into."""
    heads = map(_head_in, islice(_folders(places), _MOST_FOLDERS))
    return [head for head in heads if isinstance(head, RecordError)]


def find_live(places: Iterable[Path]) -> Live | None:
    """The run that is being made in one of the places; of several, the one that began last."""
    found = (read_live(folder) for place in places for folder in (place, place / RUN_FOLDER))
    return max(filter(None, found), key=lambda live: live.started, default=None)


def stamp_of(path: Path) -> Stamp | None:
    """Another one, once a file has been written anew; None where there is none."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_size, told.st_mtime_ns


def _folders(places: Iterable[Path]) -> Iterator[Path]:
    waiting = deque((place, 0) for place in places)
    while waiting:
        place, depth = waiting.popleft()
        yield place
        if depth < _DEPTH:
            waiting.extend((below, depth + 1) for below in _below(place))


def _below(place: Path) -> Sequence[Path]:
    with suppress(OSError), os.scandir(place) as entries:
        return [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False) and _is_whole(each)]
    return ()


def _is_whole(folder: os.DirEntry[str]) -> bool:
    """What a killed process left is a run; one that is being made is told of by its process."""
    if folder.name.startswith(IN_PROGRESS):
        return not is_being_written(Path(folder.path))
    return not folder.name.startswith(_PARTS)


def _run_in(folder: Path) -> Found | None:
    head = _head_in(folder)
    return Found(sha256(head.id.encode()).hexdigest()[:12], folder, head) if isinstance(head, RunHead) else None


def _head_in(folder: Path) -> RunHead | RecordError | None:
    """That of the run in a folder, or why it cannot be read; None where there is none."""
    stamp = stamp_of(folder / RUN_FILE)
    return None if stamp is None else _head(folder / RUN_FILE, stamp)


@lru_cache(maxsize=2 * _MOST_RUNS)
def _head(path: Path, stamp: Stamp) -> RunHead | RecordError:  # noqa: ARG001
    try:
        return read_head(path)
    except RecordError as error:
        return error
