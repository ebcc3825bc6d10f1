"""The entries that accept the regressions of a run."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape
from math import ceil

from scoregate.errors import UsageError
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.runs.policy import matches_suite

_STEP = 0.01


def find_worse_rows(comparison: Comparison, suite: str, evaluator: str) -> list[Row]:
    """The rows that are worse, match both globs, and aren't accepted yet.

    Raises:
        UsageError: there is none.
    """
    suites = {each.label: each for each in comparison.run.suites}
    worse = [row for row in comparison.rows if row.label is RowLabel.WORSE and row.suite in suites]
    matching = [
        row for row in worse if matches_suite(suites[row.suite], suite) and fnmatchcase(row.evaluator, evaluator)
    ]
    rows = [row for row in matching if not row.is_accepted]
    if rows:
        return rows
    if comparison.base is None:
        raise UsageError(f"the run has no baseline: {comparison.base_note}", advice="Name one with --baseline.")
    if matching:
        message, advice = "every score that is worse is accepted already", "`scoregate report` lists the entries."
    elif worse:
        names = ", ".join(f"{row.suite} · {row.evaluator}" for row in worse[:10])
        message, advice = "no score that is worse matches", f"Worse are: {names}."
    else:
        message, advice = "no score is significantly worse", "There is nothing to accept."
    raise UsageError(message, advice=advice)


def make_entries(
    comparison: Comparison,
    rows: Sequence[Row],
    *,
    until: str,
    reason: str,
    by: str,
    issue: str = "",
    at_most: float | None = None,
) -> list[AcceptedRegression]:
    """An entry for each row.

    Args:
        comparison: the comparison that has the rows.
        rows: the rows.
        until: the last day of the entries, as an ISO date in UTC.
        reason: why the regressions are accepted.
        by: who accepts them.
        issue: an issue; may be empty.
        at_most: the largest accepted drop; None for the drop of each row, rounded up so that it is accepted again.
    """
    ids = {each.label: each.id for each in comparison.run.suites}
    return [
        AcceptedRegression(
            suite=escape(ids[row.suite]),  # a name may have characters of a glob
            until=until,
            reason=reason,
            by=by,
            evaluator=escape(row.evaluator),
            at_most=_round_up(-row.gain) if at_most is None else at_most,
            issue=issue,
        )
        for row in rows
    ]


def _round_up(drop: float) -> float:
    # Rounded before, too: 0.07 / 0.01 is 7.000000000000001 in floats, which would become 0.08.
    return min(1.0, round(ceil(round(drop / _STEP, 6)) * _STEP, 6))
