"""Result files that a command leaves: find them, check that this launch wrote them, and emit them as events."""

from __future__ import annotations

import glob
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, TypeAlias

import anyio.to_thread

from scoregate.errors import ImportFailed
from scoregate.features.imports.appended_files import EarlierContents
from scoregate.features.imports.deepeval_runs import (
    FORMAT,
    ResultsFolder,
    check_missing_tests,
    read_outcomes,
    select_test_runs,
)
from scoregate.features.imports.reader import Reader
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.run.launch.layer import EmitEvent, EventsReceived, Filtered, LeftResults, Notice
from scoregate.kernel.run.launch.tail import is_failure
from scoregate.kernel.run.plan import Launch, ResultImport, RowColumns
from scoregate.kernel.types.events import Event, SuiteStarted
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.suite_labels import suite_label
from scoregate.kernel.types.test_outcomes import TestOutcomes
from scoregate.kernel.types.text import matches_filters

_MOST_FILES = 1_000
_ROWS, _JUNIT = "rows", "junit"
# The clock of a file system may be coarse.
_SLACK_NS = 100_000_000
_BATCH = 100
# It differs between two writings of a file, also if the clock was changed.
_Stamp: TypeAlias = tuple[int, int, int, int]


# The exit codes of test runners that ran to their end, if a test failed.
_FAILED_EXITS: Mapping[str, int] = {"ctrf": 1, "junit": 1, "deepeval": 1, "evalite": 1, "promptfoo": 100, "vitest": 1}


_NO_TESTS = (
    "it exited with 1, and the results of deepeval have metrics only. To notice failed tests without a metric, install "
    "scoregate where the tests run"
)


