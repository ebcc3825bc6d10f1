"""Read a run back: report what is damaged, keep what can be read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive.cases import parse_cases
from scoregate.kernel.judge.archive.cases_file import UNREADABLE, CasesFile, Lines, with_cases
from scoregate.kernel.judge.archive.columns_file import read_columns
from scoregate.kernel.judge.archive.folder import CASES_FILE, COPIES, RUN_FILE, list_companions, run_folder
from scoregate.kernel.judge.archive.marker import IN_PROGRESS, read_marker
from scoregate.kernel.judge.archive.media import MEDIA_FOLDER, MediaFolder
from scoregate.kernel.judge.archive.run_json import MOST_EVALUATORS, RUN_FIELDS, SUITE_FIELDS, RunHead, read_head
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import STATUSES, CaseKey, CaseResult
from scoregate.kernel.types.runs.evidence import TrialRole, Trials, list_sources
from scoregate.kernel.types.runs.reducer import add_undeclared
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.slots import Slots

_MOST_EVALUATORS_PER_SUITE = 1_000
KILLED = "the last run didn't finish: its process was killed"
CUT_SHORT = "scoregate was stopped after the suites had run, before everything was compared and reported"


@dataclass(slots=True)
class _SuiteCases:
    columns: Columns = field(default_factory=Columns)
    keys: set[CaseKey] = field(default_factory=set)
    repeated: int = 0


@dataclass(slots=True)
class _CasesReader:
    """Collects the columns of the suites and the damage while the cases file is read."""

    suites: list[_SuiteCases]
    visit: Callable[[CaseResult], None] | None = None
    crc32: int = 0
    evaluators: int = 0
    invalid: int = 0
    first_invalid: str = ""
    cut: str | None = None

    def take(self, batch: Lines) -> Iterator[int]:
        """Add the cases in some lines; yields the numbers of lines without a case, or with a repeated one."""
        self.crc32 = zlib.crc32(batch.data, self.crc32)
        for number, case in enumerate(parse_cases(batch.lines), batch.first):
            if not self._add(number, case):
                yield number

    def _add(self, number: int, case: CaseResult | ValueError) -> bool:
        try:
            if isinstance(case, ValueError):
                raise case
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
        if self.visit is not None:
            self.visit(case)
        return True

    def _count_evaluators(self, case: CaseResult) -> None:
        """Limit evaluators: each has a column as long as its suite, so memory must not depend on their number."""
        known = self.suites[case.suite].columns.scores
        if not case.errors and case.evaluations.keys() <= known.keys():
            return
        names = {*case.evaluations, *(error.evaluator for error in case.errors if error.evaluator is not None)}
        if added := len(names - known.keys()):
            self.evaluators += added
            if len(known) + added > _MOST_EVALUATORS_PER_SUITE or self.evaluators > MOST_EVALUATORS:
                raise ValueError("there are too many scorers")


def read_run(path: Path, *, strictly: bool = False, visit: Callable[[CaseResult], None] | None = None) -> Run:
    """Read a run. Its columns are loaded into memory; its cases are read from disk when they are needed.

    Args:
        path: the run's folder, the folder above it, or its `run.json`.
        strictly: whether a cases file that is cut off or lost all cases is an error, not only a notice in the run.
        visit: called with each case, for readers that would otherwise read the cases a second time.

    Raises:
        RecordError: there is no run, or it can't be read at all.
    """
    folder = run_folder(path)
    head = read_head(folder / RUN_FILE)
    try:
        cases = CasesFile.open(folder / CASES_FILE)
        columns = _load_columns(folder, head) if visit is None else None
        reading = columns or _read_cases(cases, len(head.suites), visit)
    except OSError as error:
        raise RecordError(
            f"{folder / CASES_FILE} can't be read: {error.strerror}",
            advice=f"A run is a folder; keep {RUN_FILE} and {CASES_FILE} together.",
        ) from None
    if folder.name.startswith(IN_PROGRESS):
        reading.cut = None  # it has no end yet
    if strictly and (reading.cut or 0 < head.cases <= _count_missing(head, reading)):
        damage = "; ".join(_damage_notices(head, reading))
        raise RecordError(f"{folder / CASES_FILE} is damaged: {damage}", advice="Run it again, or name another run.")
    media = MediaFolder(folder / MEDIA_FOLDER)
    run = with_cases(_make_run(head, reading), cases)
    run = replace(run, read_media=media.read)
    run = add_companions(run, folder, strictly=strictly)
    if folder.name.startswith(IN_PROGRESS):
        return run.interrupt(f"{KILLED}; {_count_finished(run)} had finished")
    # The process was killed after its suites had run, while it ran the baseline, compared or reported.
    marker = read_marker(folder)
    cut_short = marker is not None and not marker.alive and marker.started <= head.started
    return run.interrupt(CUT_SHORT) if cut_short else run


def add_companions(run: Run, folder: Path, *, strictly: bool = False) -> Run:
    """The run with those that were measured next to it, or earlier, whose folders are in a folder.

    Args:
        run: the run.
        folder: the folder of the run, or that in which it was written when its process was killed.
        strictly: as for `read_run`.

    Raises:
        RecordError: one that was measured next to it can't be read.
    """
    for role, companion in list_companions(folder):
        if role in COPIES:
            run = _add_earlier(run, role, companion)
        elif (companion / RUN_FILE).is_file():
            run = run.add_companion(role, read_run(companion, strictly=strictly))
    return run


def _add_earlier(run: Run, role: TrialRole, folder: Path) -> Run:
    """The run with the copy of an attempt or a push; without it, or if it is damaged, the run can't be measured."""
    try:
        earlier = read_run(folder, strictly=True)
        damage = earlier.notices[len(read_head(folder / RUN_FILE).notices) :]
    except RecordError as error:
        damage = (error.message,)
    if damage:
        return run.interrupt(f"the copy of an earlier run in {folder.name} is damaged: {damage[0]}")
    return run.add_companion(role, earlier)


