"""Build the view of a report from a comparison and its verdict: counted, described, ordered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from scoregate.ci.archive import CASES_FILE
from scoregate.ci.report import number_format
from scoregate.ci.report.arms import build_arms
from scoregate.ci.report.base_runs import build_earlier_runs, describe_base_runs, describe_movement
from scoregate.ci.report.cases import (
    CasePosition,
    ErrorView,
    FailingCase,
    Snapshot,
    build_failing_cases,
    collect_cases,
    format_trace,
    sort_failing,
)
from scoregate.ci.report.context import ReportContext
from scoregate.ci.report.drops import Drop, DropView, build_drops, pick_drops
from scoregate.ci.report.exemptions import build_exemptions, build_quarantined, describe_compared, summarize
from scoregate.ci.report.failing_trials import FailingTrial, count_failing, pick_failing
from scoregate.ci.report.heading import build_title, find_unwatched
from scoregate.ci.report.history import build_past_runs
from scoregate.ci.report.model_calls import build_calls_table
from scoregate.ci.report.rows import build_rows
from scoregate.ci.report.run_start import describe_start
from scoregate.ci.report.slices import build_slices
from scoregate.ci.report.suites import Totals, build_paired_suites, build_suites, build_totals
from scoregate.ci.report.text import one_line
from scoregate.ci.report.variants_view import build_variant_tables
from scoregate.ci.report.view import ReportView, RunView
from scoregate.core.call_headers import SUITE
from scoregate.core.comparison.cluster_hints import describe_cluster_hints
from scoregate.core.comparison.comparison import Comparison, count_positional_cases
from scoregate.core.comparison.drift import DriftState
from scoregate.core.comparison.drift_rows import has_drifted
from scoregate.core.comparison.evaluator_changes import EvaluatorChangeKind
from scoregate.core.comparison.flips import Flip
from scoregate.core.event_values import ErrorInfo
from scoregate.core.gate import Verdict
from scoregate.core.gate.finding import Conclusion, Finding
from scoregate.core.media import ReadMedia
from scoregate.core.runs.cases import CaseKey, CaseResult
from scoregate.core.runs.run import Run
from scoregate.core.runs.run_costs import sum_costs
from scoregate.core.sections import Place, list_sentences
from scoregate.core.sharding.partition import lacks_shard
from scoregate.core.text import SortKey, natural_sort_key

_MAX_TITLE = 120
_MAX_NAMES = 5
_ORDER = (Conclusion.FAILED, Conclusion.UNMEASURABLE, Conclusion.PASSED)


def build_view(comparison: Comparison, verdict: Verdict, context: ReportContext) -> ReportView:
    """Build everything that reports print.

    Reads the cases of the run once, those of the baseline at most once, and some inputs to find likely clusters.
    """
    context = replace(context, commit=context.commit or comparison.run.commit)
    ungated = _describe_ungated(verdict)
    view = _build_without_exemptions(comparison, verdict, context, ungated)
    exemptions, quarantined = build_exemptions(comparison), build_quarantined(comparison.quarantined)
    title = f"{view.title}{summarize(exemptions, quarantined)}"
    earlier = tuple(build_earlier_runs(comparison))
    base_runs = describe_base_runs(comparison.base, comparison.pooled, earlier) if comparison.base else ""
    arms = tuple(build_arms(comparison.arms))
    view = replace(view, earlier_runs=earlier, base_runs=base_runs, estimate=comparison.run.estimate, arms=arms)
    media = _join_media(comparison.run, comparison.base)
    start = describe_start(comparison.run)
    view = replace(view, read_media=media, start=start, ungated_note=ungated)
    return replace(view, title=title, exemptions=exemptions, quarantined=quarantined)


def _build_without_exemptions(
    comparison: Comparison, verdict: Verdict, context: ReportContext, ungated: str
) -> ReportView:
    run, baseline, totals = comparison.run, comparison.base, build_totals(comparison)
    failing, drops, errors = _build_case_views(comparison, totals, context)
    rows, slices = build_rows(comparison, verdict), build_slices(comparison, verdict)
    return ReportView(
        context=context,
        title=build_title(verdict, find_unwatched(rows, slices, verdict.warnings)),
        conclusion=verdict.conclusion,
        exit_code=verdict.exit_code,
        run=_build_run_view(run),
        base=_build_run_view(baseline) if baseline else None,
        base_note=comparison.base_note,
        pooled=comparison.pooled,
        totals=totals,
        suites=build_suites(comparison, verdict),
        rows=rows,
        quantities=comparison.quantities,
        findings=tuple(sorted(verdict.findings, key=_finding_order)),
        warnings=verdict.warnings,
        policy_changes=verdict.policy_changes,
        confirmations=run.confirmations,
        failing=failing,
        drops=drops,
        failing_total=totals.newly_failing or count_failing(run),
        newly_failing=_case_keys(run, comparison.newly_failing),
        newly_passing=_case_keys(run, comparison.newly_passing),
        gone=() if lacks_shard(run) else comparison.gone,
        errors=build_error_views(run, errors),
        notices=tuple(_all_notices(comparison, verdict, context, ungated)),
        not_applied=(*verdict.not_applied, *(_describe_left_out(each) for each in verdict.left_out)),
        models=_list_models(run),
        cases=lambda: run.cases,
        cases_of=lambda index: run.suites[index].cases,
        base_cases=_read_cases(baseline),
        paired_suites=tuple(build_paired_suites(comparison, context)),
        history=tuple(build_past_runs(run.history, context)),
        slices=slices,
        slices_left_out=comparison.slices.left_out,
        variants=tuple(build_variant_tables(comparison.variants)),
        model_calls=build_calls_table(run, baseline),
    )


def _read_cases(run: Run | None) -> Callable[[], Iterable[CaseResult]]:
    """The reader of a run's trials; none without a run."""
    return run.read if run is not None and run.read is not None else lambda: ()


