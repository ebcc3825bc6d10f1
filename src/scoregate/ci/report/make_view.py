"""From a comparison and its verdict to a ReportView: counted, put into words, ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scoregate.ci.report import numbers
from scoregate.ci.report.case_views import case_views, in_order
from scoregate.ci.report.context import Context
from scoregate.ci.report.error_views import error_views
from scoregate.ci.report.failing import picks
from scoregate.ci.report.harvest import harvest
from scoregate.ci.report.notices import notices
from scoregate.ci.report.past_views import past_views
from scoregate.ci.report.row_views import row_views
from scoregate.ci.report.sides import sides
from scoregate.ci.report.suite_views import suite_views
from scoregate.ci.report.text import one_line
from scoregate.ci.report.totals import totals
from scoregate.ci.report.view import ReportView, RunView
from scoregate.core.case import CaseKey
from scoregate.core.compare import Comparison
from scoregate.core.evaluator_changes import Change
from scoregate.core.flips import Flip
from scoregate.core.gate import Verdict
from scoregate.core.naming import Place, natural
from scoregate.core.record import Run
from scoregate.core.rules import Conclusion, Finding

_LONGEST_TITLE = 120
_MOST_SUITES = 5
_ORDER = (Conclusion.FAILED, Conclusion.UNMEASURABLE, Conclusion.PASSED)


def make_view(comparison: Comparison, verdict: Verdict, context: Context) -> ReportView:
    """Everything that reports print. Reads the cases of the run once, those of the base at most once."""
    run, counts, chosen = comparison.run, totals(comparison), picks(comparison)
    context = replace(context, commit=context.commit or run.commit)
    wanted = {(pick.suite, pick.key) for pick in chosen}
    labels = tuple(suite.label for suite in run.suites)
    crop = harvest(run.cases, wanted, errors=counts.with_errors, labels=labels)
    return ReportView(
        context=context,
        title=title(verdict),
        conclusion=verdict.conclusion,
        exit_code=verdict.exit_code,
        run=_run_view(run),
        base=_run_view(comparison.base) if comparison.base else None,
        base_note=comparison.base_note,
        pooled=comparison.pooled,
        totals=counts,
        suites=suite_views(comparison, verdict),
        rows=row_views(comparison, verdict),
        quantities=comparison.quantities,
        findings=tuple(sorted(verdict.findings, key=_place)),
        warnings=verdict.warnings,
        policy_changes=verdict.policy_changes,
        confirmations=run.confirmations,
        failing=tuple(in_order(case_views(comparison, chosen, shots=crop.snapshots, context=context))),
        failing_total=counts.newly_failing or counts.failed,
        newly=bool(comparison.newly_failing),
        newly_failing=_keys(run, comparison.newly_failing),
        newly_passing=_keys(run, comparison.newly_passing),
        gone=comparison.gone,
        errors=error_views(run, crop.errors.values()),
        notices=(*_lowered(run, verdict), *_ungated(verdict), *notices(comparison, context))
        if comparison.base
        else (*notices(comparison, context), *_ungated(verdict)),
        not_applied=verdict.not_applied,
        models=_models(run),
        cases=lambda: run.cases,
        cases_of=lambda index: run.suites[index].cases,
        base_cases=lambda: iter(comparison.base.cases if comparison.base else ()),
        sides=tuple(sides(comparison, context)),
        history=tuple(past_views(run.history, context)),
    )


def _lowered(run: Run, verdict: Verdict) -> Iterator[str]:
    """Other changes of evaluators are told by their rows."""
    for each in verdict.evaluator_changes:
        if each.change is Change.LOWERED:
            yield f"{run.suites[each.suite].label}, {each.evaluator}: {each.what} compared with the base."


def _ungated(verdict: Verdict) -> Iterator[str]:
    if verdict.ungated and not verdict.failed:
        shown = ", ".join(verdict.ungated[:_MOST_SUITES])
        more = len(verdict.ungated) - _MOST_SUITES
        names = f"{shown} and {more} more" if more > 0 else shown
        yield f"{names}: nothing here can fail. No score has a threshold, and no limit or relative gate is set."


def _place(finding: Finding) -> tuple[int, Place]:
    """The worst first, then those of the run, then by suite."""
    return _ORDER.index(finding.conclusion), natural(finding.suite) if finding.suite is not None else ()


def title(verdict: Verdict) -> str:
    """The verdict in a few words: `2 of 4 gates failed`; of a run that passed, also how its evaluators have changed."""
    if verdict.conclusion is not Conclusion.PASSED:
        return _outcome(verdict)
    counts = Counter(each.change for each in verdict.evaluator_changes)
    told = [f"{number:,} {change}" for change in Change if (number := counts[change])]
    return f"{_outcome(verdict)}; evaluators since the base: {', '.join(told)}" if told else _outcome(verdict)


def _outcome(verdict: Verdict) -> str:
    found = [finding.conclusion for finding in verdict.findings]
    failed, unmeasured = found.count(Conclusion.FAILED), found.count(Conclusion.UNMEASURABLE)
    gates = numbers.count(len(found), "gate")
    if failed:
        return f"{failed} of {gates} failed" + (f", {unmeasured} could not be measured" if unmeasured else "")
    if unmeasured == 1:
        return f"could not be measured: {_uncapitalised(verdict.failed[0].title)}"
    if unmeasured:
        return f"could not be measured: {unmeasured} problems"
    passed = f"{gates} passed" if found else "passed, no gate is set"
    if verdict.not_applied:
        return f"{passed}; {_listed(verdict.not_applied)} not applied: there is no base"
    return passed


def _uncapitalised(title: str) -> str:
    return title[:1].lower() + title[1:]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _run_view(run: Run) -> RunView:
    return RunView(
        id=run.id,
        name=run.name,
        message=one_line(run.message or "", _LONGEST_TITLE) or None,
        commit=run.commit,
        branch=run.branch,
        started=run.started,
        finished=run.finished,
        version=run.version,
        attempt=run.attempt,
        dirty=run.dirty,
        complete=run.complete,
        reused_from=run.reused_from,
    )


def _keys(run: Run, flips: Iterable[Flip]) -> tuple[tuple[str, CaseKey], ...]:
    return tuple((run.suites[flip.suite].label, run.suites[flip.suite].columns.key(flip.row)) for flip in flips)


def _models(run: Run) -> tuple[str, ...]:
    prints = (info.fingerprint for suite in run.suites for info in suite.evaluators.values())
    return tuple(sorted({known.model for known in prints if known is not None and known.model}))
