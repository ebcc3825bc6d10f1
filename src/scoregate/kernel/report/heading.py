"""The heading of a report: the verdict in a few words, and the mark before it.

A tick over a row that is worse would hide it, and so would a gate that passed because it can't fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from scoregate.kernel.compare.evaluator_changes import EvaluatorChangeKind
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.rows import ReportState, RowView
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import Section, UnwatchedDrop

_MOST_NAMES, _LONGEST_NAME = 2, 60


def build_title(verdict: Verdict, unwatched: Sequence[UnwatchedDrop] = ()) -> str:
    """The verdict in a few words: `2 of 4 gates failed`; if it passed, also what this doesn't mean.

    Args:
        verdict: the verdict.
        unwatched: what is worse without a gate.
    """
    conclusions = [finding.conclusion for finding in verdict.findings]
    failed, unmeasured = conclusions.count(Conclusion.FAILED), conclusions.count(Conclusion.UNMEASURABLE)
    if failed:
        gates = number_format.count(len(conclusions), "gate")
        return f"{failed} of {gates} failed" + (f", {unmeasured} could not be measured" if unmeasured else "")
    if unmeasured == 1:
        problem = verdict.failed[0].title
        return f"could not be measured: {problem[:1].lower()}{problem[1:]}"
    if unmeasured:
        return f"could not be measured: {unmeasured} problems"
    return "; ".join(filter(None, (_describe_pass(verdict, unwatched), *_list_restrictions(verdict))))


def _describe_pass(verdict: Verdict, unwatched: Sequence[UnwatchedDrop]) -> str:
    if unwatched:
        return f"passed, but {_describe_unwatched(unwatched)}"
    if not verdict.findings:
        return "passed" if any(map(can_not_fail, verdict.left_out)) else "passed, no gate is set"
    return f"{number_format.count(len(verdict.findings), 'gate')} passed"


def _describe_unwatched(unwatched: Sequence[UnwatchedDrop]) -> str:
    names = list(dict.fromkeys(each.name for each in unwatched))
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    warned = [each.is_warned for each in unwatched]
    reason = f"no gate fails for {them}" if any(warned) else f"no gate watches {them}"
    return f"{_join_names(names)} {verb} worse ({'only a warning' if all(warned) else reason})"


def _list_restrictions(verdict: Verdict) -> Iterator[str]:
    """What a passed run leaves open: gates that can't fail, limits without a baseline, changed evaluators."""
    if powerless := list(filter(can_not_fail, verdict.left_out)):
        names = _join_names(list(dict.fromkeys(map(_name_gate, powerless))))
        yield f"{number_format.count(len(powerless), 'gate')} can't fail ({names})"
    if verdict.not_applied:
        *first, last = verdict.not_applied
        gates = " and ".join(filter(None, (", ".join(first), last)))
        yield f"{gates} not applied: there is no baseline"
    if others := len(verdict.left_out) - len(powerless):
        yield f"{number_format.count(others, 'limit')} not applied"
    counts = Counter(each.change for each in verdict.evaluator_changes)
    changes = ", ".join(f"{counts[change]:,} {change}" for change in EvaluatorChangeKind if counts[change])
    if changes:
        yield f"scorers since the baseline: {changes}"


def _name_gate(finding: Finding) -> str:
    title = f"{finding.title[:1].lower()}{finding.title[1:]}"
    return title if finding.suite is None else f"{title} of {display_name(finding.suite, _LONGEST_NAME)}"


def _join_names(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and 3 more`."""
    if (hidden := len(names) - _MOST_NAMES) > 0:
        return f"{', '.join(names[:_MOST_NAMES])} and {hidden:,} more"
    return " and ".join(names)


def list_unwatched(
    rows: Iterable[RowView], warnings: Iterable[Finding] = (), sections: Iterable[Section] = ()
) -> tuple[UnwatchedDrop, ...]:
    """What is worse although no gate that compares it with the baseline passed or failed for it.

    A drop within the limit of `max_drop` is watched. Accepted regressions and changes that drift explains
    don't count.

    Args:
        rows: the rows of scores.
        warnings: the findings that only warn.
        sections: what features found.
    """
    warned = list_warned(warnings)
    places = ((each.row.suite, each.row.evaluator) for each in rows if is_unwatched(each))
    drops = (UnwatchedDrop(display_name(place[0], _LONGEST_NAME), (*place, None) in warned) for place in places)
    return (*drops, *(drop for section in sections for drop in section.worse))


def list_warned(warnings: Iterable[Finding]) -> set[tuple[str | None, str | None, str | None]]:
    """The suite, the evaluator and the part of each score that a gate only warns about."""
    return {(each.suite, each.evaluator, each.part) for each in warnings if each.is_drop}


def is_unwatched(view: RowView) -> bool:
    """Whether a row is worse, and no gate for it passed or failed."""
    return view.state is ReportState.WORSE and not any(gate.is_drop for gate in view.gates)


def can_not_fail(finding: Finding) -> bool:
    """Whether a limit was not applied because no outcome of so few cases would make its gate fail."""
    return not finding.applied and "can't fail" in finding.value


def find_mark(conclusion: Conclusion, unwatched: Sequence[UnwatchedDrop]) -> Conclusion | ReportState:
    """The mark of the heading: `uncertain` for a run that passed although something is worse without a gate."""
    return ReportState.UNCERTAIN if conclusion is Conclusion.PASSED and unwatched else conclusion