def _join_media(run: Run, baseline: Run | None) -> ReadMedia:
    """A reader of the images and audio of both runs. Equal digests are equal files."""
    readers = [each.read_media for each in (run, baseline) if each is not None and each.read_media is not None]
    return lambda digest: next((file for read in readers if (file := read(digest)) is not None), None)


def _list_models(run: Run) -> tuple[str, ...]:
    """The models of the run's evaluators."""
    fingerprints = (info.fingerprint for suite in run.suites for info in suite.evaluators.values())
    return tuple(sorted({known.model for known in fingerprints if known is not None and known.model}))


def _build_case_views(
    comparison: Comparison, totals: Totals, context: ReportContext
) -> tuple[tuple[FailingCase, ...], tuple[DropView, ...], tuple[ErrorView, ...]]:
    """The failing cases, the largest drops and the errors of cases, from one pass over the cases of each run."""
    run, baseline = comparison.run, comparison.base
    trials, drops = pick_failing(comparison), pick_drops(comparison)
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
    drop_views = tuple(build_drops(comparison, drops, collected.snapshots, before, context))
    return tuple(sort_failing(failing)), drop_views, tuple(collected.errors)


def _describe_left_out(finding: Finding) -> str:
    return f"{finding.title} of {finding.suite}: {finding.value}"


def _finding_order(finding: Finding) -> tuple[int, SortKey]:
    """The worst first, then those of the run, then by suite."""
    return _ORDER.index(finding.conclusion), natural_sort_key(finding.suite) if finding.suite is not None else ()


