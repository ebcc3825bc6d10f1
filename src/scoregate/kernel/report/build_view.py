"""Build the view of a report from a comparison and its verdict: counted, described, ordered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.flips import Flip
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.base_runs import build_earlier_runs, describe_base_runs
from scoregate.kernel.report.case_order import FailedGates
from scoregate.kernel.report.cases import (
    CasePosition,
    ErrorView,
    Snapshot,
    build_failing_cases,
    collect_cases,
    format_trace,
    sort_failing,
)
from scoregate.kernel.report.context import ReportContext, describe_start
from scoregate.kernel.report.drops import Drop, build_drops, pick_drops
from scoregate.kernel.report.failing_trials import FailingTrial, count_failing, pick_failing
from scoregate.kernel.report.heading import build_title, list_unwatched
from scoregate.kernel.report.history import build_past_runs
from scoregate.kernel.report.notices import list_notices
from scoregate.kernel.report.rows import build_rows
from scoregate.kernel.report.suites import Totals, build_paired_suites, build_suites, build_totals
from scoregate.kernel.report.text import one_line
from scoregate.kernel.report.view import BaselineView, NotableCases, ReportView, RunView, TrialReaders
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.media import join_media
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.confirmations import confirmations_of
from scoregate.kernel.types.runs.reuse import REUSED_FROM
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.sharding.partition import lacks_shard
from scoregate.kernel.types.slots import Section
from scoregate.kernel.types.text import SortKey, natural_sort_key

_MAX_TITLE = 120
_ORDER = (Conclusion.FAILED, Conclusion.UNMEASURABLE, Conclusion.PASSED)


def build_view(
    comparison: Comparison, verdict: Verdict, context: ReportContext, sections: Sequence[Section]
) -> ReportView:
    """Build everything that reports print.

    Reads the cases of the run once, those of the baseline at most once, and some inputs to find likely clusters.

    Args:
        comparison: the comparison of the run with its baseline.
        verdict: the verdict of the gate rules.
        context: where the report is read.
        sections: what features say.
    """
    run, baseline, totals = comparison.run, comparison.base, build_totals(comparison)
    context = replace(context, commit=context.commit or run.code.commit, start=describe_start(run))
    notable, errors = _build_case_views(comparison, verdict, totals, context)
    rows = build_rows(comparison, verdict)
    title = build_title(verdict, list_unwatched(rows, verdict.warnings, sections))
    return ReportView(
        context=context,
        title="; ".join(filter(None, (title, ", ".join(filter(None, (each.summary for each in sections)))))),
        verdict=verdict,
        findings=tuple(sorted(verdict.findings, key=_finding_order)),
        run=_build_run_view(run),
        base=_build_run_view(baseline) if baseline else None,
        baseline=_build_baseline_view(comparison),
        totals=totals,
        suites=tuple(build_suites(comparison, verdict)),
        rows=rows,
        confirmations=confirmations_of(run),
        notable=notable,
        errors=build_error_views(run, errors),
        notices=tuple(list_notices(comparison, verdict, context, sections)),
        models=_list_models(run),
        trials=TrialReaders(
            read=lambda: run.cases,
            read_suite=lambda index: run.suites[index].cases,
            read_base=_read_cases(baseline),
            read_media=join_media(each.read_media for each in (run, baseline) if each is not None),
        ),
        paired_suites=tuple(build_paired_suites(comparison, context)),
        history=tuple(build_past_runs(run.history, context)),
        sections=tuple(sections),
        slots=comparison.slots,
    )


def _build_baseline_view(comparison: Comparison) -> BaselineView:
    earlier = tuple(build_earlier_runs(comparison))
    return BaselineView(
        note=comparison.base_note,
        pooled=comparison.pooled,
        earlier_runs=earlier,
        runs=describe_base_runs(comparison.base, comparison.pooled, earlier) if comparison.base else "",
        gone=() if lacks_shard(comparison.run) else comparison.gone,
    )


def _read_cases(run: Run | None) -> Callable[[], Iterable[CaseResult]]:
    """The reader of a run's trials; none without a run."""
    return run.read if run is not None and run.read is not None else lambda: ()


