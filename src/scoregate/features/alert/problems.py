"""What a run of the base branch alerts about: scores that got worse or sank slowly, and gates that fail."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from scoregate.features.alert.slow_decline import NEWEST, find_slow_declines
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import Verdict
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import Slot

MOST_PROBLEMS = 50


class AlertState(StrEnum):
    """Whether there is something to report: `unknown` if the run, or its confirmation, could not be measured."""

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not confirmed"
    NONE = "none"
    UNKNOWN = "unknown"


@record
class AlertProblem:
    """A score that got worse or sank slowly, or a gate that fails.

    Args:
        suite: the label of the suite.
        evaluator: the id of the evaluator; empty for a gate of the whole suite.
        rule: the rule of the gate that fails; empty for a score that got worse.
        text: describes it.
        base: the mean score before; None for a gate.
        mean: the mean score now; of several runs, if it sank slowly; None for a gate.
    """

    suite: str
    evaluator: str
    rule: str
    text: str
    base: float | None = None
    mean: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the problem in other runs."""
        return self.suite, self.evaluator, self.rule


@record
class Alert:
    """What a run of the base branch reports besides its verdict."""

    state: AlertState
    problems: tuple[AlertProblem, ...] = ()


FOUND: Slot[Alert] = Slot("alert")


def list_problems(comparison: Comparison, verdict: Verdict) -> Iterator[AlertProblem]:
    """The scores that got worse and the gates of suites that fail, without accepted regressions."""
    shown = set()
    for row in comparison.rows:
        if row.label is RowLabel.WORSE and not row.is_accepted and row.delta is not None:
            shown.add((row.suite, row.evaluator))
            text = f"{number_format.score(row.base)} → {number_format.score(row.mean)}"
            text = f"{text} ({number_format.difference(row.delta)}, {row.pairs.n:,} cases)"
            yield AlertProblem(row.suite, row.evaluator, "", text, row.base, row.mean)
    for finding in verdict.findings:
        place = (finding.suite or "", finding.evaluator or "")
        if finding.conclusion is Conclusion.FAILED and finding.suite is not None and place not in shown:
            text = f"{finding.title}: {finding.value} (required: {finding.limit})"
            yield AlertProblem(*place, finding.rule, text)


def list_declines(comparison: Comparison, *, min_effect: float) -> Iterator[AlertProblem]:
    """The scores that sank slowly over several runs; smaller declines than `min_effect` are ignored."""
    for each in find_slow_declines(comparison, min_effect=min_effect):
        scores = f"{number_format.score(each.before)} → {number_format.score(each.now)}"
        runs = f"newest {NEWEST} runs against the {each.older} before them, nothing changed"
        text = f"{scores} ({number_format.difference(each.now - each.before)}, {runs})"
        yield AlertProblem(each.suite, each.evaluator, "", text, each.before, each.now)
