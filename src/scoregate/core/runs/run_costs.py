"""What a whole run used: its suites, and the calls that name none of them."""

from __future__ import annotations

from collections.abc import Iterable

from scoregate.core.runs.case_columns import sum_known
from scoregate.core.runs.evidence import Use
from scoregate.core.runs.run import Run, Script


def sum_costs(run: Run) -> float | None:
    """The known costs of a run, in US dollars; None if no price is known. Suites that did not run cost nothing."""
    return _sum_known(
        [
            *(suite.cost for suite in run.suites if suite.evidence.counts(Use.SPENT)),
            *(script.usage.cost for script in list_started_scripts(run) if script.usage is not None),
        ]
    )


def sum_tokens(run: Run) -> float | None:
    """The input and output tokens of a run; None if unknown. Suites that did not run used none."""
    shared = [script.usage for script in list_started_scripts(run) if script.usage is not None]
    own = [suite.tokens for suite in run.suites if suite.evidence.counts(Use.SPENT)]
    return _sum_known([*own, *(usage.input_tokens + usage.output_tokens for usage in shared)])


def list_started_scripts(run: Run) -> list[Script]:
    """The scripts that the run started: not those whose suites all have the results of another run."""
    others = {suite.script for suite in run.suites if not suite.evidence.counts(Use.SPENT)}
    others -= {suite.script for suite in run.suites if suite.evidence.counts(Use.SPENT)}
    return [script for script in run.scripts if script.name not in others]


def _sum_known(values: Iterable[float | None]) -> float | None:
    return sum_known(value for value in values if value is not None)
