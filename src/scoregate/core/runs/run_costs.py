"""What a whole run used: its suites, and the calls that name none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from scoregate.core.evaluation import Usage
from scoregate.core.runs.case_columns import Columns, sum_known
from scoregate.core.runs.evidence import Use
from scoregate.core.runs.run import Run, Script, SuiteResult


def sum_costs(run: Run) -> float | None:
    """The known costs of a run, in US dollars; None if no price is known. Results of other runs cost nothing."""
    known = ((suite, None if suite.usage is None else suite.usage.cost) for suite in run.suites)
    own = (_sum_spent(suite, lambda columns: columns.costs, cost) for suite, cost in known)
    return _sum_known([*own, *(script.usage.cost for script in list_started_scripts(run) if script.usage is not None)])


def sum_tokens(run: Run) -> float | None:
    """The input and output tokens of a run; None if unknown. Results of other runs used none."""
    own = (_sum_spent(suite, lambda columns: columns.tokens, _count_tokens(suite.usage)) for suite in run.suites)
    return _sum_known([*own, *(_count_tokens(script.usage) for script in list_started_scripts(run))])


def _sum_spent(suite: SuiteResult, pick: Callable[[Columns], Sequence[float]], own: float | None) -> float | None:
    evidence = suite.evidence
    return sum_known(evidence.list_amounts(Use.SPENT, pick), own) if evidence.counts(Use.SPENT) else None


def _count_tokens(usage: Usage | None) -> int | None:
    return None if usage is None else usage.input_tokens + usage.output_tokens


def list_started_scripts(run: Run) -> list[Script]:
    """The scripts that the run started: not those whose suites all have the results of another run."""
    others = {suite.script for suite in run.suites if not suite.evidence.counts(Use.SPENT)}
    others -= {suite.script for suite in run.suites if suite.evidence.counts(Use.SPENT)}
    return [script for script in run.scripts if script.name not in others]


def _sum_known(values: Iterable[float | None]) -> float | None:
    return sum_known(value for value in values if value is not None)
