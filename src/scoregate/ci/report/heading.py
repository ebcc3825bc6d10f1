"""The heading of a report: the verdict in a few words, and the mark before it.

A tick over a row that is worse would hide it, and so would a gate that passed because it can't fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from scoregate.ci.report import number_format
from scoregate.ci.report.rows import ReportState, RowView
from scoregate.ci.report.slices import SliceView
from scoregate.ci.report.text import display_name
from scoregate.core.comparison.comparison_rows import RowLabel
from scoregate.core.comparison.evaluator_changes import EvaluatorChangeKind
from scoregate.core.gate import Verdict
from scoregate.core.gate.finding import Conclusion, Finding
from scoregate.core.records import record
from scoregate.core.runs.slices import slice_name

# The rules that fail for a row that is worse.
_RULES = ("drop", "regression", "slice drop")
_MOST_NAMES, _LONGEST_NAME = 2, 60


@record
class UnwatchedDrop:
    """A suite or a slice of it that is worse, and that no gate fails for.

    Attributes:
        name: the suite, or `language=fr of support-bot`.
        is_warned: whether a gate with the severity `warn` reports it.
    """

    name: str
    is_warned: bool = False


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
        yield f"evaluators since the baseline: {changes}"


def _name_gate(finding: Finding) -> str:
    title = f"{finding.title[:1].lower()}{finding.title[1:]}"
    return title if finding.suite is None else f"{title} of {display_name(finding.suite, _LONGEST_NAME)}"


def _join_names(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and 3 more`."""
    if (hidden := len(names) - _MOST_NAMES) > 0:
        return f"{', '.join(names[:_MOST_NAMES])} and {hidden:,} more"
    return " and ".join(names)


def find_unwatched(
    rows: Iterable[RowView], slices: Iterable[SliceView], warnings: Iterable[Finding] = ()
) -> tuple[UnwatchedDrop, ...]:
    """What is worse although no gate that compares it with the baseline passed or failed for it.

    A drop within the limit of `max_drop` is watched. Accepted regressions and changes that drift explains
    don't count. A slice counts only if the row of its whole suite isn't worse: else that row is named, or a limit
    allows it.

    Args:
        rows: the rows of scores.
        slices: the rows of slices.
        warnings: the findings that only warn.
    """
    rows, warned = tuple(rows), {(each.suite, each.evaluator, each.slice) for each in warnings if each.rule in _RULES}
    worse = {(each.row.suite, each.row.evaluator) for each in rows if each.row.label is RowLabel.WORSE}
    found = [
        UnwatchedDrop(_show(each.row.suite), (each.row.suite, each.row.evaluator, None) in warned)
        for each in rows
        if _is_unwatched(each)
    ]
    for each in slices:
        place = (each.view.row.suite, each.view.row.evaluator)
        if _is_unwatched(each.view) and place not in worse:
            name = f"{each.name} of {_show(each.view.row.suite)}"
            found.append(UnwatchedDrop(name, (*place, slice_name(each.field, each.value)) in warned))
    return tuple(found)


def _is_unwatched(view: RowView) -> bool:
    return view.state is ReportState.WORSE and not any(gate.rule in _RULES for gate in view.gates)


def _show(suite: str) -> str:
    return display_name(suite, _LONGEST_NAME)


def can_not_fail(finding: Finding) -> bool:
    """Whether a limit was not applied because no outcome of so few cases would make its gate fail."""
    return not finding.applied and "can't fail" in finding.value


def find_mark(conclusion: Conclusion, unwatched: Sequence[UnwatchedDrop]) -> Conclusion | ReportState:
    """The mark of the heading: `uncertain` for a run that passed although something is worse without a gate."""
    return ReportState.UNCERTAIN if conclusion is Conclusion.PASSED and unwatched else conclusion
