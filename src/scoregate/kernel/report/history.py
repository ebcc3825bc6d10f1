"""Earlier runs, ready to print."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.kernel.report.context import ReportContext, commit_url
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.past_runs import History, PastRun


@record
class PastRunView:
    """An earlier run: its numbers in `past`, and as text; `url` is the web address of its commit."""

    past: PastRun
    name: str
    when: str
    url: str | None
    pass_rate: str
    cost: str
    p50: str

    @property
    def label(self) -> str:
        """Name and time: `main@a1b2c3d, 2026-11-20 18:23 UTC`."""
        return f"{self.name}, {self.when}"


def build_past_runs(history: History, context: ReportContext) -> Iterator[PastRunView]:
    """Build the views of all runs of a history, oldest first."""
    for past in history.runs:
        rate, cost, p50 = past.took
        commit = (past.commit or "")[:7]
        yield PastRunView(
            past,
            name="@".join(filter(None, (past.branch, commit))) if commit else past.branch or past.id,
            when=number_format.moment(past.finished),
            url=commit_url(past.commit, context),
            pass_rate=number_format.NONE if rate is None else number_format.percent(rate),
            cost=number_format.NONE if cost is None else number_format.cost(cost),
            p50=number_format.NONE if p50 is None else number_format.duration(p50 / 1000),
        )