def _count_finished(run: Run) -> str:
    finished = sum(len(suite.columns) for suite in run.suites)
    planned = [suite.planned for suite in run.suites]
    of = "" if None in planned or not planned else f" of {sum(number or 0 for number in planned):,}"
    return f"{finished:,}{of} cases"


def _load_columns(folder: Path, head: RunHead) -> _CasesReader | None:
    """The columns of a large run from their own file, if it has one that belongs to its cases."""
    columns = read_columns(folder, len(head.suites), head.crc32)
    return None if columns is None else _CasesReader([_SuiteCases(each) for each in columns], crc32=head.crc32 or 0)


def _read_cases(cases: CasesFile, suites: int, visit: Callable[[CaseResult], None] | None) -> _CasesReader:
    reading = _CasesReader([_SuiteCases() for _ in range(suites)], visit)
    try:
        for lines in cases.lines():
            cases.skipped.update(reading.take(lines))
    except UNREADABLE as error:
        reading.cut = str(error) or type(error).__name__
    return reading


def _make_run(head: RunHead, reading: _CasesReader) -> Run:
    suites = []
    for suite_head, cases in zip(head.suites, reading.suites, strict=True):
        known = {name: getattr(suite_head, name) for name in SUITE_FIELDS}
        known["evaluators"] = add_undeclared(suite_head.evaluators, cases.columns)
        known["complete"] = suite_head.complete and len(cases.columns) == suite_head.cases
        trials = Trials(cases.columns, list_sources(carried=suite_head.carried, kept=suite_head.kept))
        suites.append(SuiteResult(**known, trials=trials))
    notices = tuple(f"{CASES_FILE}: {notice}" for notice in _damage_notices(head, reading))
    known = {name: getattr(head, name) for name in RUN_FIELDS}
    run = Run(**known, suites=tuple(suites), slots=Slots(head.slots))
    return run.interrupt(*notices) if notices else run


def _count_missing(head: RunHead, reading: _CasesReader) -> int:
    return head.cases - sum(len(suite.columns) + suite.repeated for suite in reading.suites)


def _find_miscounted_suite(head: RunHead, reading: _CasesReader) -> str:
    """The first suite whose statuses differ from the counts in the head; empty if there is none."""
    for suite, cases in zip(head.suites, reading.suites, strict=True):
        counts = {status.value: count for status in STATUSES if (count := cases.columns.count(status))}
        if suite.statuses and {name: count for name, count in suite.statuses.items() if count} != counts:
            return suite.label
    return ""


def _damage_notices(head: RunHead, reading: _CasesReader) -> Iterator[str]:
    if reading.cut:
        yield f"it is cut off or damaged ({reading.cut})"
    if reading.invalid:
        yield f"{reading.invalid} lines are not valid cases; the first is {reading.first_invalid}"
    if repeated := sum(suite.repeated for suite in reading.suites):
        yield f"{repeated} cases appear twice; the first one of each counts"
    is_counted = head.crc32 is not None or head.cases > 0  # the head of an unfinished run has no counts
    if (lost := _count_missing(head, reading)) > 0:
        yield f"{lost} of {head.cases} cases are missing"
    elif lost < 0 and is_counted:
        yield f"it has {-lost} more cases than {RUN_FILE} counts"
    elif lost >= 0 and not reading.invalid and (changed := _find_miscounted_suite(head, reading)):
        yield f"the numbers of cases that passed, failed or have errors differ from {RUN_FILE}: {changed}"
    if head.crc32 not in (None, reading.crc32) and not reading.cut:
        yield f"it has changed since {RUN_FILE} was written"
