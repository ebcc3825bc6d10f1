"""What a whole run used: its suites, and the calls that name none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.case_columns import Columns, sum_known
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.run import Run, Script


def sum_costs(run: Run) -> float | None:
    """The known costs of a run, in US dollars; None if no price is known. Results of other runs cost nothing."""
    return _sum_spent(run, lambda columns: columns.costs, lambda usage: usage.cost)


def sum_tokens(run: Run) -> float | None:
    """The input and output tokens of a run; None if unknown. Results of other runs used none."""
    return _sum_spent(run, lambda columns: columns.tokens, lambda usage: usage.input_tokens + usage.output_tokens)


def _sum_spent(
    run: Run, pick: Callable[[Columns], Sequence[float]], find_amount: Callable[[Usage], float | None]
) -> float | None:
    amounts = [
        sum_known(
            suite.evidence.list_amounts(Use.SPENT, pick), None if suite.usage is None else find_amount(suite.usage)
        )
        for suite in run.suites
        if suite.evidence.counts(Use.SPENT)
    ]
    amounts += [find_amount(script.usage) for script in list_started_scripts(run) if script.usage is not None]
    return sum_known(amount for amount in amounts if amount is not None)


def list_started_scripts(run: Run) -> list[Script]:
    """The scripts that the run started: not those whose suites all have the results of another run."""
    others = {suite.script for suite in run.suites if not suite.evidence.counts(Use.SPENT)}
    others -= {suite.script for suite in run.suites if suite.evidence.counts(Use.SPENT)}
    return [script for script in run.scripts if script.name not in others]
