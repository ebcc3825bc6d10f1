"""The runs of `scoregate view`: their folders, their descriptions for the page, and their reports."""

from __future__ import annotations

import os
import re
import tempfile
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256
from html import unescape
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeAlias

from starlette.exceptions import HTTPException

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive import (
    AGAIN,
    AGAIN_BASE,
    ATTEMPT,
    CASES_FILE,
    CONTROL,
    EXTRA,
    IN_PROGRESS,
    PUSH,
    REPORT_FILE,
    RUN_FILE,
    RUN_FOLDER,
    RunHead,
    read_head,
)
from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.judge.archive.marker import is_being_written
from scoregate.kernel.judge.archive.media import MEDIA_FOLDER, MediaFolder
from scoregate.kernel.judge.archive.progress import LiveRun, read_live
from scoregate.kernel.report.html import assets
from scoregate.kernel.report.text import display_name, excerpt, one_line
from scoregate.kernel.types.media import MediaFile
from scoregate.kernel.types.runs.cases import Status

_DEPTH, _MOST_FOLDERS, _MOST_RUNS = 3, 2_000, 200
# Reruns of cases are parts of a run, not runs, and it has copies of its earlier attempts.
_EXTRA_FOLDERS = (".", AGAIN, AGAIN_BASE, ATTEMPT, PUSH, EXTRA, "confirm-", "broken-")
Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run and its folder."""

    key: str
    folder: Path
    head: RunHead

    @property
    def stamp(self) -> tuple[Stamp | None, ...]:
        """A value that changes when the run is written again."""
        return tuple(file_stamp(self.folder / name) for name in (RUN_FILE, CASES_FILE))


def find_runs(places: Iterable[Path]) -> list[StoredRun]:
    """Find the runs in folders and up to three levels below, the newest first, each once, without unreadable ones.

    Links are not followed. The number of folders is limited; near folders come first.
    """
    runs = {}
    for folder in islice(_folders(places), _MOST_FOLDERS):
        if isinstance(head := _head_in(folder), RunHead):
            # An id may have any characters, and the key is a part of addresses.
            key = sha256(head.id.encode()).hexdigest()[:12]
            runs[key] = StoredRun(key, folder, head)
    return sorted(runs.values(), key=lambda run: run.head.started, reverse=True)[:_MOST_RUNS]


def find_damaged(places: Iterable[Path]) -> list[RecordError]:
    """The errors of runs that can't be read, in the folders of `find_runs`."""
    heads = map(_head_in, islice(_folders(places), _MOST_FOLDERS))
    return [head for head in heads if isinstance(head, RecordError)]


def find_live(places: Iterable[Path]) -> LiveRun | None:
    """The run in progress in one of the folders, the latest if there are several."""
    live_runs = (read_live(folder) for place in places for folder in (place, place / RUN_FOLDER))
    return max(filter(None, live_runs), key=lambda live: live.started, default=None)


def file_stamp(path: Path) -> Stamp | None:
    """A value that changes when a file is written again; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _folders(places: Iterable[Path]) -> Iterator[Path]:
    queue = deque((place, 0) for place in places)
    while queue:
        place, depth = queue.popleft()
        yield place
        if depth < _DEPTH:
            with suppress(OSError), os.scandir(place) as entries:
                folders = [each for each in entries if each.is_dir(follow_symlinks=False) and _is_run_folder(each)]
                queue.extend((Path(folder.path), depth + 1) for folder in folders)


def _is_run_folder(folder: os.DirEntry[str]) -> bool:
    """Whether a folder can hold runs; the results of a killed process are a run, too."""
    if folder.name.startswith(IN_PROGRESS):
        return not is_being_written(Path(folder.path))
    return folder.name != CONTROL and not folder.name.startswith(_EXTRA_FOLDERS)


def _head_in(folder: Path) -> RunHead | RecordError | None:
    """The head of the run in a folder, or the error; None if there is no run."""
    stamp = file_stamp(folder / RUN_FILE)
    return None if stamp is None else _head(folder / RUN_FILE, stamp)


@lru_cache(maxsize=2 * _MOST_RUNS)  # the stamp makes a changed file another key
def _head(path: Path, stamp: Stamp) -> RunHead | RecordError:  # noqa: ARG001
    try:
        return read_head(path)
    except RecordError as error:
        return error


_HEAD_BYTES = 4096
_MOMENT = re.compile(r"[0-9]{1,11}")
_META = re.compile(r'<meta (?:name|http-equiv)="([\w-]+)" content="([^"]*)">')


def report_time(run: StoredRun) -> float | None:
    """The time of a run's report, in seconds since the epoch; None without a report of this version of scoregate."""
    report = _find_report(run)
    return None if report is None else report[1]


