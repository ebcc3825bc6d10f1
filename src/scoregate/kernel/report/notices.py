"""The notices of a report: sentences about the run and its baseline, and those of features at their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregate.kernel.compare.cluster_hints import describe_cluster_hints
from scoregate.kernel.compare.comparison import Comparison, count_positional_cases
from scoregate.kernel.compare.evaluator_changes import EvaluatorChangeKind
from scoregate.kernel.gate import Verdict
from scoregate.kernel.judge.archive import CASES_FILE
from scoregate.kernel.report.base_runs import describe_movement
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.text import shorten_list
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.sharding.partition import lacks_shard
from scoregate.kernel.types.slots import Place, Section, list_sentences
from scoregate.kernel.types.text import natural_sort_key


def list_notices(
    comparison: Comparison, verdict: Verdict, context: ReportContext, sections: Sequence[Section]
) -> Iterator[str]:
    """All notices, which hold untrusted names. Without a baseline, the first one says what to expect."""
    if comparison.base is None:
        yield from _run_notices(comparison, context, sections)
        yield from _gate_notices(verdict)
    else:
        for each in verdict.evaluator_changes:  # other changes are shown by their rows
            if each.change is EvaluatorChangeKind.LOWERED:
                suite = comparison.run.suites[each.suite].label
                yield f"{suite}, {each.evaluator}: {each.what} compared with the baseline."
        yield from _gate_notices(verdict)
        yield from _run_notices(comparison, context, sections)
    yield from list_sentences(sections, Place.END)


def _gate_notices(verdict: Verdict) -> Iterator[str]:
    suites: dict[tuple[str, str], list[str]] = {}
    for each in verdict.left_out:
        suites.setdefault((each.title, each.value), []).append(each.suite or "")
    for (title, reason), labels in suites.items():
        yield f"{title} of {shorten_list(sorted(labels, key=natural_sort_key))} is not applied: {reason}."
    if ungated := describe_ungated(verdict):
        yield ungated


def describe_ungated(verdict: Verdict) -> str:
    """In which suites nothing can fail, without those that have a finding of their own; empty for none."""
    reported = {finding.suite for finding in verdict.failed}
    names = shorten_list(sorted(set(verdict.ungated) - reported, key=natural_sort_key))
    return names and f"{names}: nothing here can fail. No score has a threshold, and no limit or relative gate is set."


def _run_notices(comparison: Comparison, context: ReportContext, sections: Sequence[Section]) -> Iterator[str]:
    """Sentences about the run and its baseline, the most important first."""
    run = comparison.run
    yield from list_sentences(sections, Place.VERDICT)
    if not (run.suites or run.scripts or run.scope.filters or run.scope.skipped or run.scope.left_out):
        yield "No suites were found. `scoregate init` creates one."
    yield from list_sentences(sections, Place.BASELINE)
    yield from _baseline_notices(comparison, context)
    if run.scope.selection:
        yield f"Only a part of the project ran ({run.scope.selection}). It is not a baseline for other runs."
    if run.code.dirty:
        yield "The run has uncommitted changes."
    if (filtered := len(comparison.gone) - len(comparison.unexcused_missing_suites)) and run.scope.filters:
        yield f"{number_format.count(filtered, 'suite')} of the baseline skipped by a filter."
    yield from _suite_notices(comparison, context)
    yield from describe_movement(comparison)
    yield from list_sentences(sections, Place.ROWS)
    yield from describe_cluster_hints(comparison)
    # Files of other frameworks never have their evaluators' code.
    imported = {suite.label for suite in run.suites if suite.setup is not None}
    unchecked = {
        row.evaluator for row in comparison.rows if row.pairs.n and not row.checked and row.suite not in imported
    }
    if unchecked:
        yield f"Could not check whether these scorers changed: {shorten_list(sorted(unchecked))}."
    yield from list_sentences(sections, Place.PARTS)
    yield from list_sentences(sections, Place.COSTS)
    yield from run.notices


def _baseline_notices(comparison: Comparison, context: ReportContext) -> Iterator[str]:
    """Why there is no baseline, or what is damaged in it; nothing if no baseline was requested."""
    note, baseline = comparison.base_note, comparison.base
    if baseline is not None:
        if comparison.has_implicit_base:
            note = note.replace("stored run", "the previous run", 1)
            failures = _describe_failures(baseline)
            yield (
                f"Compared with {note}{failures}."
                " --baseline none compares this run with nothing, and the next ones with it."
            )
            if comparison.gone and not (comparison.run.scope.selection or comparison.run.scope.filters):
                yield f"Not in this run: {shorten_list(comparison.gone)}."
        if comparison.gone and lacks_shard(comparison.run):
            yield f"Suites of the baseline that may be in a missing shard: {shorten_list(comparison.gone)}."
        damage = [notice for notice in baseline.notices if notice.startswith(CASES_FILE)]
        yield from (f"Baseline: {notice}." for notice in damage)
        if not baseline.end.complete:
            state = "is damaged" if damage else "did not finish"
            yield f"The baseline run {state}. Missing parts are not compared."
    elif comparison.base_unreadable:
        yield f"The baseline could not be read ({note}). Only limits that need no baseline were applied."
    elif note and not (context.run or context.base_branch):
        yield f"Not compared: {note}."
    elif note:
        text = f"There is no baseline yet ({note}). Only limits that need no baseline were applied."
        yield f"{text} The next run on {context.base_branch} creates one." if context.base_branch else text


def _describe_failures(previous: Run) -> str:
    """What was wrong in the previous run: a score that fell in it doesn't fall again. Empty if nothing was."""
    failed, errored = (
        sum(suite.columns.count(status) for suite in previous.suites) for status in (Status.FAILED, Status.ERRORED)
    )
    parts = [f"{number_format.count(failed, 'trial')} failed"] if failed else []
    parts += [f"{number_format.count(errored, 'trial')} had an error"] if errored else []
    return f", in which {' and '.join(parts)}" if parts else ""


_REDEFINED = "changed in definition"


def _suite_notices(comparison: Comparison, context: ReportContext) -> Iterator[str]:
    """Waiting reviews, scores without a scale and changed cases. Every compared row of a suite has the same changes."""
    changes: dict[str, str] = {}
    setup_changes = {row.suite: row.setup_change for row in comparison.rows if row.setup_change}
    positional = count_positional_cases(comparison)
    for row in comparison.rows:
        counts = {
            "added": row.cases.added,
            "removed": 0 if comparison.run.scope.selection else row.cases.removed,
            _REDEFINED: row.cases.changed,
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
            names = shorten_list(unscaled)
            yield f"{suite.label}: scores of {names} are outside [0, 1]. Set `scale` or `ignore` in [evaluators]."
        if suite_change := changes.get(suite.label):
            old = ", changed ones with their old version" if _REDEFINED in suite_change else ""
            yield f"{suite.label}: {suite_change} since the baseline. Only cases of both runs are compared{old}."
