"""What a whole run used: its suites, and the calls that name none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoregate.kernel.types.amounts import Amount, add, find_known
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.usage import count_tokens, measure_cost


def sum_costs(run: Run) -> float | None:
    """The known costs of a run, in US dollars; None if no price is known. Results of other runs cost nothing."""
    return _sum_spent(run, lambda columns: columns.costs, measure_cost)


def sum_tokens(run: Run) -> float | None:
    """The input and output tokens of a run; None if unknown. Results of other runs used none."""
    return _sum_spent(run, lambda columns: columns.tokens, count_tokens)


def _sum_spent(
    run: Run, pick: Callable[[Columns], Sequence[float]], measure: Callable[[Usage | None], Amount]
) -> float | None:
    suites = [
        add((measure(suite.usage),), known_values(suite.evidence.list_amounts(Use.SPENT, pick)))
        for suite in run.suites
        if suite.evidence.counts(Use.SPENT)
    ]
    known = find_known(add((*suites, *(measure(script.usage) for script in list_started_scripts(run)))))
    return None if known is None else float(known)


def list_started_scripts(run: Run) -> list[Script]:
    """The scripts that the run started: not those whose suites all have the results of another run."""
    others = {suite.script for suite in run.suites if not suite.evidence.counts(Use.SPENT)}
    others -= {suite.script for suite in run.suites if suite.evidence.counts(Use.SPENT)}
    return [script for script in run.scripts if script.name not in others]