def open_report(run: StoredRun) -> IO[bytes] | None:
    """Open the stored report of a run; None if there is none, or one of another run."""
    report = _find_report(run)
    if report is None:
        return None
    try:
        file = open(report[0], "rb", opener=open_nofollow)  # noqa: SIM115 (the response closes it)
    except OSError:
        return None
    # Again: the file may be another one since it was found.
    if _parse_report_time(file.read(_HEAD_BYTES), run.head.id) is not None:
        return file
    file.close()
    return None


def _find_report(run: StoredRun) -> tuple[Path, float] | None:
    """Path and time of the report, in the folder of the run or in the one above, where `scoregate run` writes it."""
    for path in (run.folder / REPORT_FILE, run.folder.parent / REPORT_FILE):
        stamp = file_stamp(path)
        if stamp is not None and (time := _report_time(path, stamp, run.head.id)) is not None:
            return path, time
    return None


@lru_cache(maxsize=1_000)  # as for `_head`, the stamp is a part of the key only
def _report_time(path: Path, stamp: Stamp, run_id: str) -> float | None:  # noqa: ARG001
    try:
        with open(path, "rb", opener=open_nofollow) as file:
            return _parse_report_time(file.read(_HEAD_BYTES), run_id)
    except OSError:
        return None


def _parse_report_time(head: bytes, run_id: str) -> float | None:
    """The time in the first bytes of a report; None if it is of another version of scoregate or of another run."""
    meta = {name: unescape(content) for name, content in _META.findall(head.decode("utf-8", "replace"))}
    identity = meta.get("scoregate-run"), meta.get("Content-Security-Policy")
    moment = meta.get("scoregate-made", "")
    is_valid = identity == (excerpt(run_id, _HEAD_BYTES), assets.policy()) and _MOMENT.fullmatch(moment)
    return float(moment) if is_valid else None


_MOST = 20
Render: TypeAlias = Callable[[Path, Path | None], Iterable[str]]


@dataclass(slots=True)
class ReportRenderer:
    """Renders reports and caches the last ones.

    Args:
        render: renders the report of the run in a folder, compared with that in another one.
        state: a value that changes when reports change although their runs don't.
    """

    render: Render
    state: Callable[[], object]
    _files: OrderedDict[object, IO[bytes]] = field(default_factory=OrderedDict)

    def page(self, run: StoredRun, base: StoredRun | None) -> IO[bytes]:
        """The report of a run, compared with another; a new handle, which shares its position with others.

        Raises:
            ScoregateError: a run can't be read, or the settings are invalid.
        """
        key = (run.key, run.stamp, (base.key, base.stamp) if base else None, self.state())
        if key not in self._files:
            self._files[key] = self._render_to_file(run, base)
            while len(self._files) > _MOST:
                self._files.popitem(last=False)[1].close()
        # A handle of its own, because the cache may close the other one first.
        return os.fdopen(os.dup(self._files[key].fileno()), "rb")

    def close(self) -> None:
        """Close the cached reports; responses in progress still finish."""
        while self._files:
            self._files.popitem()[1].close()

    def _render_to_file(self, run: StoredRun, base: StoredRun | None) -> IO[bytes]:
        file = tempfile.TemporaryFile(prefix="scoregate-view-")  # noqa: SIM115 (closed with the cache)
        try:
            for chunk in self.render(run.folder, base.folder if base else None):
                file.write(chunk.encode())
            file.flush()
        except BaseException:
            file.close()
            raise
        return file


