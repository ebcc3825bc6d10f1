"""Cases that failed on one side of a comparison and passed on the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import STATUSES, Status
from scoregate.kernel.types.runs.evidence import TrialOrigin, Use
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.text import case_sort_key


@record
class Flip:
    """A case that failed on one side and passed on the other.

    Attributes:
        suite: the index of the suite in the run.
        row: the row of the case in the run's columns; for a repeated case the trial with this status and the lowest
            number.
        base_suite: the index of the suite in the baseline.
        base_row: the row of the case in the baseline's columns.
    """

    suite: int
    row: int
    base_suite: int
    base_row: int


def find_flips(run: Run, base: Run, pairs: Iterable[tuple[int, int]], *, to: Status) -> Iterator[Flip]:
    """Find the cases that flipped, by name. A repeated case counts once: it fails if more of its trials fail than pass.

    With trials of earlier attempts, it fails if as many fail as pass: one lucky attempt clears no case.

    Args:
        run: the run.
        base: the baseline.
        pairs: the indices of suites that belong together, in the run and in the baseline.
        to: the status in the run, failed or passed; in the baseline it is the other one.
    """
    base_status = Status.PASSED if to is Status.FAILED else Status.FAILED
    for index, base_index in pairs:
        outcomes, base_outcomes = _pair_outcomes(run.suites[index], base.suites[base_index])
        base_rows = base_outcomes.find_cases(base_status)
        if to is Status.FAILED:
            base_rows = _find_passed_groups(base.suites[base_index]) | base_rows
        origins = {source.origin for source in run.suites[index].trials.sources}
        rows = outcomes.find_cases(to, least=0 if to is Status.FAILED and TrialOrigin.ATTEMPT in origins else 1)
        for case in sorted(rows.keys() & base_rows.keys(), key=lambda case: (case_sort_key(case), case)):
            yield Flip(index, rows[case], base_index, base_rows[case])


# A test with subtests is not a case of an imported file unless it fails by itself.
_GO_SUBTEST = re.compile(r"(.*::)?(Test|Fuzz|Example|Benchmark)(?![a-z]).*/", re.DOTALL)
_DEEPEST_SUBTEST = 20


def _find_passed_groups(suite: SuiteResult) -> dict[str, int]:
    """The tests of Go that passed with all their subtests, each with the row of its first subtest."""
    if suite.sdk != "junit":
        return {}
    groups, others = dict[str, int](), set(suite.columns.hashes)
    for row, case in enumerate(suite.columns.hashes):
        if _GO_SUBTEST.match(case):
            parts = case.split("/")[:_DEEPEST_SUBTEST]
            parents = ["/".join(parts[:end]) for end in range(1, len(parts))]
            if suite.columns.status(row) in (Status.FAILED, Status.ERRORED):
                others.update(parents)
            for parent in parents:
                groups.setdefault(parent, row)
    return {group: row for group, row in groups.items() if group not in others}


def pair_pass_rates(run: Run, base: Run, pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[float, float]]:
    """The pass rates of each case in the run and in the baseline, over its trials that passed or failed.

    Args:
        run: the run. Cases with a trial that is no evidence are left out.
        base: the baseline.
        pairs: the indices of suites that belong together, in the run and in the baseline.
    """
    for index, base_index in pairs:
        suite = run.suites[index]
        rates, base_rates = (side.pass_rates() for side in _pair_outcomes(suite, base.suites[base_index]))
        for row in suite.evidence.rows_without(Use.PASS_RATE):
            rates.pop(suite.columns.hashes[row], None)
        yield from ((rate, base_rates[case]) for case, rate in rates.items() if case in base_rates)


def _pair_outcomes(new: SuiteResult, baseline: SuiteResult) -> tuple[_Outcomes, _Outcomes]:
    changed = find_changed_evaluators(new, baseline)
    return _Outcomes(new.columns, changed), _Outcomes(baseline.columns, changed)


def find_changed_evaluators(new: SuiteResult, baseline: SuiteResult) -> set[str]:
    """The evaluators that differ in the baseline, or that only one side has."""
    shared = new.evaluators.keys() & baseline.evaluators.keys()
    changed = {name for name in shared if describe_fingerprint_change(new.evaluators[name], baseline.evaluators[name])}
    return changed | (new.evaluators.keys() ^ baseline.evaluators.keys())


class _Outcomes:
    """The trials of a suite that passed or failed, without the evaluators that changed."""

    def __init__(self, columns: Columns, changed: set[str]) -> None:
        self._columns = columns
        failures = (rows for name, rows in columns.failed.items() if name in changed)
        comparable_failures = (rows for name, rows in columns.failed.items() if name not in changed)
        # trials that failed only in evaluators that changed
        self._ignored = set[int]().union(*failures) - set[int]().union(*comparable_failures)

    def find_cases(self, status: Status, *, least: int = 1) -> dict[str, int]:
        """The cases with more trials in this status (passed or failed) than in the other, each with a row of them.

        Trials finish in any order, so the row is that of the lowest number.

        Args:
            status: the status.
            least: how many more there are at least.
        """
        repeats = self._columns.repeats
        lead: dict[str, int] = {}
        first: dict[str, int] = {}
        for row, case, outcome in self._trials():
            lead[case] = lead.get(case, 0) + (1 if outcome is status else -1)
            if outcome is status and (case not in first or repeats[row] < repeats[first[case]]):
                first[case] = row
        return {case: row for case, row in first.items() if lead[case] >= least}

    def pass_rates(self) -> dict[str, float]:
        """The pass rate of each case, in [0, 1]."""
        passed, total = Counter[str](), Counter[str]()
        for _, case, outcome in self._trials():
            total[case] += 1
            passed[case] += outcome is Status.PASSED
        return {case: passed[case] / count for case, count in total.items()}

    def _trials(self) -> Iterator[tuple[int, str, Status]]:
        verdicts = {STATUSES.index(status): status for status in (Status.PASSED, Status.FAILED)}
        if not any(map(self._columns.count, verdicts.values())):
            return
        for row, (case, code) in enumerate(zip(self._columns.hashes, self._columns.statuses, strict=True)):
            if code in verdicts and row not in self._ignored:
                yield row, case, verdicts[code]
