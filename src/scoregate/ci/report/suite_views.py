"""The suites of a run: how many cases pass, what they took, what went wrong with the suite itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from scoregate.ci.report import numbers
from scoregate.ci.report.row_views import State, by_suite
from scoregate.ci.report.spending import Spend, SpendText, spend, spend_text, total
from scoregate.core.case import Status
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict
from scoregate.core.history import Took
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Label, Row
from scoregate.core.rules import Conclusion, Finding


@dataclass(frozen=True, slots=True)
class SuiteView:
    """One suite. `index` is its place within the run; counts are of trials; `time_s` sums what the trials took.
    `reused` trials were measured by an earlier run.

    `moved` names what of latency, tokens and cost differs from the base by more than noise; `past` is what it came to
    in the runs before this one, empty where none are known.
    """

    index: int
    id: str
    label: str
    state: State
    file: str | None
    line: int | None
    evaluators: tuple[str, ...]
    trials: int
    planned: int | None
    passed: int
    failed: int
    errored: int
    scored: int
    unscored: int
    complete: bool
    duration_s: float | None
    time_s: float
    passes: str
    spend: Spend
    base_spend: Spend | None
    spend_text: SpendText
    reused: int = 0
    moved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    past: tuple[Took | None, ...] = ()


_STATES = {Conclusion.FAILED: State.FAILED, Conclusion.UNMEASURABLE: State.UNMEASURABLE}  # the worse first


def suite_views(comparison: Comparison, verdict: Verdict) -> tuple[SuiteView, ...]:
    """Every suite, in the order of the run."""
    base = comparison.base
    pairs = {new: base.suites[old] for new, old in comparison.pairs} if base else {}
    findings, moved = by_suite(verdict), _moved(comparison)
    return tuple(
        replace(
            _view(at, suite, pairs.get(at), comparison.quantities, state=_state(findings.get(suite.label, ()))),
            moved=moved.get(suite.label, ()),
            past=comparison.run.history.of(suite.label).took,
        )
        for at, suite in enumerate(comparison.run.suites)
    )


def _moved(comparison: Comparison) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in comparison.quantities:
        if row.label in (Label.BETTER, Label.WORSE):
            found[row.suite] = (*found.get(row.suite, ()), str(row.measure))
    return found


def _view(
    index: int, suite: SuiteResult, base: SuiteResult | None, quantities: Iterable[Row], *, state: State
) -> SuiteView:
    columns, origin = suite.columns, suite.origin
    now, before = spend(suite), spend(base) if base else None
    return SuiteView(
        index=index,
        id=suite.id,
        label=suite.label,
        state=state,
        file=origin.file if origin else None,
        line=origin.line if origin else None,
        evaluators=tuple(suite.evaluators),
        trials=len(columns),
        planned=suite.planned,
        passed=columns.count(Status.PASSED),
        failed=columns.count(Status.FAILED),
        errored=columns.count(Status.ERRORED),
        scored=columns.count(Status.SCORED),
        unscored=columns.count(Status.UNSCORED),
        complete=suite.complete,
        duration_s=suite.duration_s,
        time_s=(total(columns.durations_ms) or 0.0) / 1000,
        passes=_passes(suite),
        spend=now,
        base_spend=before,
        spend_text=spend_text(now, before, (row for row in quantities if row.suite == suite.label)),
        reused=len(suite.columns.reused),
        problems=tuple(f"{error.type}: {error.message}\n{error.traceback}".rstrip() for error in suite.errors),
    )


def _passes(suite: SuiteResult) -> str:
    passed, failed = suite.columns.count(Status.PASSED), suite.columns.count(Status.FAILED)
    if not passed + failed:
        return numbers.NONE
    return f"{passed:,} of {passed + failed:,} ({numbers.percent(passed / (passed + failed))})"


def _state(findings: Iterable[Finding]) -> State:
    found = {finding.conclusion for finding in findings}
    return next((state for conclusion, state in _STATES.items() if conclusion in found), State.HELD)