def _build_run_view(run: Run) -> RunView:
    return RunView(
        id=run.id,
        name=run.name,
        message=one_line(run.message or "", _MAX_TITLE) or None,
        commit=run.commit,
        branch=run.branch,
        started=run.started,
        finished=run.finished,
        version=run.version,
        attempt=run.attempt,
        dirty=run.dirty,
        complete=run.complete,
        reused_from=run.reused_from,
        selection=run.selection,
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


def _all_notices(comparison: Comparison, verdict: Verdict, context: ReportContext, ungated: str) -> Iterator[str]:
    """All notices. Without a baseline, the first one says what to expect."""
    if comparison.base is None:
        yield from build_notices(comparison, context)
        yield from _gate_notices(verdict, ungated)
        return
    for each in verdict.evaluator_changes:  # other changes are shown by their rows
        if each.change is EvaluatorChangeKind.LOWERED:
            suite = comparison.run.suites[each.suite].label
            yield f"{suite}, {each.evaluator}: {each.what} compared with the baseline."
    yield from _gate_notices(verdict, ungated)
    yield from build_notices(comparison, context)


def _gate_notices(verdict: Verdict, ungated: str) -> Iterator[str]:
    suites: dict[tuple[str, str], list[str]] = {}
    for each in verdict.left_out:
        suites.setdefault((each.title, each.value), []).append(each.suite or "")
    for (title, reason), labels in suites.items():
        yield f"{title} of {_shorten_list(sorted(labels, key=natural_sort_key))} is not applied: {reason}."
    if ungated:
        yield ungated


def _describe_ungated(verdict: Verdict) -> str:
    """In which suites nothing can fail, without those that have a finding of their own; empty for none."""
    reported = {finding.suite for finding in verdict.failed}
    names = _shorten_list(sorted(set(verdict.ungated) - reported, key=natural_sort_key))
    return names and f"{names}: nothing here can fail. No score has a threshold, and no limit or relative gate is set."


def build_notices(comparison: Comparison, context: ReportContext) -> Iterator[str]:
    """Sentences about the run and its baseline, the most important first. They hold untrusted names."""
    run = comparison.run
    yield from comparison.exemptions.notices
    if not (run.suites or run.scripts or run.filters or run.skipped or run.left_out):
        yield "No suites were found. `scoregate init` creates one."
    yield from _baseline_notices(comparison, context)
    if run.selection:
        yield f"Only a part of the project ran ({run.selection}). It is not a baseline for other runs."
    if run.dirty:
        yield "The run has uncommitted changes."
    if (filtered := len(comparison.gone) - len(comparison.unexcused_missing_suites)) and run.filters:
        yield f"{number_format.count(filtered, 'suite')} of the baseline skipped by a filter."
    yield from _suite_notices(comparison, context)
    yield from describe_movement(comparison)
    yield from describe_compared(comparison.quarantined)
    yield from _drift_notices(comparison)
    yield from describe_cluster_hints(comparison)
    # Files of other frameworks never have their evaluators' code.
    imported = {suite.label for suite in run.suites if suite.setup is not None}
    unchecked = {row.evaluator for row in comparison.rows if row.n and not row.checked and row.suite not in imported}
    if unchecked:
        yield f"Could not check whether these evaluators changed: {_shorten_list(sorted(unchecked))}."
    if empty := comparison.slices.empty:
        yield f"slices: no case has a value in {_shorten_list(empty)}, neither as a field nor in its metadata."
    models = sorted({model for suite in run.suites for model in suite.unpriced})
    if models and any(suite.cost for suite in run.suites):  # without any price there is no cost to correct
        yield f"The price of {_shorten_list(models)} is unknown and in no cost. Add it to the setting `prices`."
    yield from _usage_notices(run)
    yield from run.notices


def _drift_notices(comparison: Comparison) -> Iterator[str]:
    """Which providers moved, and why changes were not corrected although there is a control."""
    for row in comparison.rows:
        if row.drift is None or (row.drift.state is DriftState.CORRECTED and not has_drifted(row)):
            continue
        if has_drifted(row):
            shift = "nothing" if row.drift.shift is None else number_format.difference(row.drift.shift)
            cases = number_format.count(row.drift.cases, "case")
            place = f"{row.suite}, {row.evaluator}"
            yield f"Provider drift of {place}: {shift} since the base's run ({cases} of it asked again)."
            continue
        if row.drift.state is DriftState.TOO_SMALL:
            why = f"control too small: {row.drift.cases:,} of {row.drift.needed:,} cases needed"
        else:
            why = f"the drift is not measured: {row.drift.reason}"
        yield f"{row.suite}, {row.evaluator}: {why}. Nothing is corrected."
    states = [each.row.drift.state for each in comparison.slices.rows if each.row.drift is not None]
    if small := sum(state is not DriftState.CORRECTED for state in states):
        yield f"Slices: {small:,} of {len(states):,} rows have too few control cases and are not corrected for drift."


def _usage_notices(run: Run) -> Iterator[str]:
    """What the run was expected to cost, and the calls of scripts that are in no row of a suite."""
    spent = sum_costs(run)
    if run.estimate is not None and run.estimate.cost is not None and (run.estimate.has_cost or spent):
        actual = "" if spent is None else f", actual {number_format.cost(spent)}"
        yield f"Cost: estimate {number_format.cost_interval(run.estimate.cost)}{actual}."
    for script in run.scripts:
        if script.usage is not None:
            calls = number_format.count(script.usage.calls, "call")
            cost = "" if script.usage.cost is None else f" ({number_format.cost(script.usage.cost)})"
            is_shared = any(suite.script == script.name for suite in run.suites)
            why = f"Without the header {SUITE} they may be of any of its suites." if is_shared else "It ran no suite."
            yield f"Of no suite: {calls} of models{cost} by {script.name}. {why}"


def _baseline_notices(comparison: Comparison, context: ReportContext) -> Iterator[str]:
    """Why there is no baseline, or what is damaged in it; nothing if no baseline was requested."""
    yield from list_sentences(comparison.slots, Place.BASELINE)
    note, baseline = comparison.base_note, comparison.base
    if baseline is not None:
        if comparison.has_implicit_base:
            note = note.replace("stored run", "the previous run", 1)
            yield f"Compared with {note}. With --baseline none it is compared with nothing."
            if comparison.gone and not (comparison.run.selection or comparison.run.filters):
                yield f"Not in this run: {_shorten_list(comparison.gone)}."
        if comparison.gone and lacks_shard(comparison.run):
            yield f"Suites of the baseline that may be in a missing shard: {_shorten_list(comparison.gone)}."
        damage = [notice for notice in baseline.notices if notice.startswith(CASES_FILE)]
        yield from (f"Baseline: {notice}." for notice in damage)
        if not baseline.complete:
            state = "is damaged" if damage else "did not finish"
            yield f"The baseline run {state}. Missing parts are not compared."
    elif comparison.base_unreadable:
        yield f"The baseline could not be read ({note}). Only limits that need no baseline were applied."
    elif note and not (context.run or context.base_branch):
        yield f"Not compared: {note}."
    elif note:
        text = f"There is no baseline yet ({note}). Only limits that need no baseline were applied."
        yield f"{text} The next run on {context.base_branch} creates one." if context.base_branch else text


_REDEFINED = "changed in definition"


def _suite_notices(comparison: Comparison, context: ReportContext) -> Iterator[str]:
    """Waiting reviews, scores without a scale and changed cases. Every compared row of a suite has the same changes."""
    changes: dict[str, str] = {}
    setup_changes = {row.suite: row.setup_change for row in comparison.rows if row.setup_change}
    positional = count_positional_cases(comparison)
    for row in comparison.rows:
        counts = {
            "added": row.added,
            "removed": 0 if comparison.run.selection else row.removed,
            _REDEFINED: row.changed,
        }
        if any(counts.values()):
            parts = (f"{number_format.count(count, 'case')} {change}" for change, count in counts.items() if count)
            changes[row.suite] = ", ".join(parts)
    for suite in sorted(comparison.run.suites, key=lambda suite: (natural_sort_key(suite.label), suite.label)):
        if waiting := suite.columns.pending + len(suite.reviews):
            command = f": {context.command('review')}" if suite.columns.contested else ""
            yield f"{suite.label}: {number_format.count(waiting, 'evaluation')} waiting for review{command}."
        if setup_change := setup_changes.get(suite.label):
            yield f"{suite.label}, compared with the baseline: {setup_change}."
        if count := positional.get(suite.label):
            yield (
                f"{suite.label}: {number_format.count(count, 'case')} can only be paired by position, and cases were"
                " added or removed since the baseline. Pairs may be wrong: give the cases names that don't change."
            )
        if unscaled := sorted(suite.columns.unscaled):
            names = _shorten_list(unscaled)
            yield f"{suite.label}: scores of {names} are outside [0, 1]. Set `scale` or `ignore` in [evaluators]."
        if suite_change := changes.get(suite.label):
            old = ", changed ones with their old version" if _REDEFINED in suite_change else ""
            yield f"{suite.label}: {suite_change} since the baseline. Only cases of both runs are compared{old}."


def _shorten_list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMES])
    return f"{shown} and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else shown