Count: TypeAlias = Callable[[Path, float], int]


@dataclass(slots=True)
class VerdictCounter:
    """Counts the verdicts on runs, with a cache.

    Args:
        count: counts the verdicts on the run in a folder since a moment, in seconds since the epoch.
        state: a value that changes when there may be more verdicts.
    """

    count: Count = lambda _folder, _moment: 0
    state: Callable[[], object] = bool
    _known: dict[object, int] = field(default_factory=dict)
    _seen: object = None

    def count_verdicts(self, run: StoredRun, moment: float) -> int:
        """Count the verdicts on a run since its report was written."""
        if (state := self.state()) != self._seen:
            self._seen, self._known = state, {}
        key = (run.key, run.stamp, moment)
        if (known := self._known.get(key)) is None:
            known = self._known[key] = self.count(run.folder, moment)
        return known


AS_REPORTED, NOTHING = "reported", "nothing"
_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class RunList:
    """The runs in some folders. The methods block.

    Args:
        places: the folders.
        renderer: renders reports.
        baseline: the folder of the default baseline; None to show runs as they were reported.
        since: counts the verdicts on a run since it was reported.
    """

    places: Sequence[Path]
    renderer: ReportRenderer
    baseline: Path | None = None
    since: VerdictCounter = field(default_factory=VerdictCounter)

    def state(self) -> dict[str, Any]:
        """All runs, the newest first, and the run in progress."""
        live = find_live(self.places)
        base = self._baseline()
        return {
            "runs": [self._describe(run) for run in self._runs()],
            "live": None if live is None else asdict(live),
            "baseline": None if base is None else base.key,
        }

    def open_stored(self, key: str, against: str) -> IO[bytes] | None:
        """The stored report of a run; None if it must be rendered. `against` is the key of another run, `reported` or
        `nothing`.

        Raises:
            HTTPException: there is no such run.
        """
        run, _ = self._pair(key, against)
        return open_report(run) if against == AS_REPORTED else None

    def render(self, key: str, against: str) -> IO[bytes]:
        """Render the report of a run, which may take long. Only one thread at a time may call this.

        Raises:
            HTTPException: there is no such run.
            ScoregateError: the report can't be rendered.
        """
        return self.renderer.page(*self._pair(key, against))

    def read_media(self, digest: str) -> MediaFile:
        """An image or audio of a run, by its digest. Its type is found by its content.

        Raises:
            HTTPException: no run has such a file.
        """
        read = (MediaFolder(run.folder / MEDIA_FOLDER).read(digest) for run in self._runs())
        if (file := next(filter(None, read), None)) is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "No run has this image or recording.")
        return file

    def _pair(self, key: str, against: str) -> tuple[StoredRun, StoredRun | None]:
        runs = {run.key: run for run in self._runs()}
        run, base = runs.get(key), runs.get(against)
        if run is None or (base is None and against not in (AS_REPORTED, NOTHING)):
            raise HTTPException(HTTPStatus.NOT_FOUND, "This run no longer exists.")
        return run, base

    def _runs(self) -> list[StoredRun]:
        return find_runs([*self.places, *([self.baseline] if self.baseline else [])])

    def _baseline(self) -> StoredRun | None:
        return next(iter(find_runs([self.baseline])), None) if self.baseline else None

    def _describe(self, run: StoredRun) -> dict[str, Any]:
        head, reported_at = run.head, report_time(run)
        statuses = (Status.PASSED.value, Status.FAILED.value, Status.ERRORED.value)
        return {
            "key": run.key,
            "started": head.started,
            "finished": head.end.finished,
            "message": one_line(head.code.message or "", _MESSAGE),
            "branch": display_name(head.code.branch) if head.code.branch else "",
            "commit": one_line((head.code.commit or "")[:7], 7),
            "dirty": head.code.dirty,
            "complete": head.end.complete,
            "place": display_name(run.folder.name),
            **{status: sum(suite.statuses.get(status, 0) for suite in head.suites) for status in statuses},
            "reported": reported_at is not None,
            "since": 0 if reported_at is None else self.since.count_verdicts(run, reported_at),
        }
