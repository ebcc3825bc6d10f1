"""Read a run back; what is damaged is told, what can be read is kept."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from scoregate.ci.archive.cases import UNREADABLE, CasesFile, with_cases
from scoregate.ci.archive.folder import CASES_FILE, EXTRA, RUN_FILE, run_folder
from scoregate.ci.archive.head import MOST_EVALUATORS, RUN_FIELDS, SUITE_FIELDS, RunHead, SuiteHead, read_head
from scoregate.ci.archive.lines import case_of
from scoregate.ci.archive.marker import IN_PROGRESS, read_marker
from scoregate.core.case import STATUSES, CaseKey, CaseResult
from scoregate.core.columns import Columns
from scoregate.core.fold import with_undeclared
from scoregate.core.record import Run, SuiteResult
from scoregate.errors import RecordError

_MOST_OF_A_SUITE = 1_000
KILLED = "the last run didn't finish: its process was killed"
CUT_SHORT = "scoregate was stopped after the suites had run, before everything was compared and reported"


@dataclass(slots=True)
class _Suite:
    columns: Columns = field(default_factory=Columns)
    keys: set[CaseKey] = field(default_factory=set)
    repeated: int = 0


@dataclass(slots=True)
class _Reading:
    """One pass over the cases file, and what was wrong with it."""

    suites: list[_Suite]
    crc32: int = 0
    evaluators: int = 0
    invalid: int = 0
    first_invalid: str = ""
    cut: str | None = None

    def take(self, number: int, line: bytes) -> bool:
        """Take in a line; False where it holds no case or one that was there already."""
        self.crc32 = zlib.crc32(line, self.crc32)
        try:
            case = case_of(line)
            if not 0 <= case.suite < len(self.suites):
                raise ValueError(f"there is no suite {case.suite}")
            self._count_evaluators(case)
        except ValueError as error:
            self.invalid += 1
            self.first_invalid = self.first_invalid or f"line {number}: {error}"
            return False
        suite, key = self.suites[case.suite], case.key
        if key in suite.keys:
            suite.repeated += 1
            return False
        suite.keys.add(key)
        suite.columns.add(case)
        return True

    def _count_evaluators(self, case: CaseResult) -> None:
        """Each has a column as long as its suite, so that there must not be as many as cases."""
        known = self.suites[case.suite].columns.scores
        if not case.errors and case.evaluations.keys() <= known.keys():
            return
        named = {*case.evaluations, *(error.evaluator for error in case.errors if error.evaluator is not None)}
        if fresh := len(named - known.keys()):
            self.evaluators += fresh
            if len(known) + fresh > _MOST_OF_A_SUITE or self.evaluators > MOST_EVALUATORS:
                raise ValueError("there are too many evaluators")


def read_run(path: Path, *, strictly: bool = False) -> Run:
    """Read a run; its columns come into memory, its cases are read from disk when asked for.

    Args:
        path: the run's folder, the folder above it, or its `run.json`.
        strictly: cases that are cut off or all lost are an error, and not only a notice in the run.

    Raises:
        RecordError: there is no run, or one that cannot be read at all.
    """
    folder = run_folder(path)
    head = read_head(folder / RUN_FILE)
    try:
        cases = CasesFile(folder / CASES_FILE)
        reading = _read(cases, len(head.suites))
    except OSError as error:
        raise RecordError(
            f"{folder / CASES_FILE} cannot be read: {error.strerror}",
            advice=f"A run is a folder; keep {RUN_FILE} and {CASES_FILE} together.",
        ) from None
    if folder.name.startswith(IN_PROGRESS):
        reading.cut = None  # it has no end yet
    if strictly and (reading.cut or 0 < head.cases <= _lost(head, reading)):
        told = "; ".join(_notices(head, reading))
        raise RecordError(f"{folder / CASES_FILE} is damaged: {told}", advice="Make the run anew, or name another.")
    found = (extra for extra in sorted(folder.glob(f"{EXTRA}*")) if (extra / RUN_FILE).is_file())
    extras = tuple(read_run(extra, strictly=strictly) for extra in found)
    run = replace(with_cases(_run(head, reading), cases), extras=extras)
    if folder.name.startswith(IN_PROGRESS):
        return replace(run, complete=False, notices=(*run.notices, KILLED))
    return replace(run, complete=False, notices=(*run.notices, CUT_SHORT)) if _is_cut_short(folder, head) else run


def _is_cut_short(folder: Path, head: RunHead) -> bool:
    """Whether the process that made the run was killed after its suites: before a base, or before it was judged."""
    marker = read_marker(folder)
    return marker is not None and not marker.alive and marker.started <= head.started


def _read(cases: CasesFile, suites: int) -> _Reading:
    reading = _Reading([_Suite() for _ in range(suites)])
    try:
        for number, line in enumerate(cases.lines(), 1):
            if not reading.take(number, line):
                cases.skipped.add(number)
    except UNREADABLE as error:
        reading.cut = str(error) or type(error).__name__
    return reading


def _run(head: RunHead, reading: _Reading) -> Run:
    suites = tuple(_suite(*pair) for pair in zip(head.suites, reading.suites, strict=True))
    notices = tuple(f"{CASES_FILE}: {notice}" for notice in _notices(head, reading))
    run = Run(**{name: getattr(head, name) for name in RUN_FIELDS}, suites=suites)
    return replace(run, complete=head.complete and not notices, notices=(*head.notices, *notices))


def _suite(head: SuiteHead, read: _Suite) -> SuiteResult:
    suite = SuiteResult(**{name: getattr(head, name) for name in SUITE_FIELDS}, columns=read.columns)
    return replace(
        suite,
        evaluators=with_undeclared(head.evaluators, read.columns),
        complete=head.complete and len(read.columns) == head.cases,
    )


def _lost(head: RunHead, reading: _Reading) -> int:
    return head.cases - sum(len(suite.columns) + suite.repeated for suite in reading.suites)


def _miscounted(head: RunHead, reading: _Reading) -> str:
    """The first suite whose statuses are other ones than the head counts; empty where there is none."""
    for suite, read in zip(head.suites, reading.suites, strict=True):
        found = {status.value: read.columns.count(status) for status in STATUSES}
        if suite.statuses and {name: count for name, count in suite.statuses.items() if count} != {
            name: count for name, count in found.items() if count
        }:
            return suite.label
    return ""


def _notices(head: RunHead, reading: _Reading) -> Iterator[str]:
    if reading.cut:
        yield f"it is cut off or damaged ({reading.cut})"
    if reading.invalid:
        yield f"{reading.invalid} of its lines hold no case, the first is {reading.first_invalid}"
    if repeated := sum(suite.repeated for suite in reading.suites):
        yield f"{repeated} cases are there twice; the first of each counts"
    if (lost := _lost(head, reading)) > 0:
        yield f"{lost} of {head.cases} cases are missing"
    elif lost < 0:
        yield f"it has {-lost} cases more than {RUN_FILE} counts"
    elif not reading.invalid and (changed := _miscounted(head, reading)):
        yield f"how many cases passed, failed or erred differs from {RUN_FILE}: {changed}"
    if head.crc32 not in (None, reading.crc32) and not reading.cut:
        yield f"it is not as it was when {RUN_FILE} was written"