@record
class ResultFiles:
    """The result files of one launch.

    Args:
        launch: the launch.
        identity: the user that must own the files; None for any.
        read: reads a file.
        suites: globs; a suite must match one of them. Without any, all are emitted.
        before: the files that existed when it started.
        started: that time, in nanoseconds since the epoch.
        deepeval: the folder of deepeval's test runs, if the launch imports them.
        contents: what the files of rows held before.
    """

    launch: Launch
    identity: Identity | None
    read: Reader
    suites: Sequence[str]
    before: Mapping[Path, _Stamp]
    started: int
    deepeval: ResultsFolder | None = None
    contents: EarlierContents = field(default_factory=lambda: EarlierContents({}))

    @classmethod
    def of(
        cls,
        launch: Launch,
        identity: Identity | None,
        read: Reader,
        suites: Sequence[str] = (),
        deepeval: ResultsFolder | None = None,
    ) -> ResultFiles:
        """The files before the start of a launch."""
        existing = {each: _find_files(launch.cwd, each) for each in launch.source.imports}
        paths = list(chain.from_iterable(existing.values()))
        if deepeval is not None:
            with suppress(ImportFailed):  # raised again at the end
                paths += deepeval.list_files()
        before = {path: stamp for path in paths if (stamp := _stamp(path)) is not None}
        # Other formats have an end, so nothing can be appended to them.
        rows = (files for each, files in existing.items() if each.format == _ROWS)
        contents = EarlierContents.read(chain.from_iterable(rows))
        return cls(launch, identity, read, suites, before, time.time_ns(), deepeval, contents)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variable that names the folder of deepeval's test runs, if it is new."""
        return {} if self.deepeval is None else self.deepeval.environment

    async def emit(self, emit: EmitEvent, recorded: Set[str] = frozenset()) -> LeftResults:
        """Emit the events in the new files.

        Args:
            emit: receives the events.
            recorded: `SUITE::CASE` of tests that the command recorded itself; they are not emitted again.
        """
        failures: list[ImportFailed] = []
        files = await self._select_files(emit, failures)
        sources = [source for source in files.values() if source.format != FORMAT]
        try:
            named = [path for form, path in files if form == FORMAT]
            sources += await anyio.to_thread.run_sync(self._group_test_runs, named)
            tests = read_outcomes(self.deepeval, lambda path: _open_result_file(path, path.name, self.identity))
        except ImportFailed as error:
            failures.append(error)
            tests = None
        if not sources:
            return LeftResults(failures)
        counts = Counter(source.format for source in sources)
        importer = _ResultImporter(self, emit, counts, frozenset(recorded), tests)
        for source in sources:
            try:
                # One file that can't be read costs only itself: the results of the others are still measured.
                await importer.emit_source(source)
            except ImportFailed as error:
                failures.append(error)
        # JUnit XML lists failed tests without a metric, too.
        if tests is not None and _JUNIT not in counts:
            failures += check_missing_tests(tests)
        exits = frozenset(_FAILED_EXITS[each] for each in importer.failed & _FAILED_EXITS.keys())
        return LeftResults(failures, exits, _NO_TESTS if importer.failed == {FORMAT} and tests is None else "")

    async def _select_files(self, emit: EmitEvent, failures: list[ImportFailed]) -> Mapping[tuple[str, Path], _Source]:
        """The new files of all imports; an import without any adds a failure."""
        files: dict[tuple[str, Path], _Source] = {}
        for each in dict.fromkeys(self.launch.source.imports):
            try:
                paths, notices = await anyio.to_thread.run_sync(self._find_new, each)
            except ImportFailed as error:
                failures.append(error)
                continue
            for notice in notices:
                emit(Notice(self.launch.name, notice))
            for path in paths:
                key, scores = (each.format, path), each.scores
                # Two patterns may name one file, each with scores of its own.
                if key in files:
                    scores = (*files[key].scores, *scores)
                files[key] = _Source(each.format, (path,), scores, each.columns)
        return files

    def _group_test_runs(self, named: Sequence[Path]) -> list[_Source]:
        """The new files of deepeval: its test runs together, and each other file.

        Raises:
            ImportFailed: a file can hide further test runs.
        """
        listed = [] if self.deepeval is None else self.deepeval.list_files()
        written = [path for path in listed if self._is_new(path)]
        runs, others = select_test_runs(
            (*written, *named), lambda path: _open_result_file(path, str(path), self.identity)
        )
        return [*([_Source(FORMAT, tuple(runs))] if runs else []), *(_Source(FORMAT, (path,)) for path in others)]

    def _is_new(self, path: Path) -> bool:
        """Whether the launch wrote a file; a new link to a file that didn't change is an old file."""
        stamp = _stamp(path)
        if stamp is None or stamp == self.before.get(path):
            return False
        *_, changed = stamp
        # A new link has a time of its own: only a path without links is new by its time alone.
        return changed >= self.started - _SLACK_NS or path.resolve() == Path(os.path.abspath(path))  # noqa: PTH100

    def _find_new(self, result: ResultImport) -> tuple[Sequence[Path], list[str]]:
        """The files that were written since the start, and notices about older files and contents.

        Raises:
            ImportFailed: there are none, or too many.
        """
        paths = _find_files(self.launch.cwd, result)
        new = [path for path in paths if self._is_new(path)]
        if not paths:
            raise ImportFailed(
                f"{_describe_import(result)}: the command wrote no such file",
                advice=f"Name the file relative to the folder in which the command runs: {self.launch.cwd}",
            )
        if not new:
            raise ImportFailed(
                f"{_describe_import(result)}: the command did not write the file, which is from before it ran",
                advice="Check that the command writes its results, and to this file.",
            )
        if len(new) > _MOST_FILES:
            raise ImportFailed(
                f"{_describe_import(result)}: {len(new):,} files are more than the limit of {_MOST_FILES:,}",
                advice="Use a pattern that matches the result files only.",
            )
        notices = list(self.contents.describe_appended(new))
        if older := len(paths) - len(new):
            are = "file is" if older == 1 else "files are"
            notices.append(f"{_describe_import(result)}: {older} older {are} ignored")
        return new, notices


@record
class _Source:
    """Files of one format that are read together.

    `scores`: globs of the properties that are scores; `columns`: those of rows.
    """

    format: str
    paths: tuple[Path, ...]
    scores: tuple[str, ...] = ()
    columns: RowColumns | None = None