def _list_models(run: Run) -> tuple[str, ...]:
    """The models of the run's evaluators."""
    fingerprints = (info.fingerprint for suite in run.suites for info in suite.evaluators.values())
    return tuple(sorted({known.model for known in fingerprints if known is not None and known.model}))


def _build_case_views(
    comparison: Comparison, verdict: Verdict, totals: Totals, context: ReportContext
) -> tuple[NotableCases, list[ErrorView]]:
    """The notable cases and the errors of cases, from one pass over the cases of each run."""
    run, baseline = comparison.run, comparison.base
    gates = FailedGates.from_findings(verdict.findings)
    trials = pick_failing(comparison, gates)
    drops = pick_drops(comparison, gates, failing=trials)
    shown: tuple[FailingTrial | Drop, ...] = (*trials, *drops)
    labels = tuple(suite.label for suite in run.suites)
    positions = {(each.suite, each.key) for each in shown}
    collected = collect_cases(run.cases, positions, errors=totals.with_errors, labels=labels)
    before: Mapping[CasePosition, Snapshot] = {}
    base_positions = {each.base for each in shown if each.base is not None}
    if context.show_outputs and baseline is not None and base_positions:
        before = collect_cases(baseline.cases, base_positions, errors=0, labels=()).snapshots
    failing = build_failing_cases(
        comparison, trials, snapshots=collected.snapshots, base_snapshots=before, context=context
    )
    notable = NotableCases(
        failing=tuple(sort_failing(failing, gates)),
        failing_total=totals.flips.newly_failing or count_failing(run),
        drops=tuple(build_drops(comparison, drops, collected.snapshots, before, context)),
        newly_failing=_case_keys(run, comparison.newly_failing),
        newly_passing=_case_keys(run, comparison.newly_passing),
    )
    return notable, list(collected.errors)


def _finding_order(finding: Finding) -> tuple[int, SortKey]:
    """The worst first, then those of the run, then by suite."""
    return _ORDER.index(finding.conclusion), natural_sort_key(finding.suite) if finding.suite is not None else ()


def _build_run_view(run: Run) -> RunView:
    return RunView(
        id=run.id,
        name=run.name,
        message=one_line(run.code.message or "", _MAX_TITLE) or None,
        commit=run.code.commit,
        branch=run.code.branch,
        started=run.started,
        finished=run.end.finished,
        version=run.code.version,
        attempt=run.end.attempt,
        dirty=run.code.dirty,
        complete=run.end.complete,
        reused_from=run.slots.get(REUSED_FROM),
        selection=run.scope.selection,
    )


def _case_keys(run: Run, flips: Iterable[Flip]) -> tuple[tuple[str, CaseKey], ...]:
    return tuple((run.suites[flip.suite].label, run.suites[flip.suite].columns.key(flip.row)) for flip in flips)


def build_error_views(run: Run, case_errors: Iterable[ErrorView]) -> tuple[ErrorView, ...]:
    """All errors of a run: of scripts, of suites, then of cases with the most frequent first."""
    views = [_error_view(script.name, script.error) for script in run.scripts if script.error is not None]
    views += [_error_view(suite.label, error) for suite in run.suites for error in suite.errors]
    return (*views, *sorted(case_errors, key=_error_order))


def _error_order(error: ErrorView) -> tuple[int, str, str, str, str]:
    """The most frequent first. Cases finish in any order, so equal counts are in the order of their texts."""
    return -error.trials, error.where, error.evaluator or "", error.type, error.message


def _error_view(where: str, error: ErrorInfo) -> ErrorView:
    message = one_line(error.message, 200)
    return ErrorView(where, None, error.type, message, error.advice, trials=0, trace=format_trace(error), gated=True)