@record
class _ResultImporter:
    """Emits the events in files, `numbers` of each format.

    `owners`: by format and label, the file of a suite. `failed`: the formats in which a test failed.
    """

    files: ResultFiles
    emit: EmitEvent
    numbers: Mapping[str, int]
    recorded: frozenset[str] = frozenset()
    tests: TestOutcomes | None = None
    owners: dict[tuple[str, str], str] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    async def emit_source(self, source: _Source) -> None:
        """Emit the events in files that are read together.

        Raises:
            ImportFailed: one can't be read, or holds a suite of another file: later runs could mix them up.
        """
        # Test runs of deepeval are one suite, so their files are read as one.
        (first, name), *others = ((path, self._name(path)) for path in source.paths)
        form, more = source.format, tuple(partial(_open_result_file, *each, self.files.identity) for each in others)
        notes: list[str] = []
        with _open_result_file(first, name, self.files.identity) as file:
            alone = self.numbers[form] == 1
            events = self.files.read(
                form,
                file,
                name=name,
                alone=alone,
                more=more,
                scores=source.scores,
                columns=source.columns,
                recorded=self.recorded,
                notes=notes,
                tests=self.tests,
            )
            has_more = True
            while has_more:
                # In a thread, since logs are tailed at the same time.
                batch, failure = await anyio.to_thread.run_sync(_next_batch, events)
                for event in batch:
                    if isinstance(event, SuiteStarted):
                        self._check_suite(event, form, name)
                if any(map(is_failure, batch)):
                    self.failed.add(form)
                if selected := [event for event in batch if matches_filters(event.suite, self.files.suites)]:
                    self.emit(EventsReceived(self.files.launch.name, f"{form}:{name}", selected))
                while notes:
                    self.emit(Notice(self.files.launch.name, f"{name:.300}: {notes.pop(0)}"))
                if failure is not None:
                    raise failure
                has_more = bool(batch)

    def _name(self, path: Path) -> str:
        folder = self.files.launch.cwd
        return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

    def _check_suite(self, started: SuiteStarted, form: str, name: str) -> None:
        if not matches_filters(started.suite, self.files.suites):
            self.emit(Filtered(self.files.launch.name, started.suite))
            return
        label = suite_label(started.suite, started.params)
        if (owner := self.owners.setdefault((form, label), name)) != name:
            raise ImportFailed(
                f"{name!r:.300} and {owner!r:.300} both hold a suite {label!r:.200}",
                advice="Give the suites or the files different names that stay the same in every run, without a date.",
            )


def _next_batch(events: Iterator[Event]) -> tuple[list[Event], ImportFailed | None]:
    """The next events, and the failure that ended them: events before a failure count."""
    batch: list[Event] = []
    try:
        batch.extend(islice(events, _BATCH))
    except ImportFailed as error:
        return batch, error
    return batch, None


def _describe_import(result: ResultImport) -> str:
    return f"results of {result.format} in {result.pattern!r:.200}"


def _find_files(folder: Path, result: ResultImport) -> list[Path]:
    """The files that a pattern matches; only the file of that name, if there is one."""
    # A name may have characters of a pattern, such as `results[1].xml`.
    path = folder / result.pattern
    if path.is_file():
        return [path]
    names = glob.glob(result.pattern, root_dir=folder, recursive=True)  # noqa: PTH207 - Path.glob refuses absolute ones
    return sorted(path for name in names if (path := folder / name).is_file())


def _stamp(path: Path) -> _Stamp | None:
    """None if it is not a regular file."""
    try:
        status = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    # The inode, too: a file that is replaced within one tick of the clock may differ in nothing else.
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _open_result_file(path: Path, name: str, identity: Identity | None) -> BinaryIO:
    """Open a file for reading.

    Raises:
        ImportFailed: it is not a regular file, or the user that ran the command could not have written it. With a
            link, that user could make scoregate read a file that only scoregate may read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ImportFailed(f"{name!r:.300} can't be read: {error.strerror}") from None
    status = os.fstat(handle)
    # A suite could name a file that the host can read and it can't, such as another user's.
    if not stat.S_ISREG(status.st_mode) or (identity is not None and not identity.could_write(handle)):
        os.close(handle)
        raise ImportFailed(f"{name!r:.300} was not written by the command, or is not a regular file")
    return os.fdopen(handle, "rb")
