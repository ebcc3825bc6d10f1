"""The runs before this one, ready to print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoregate.ci.report import numbers
from scoregate.ci.report.context import Context
from scoregate.ci.report.links import commit_url
from scoregate.core.history import History, Past


@dataclass(frozen=True, slots=True)
class PastView:
    """An earlier run: its numbers in `past`, and as text; `url` is the web address of its commit."""

    past: Past
    name: str
    when: str
    url: str | None
    pass_rate: str
    cost: str
    p50: str

    @property
    def label(self) -> str:
        """Which it is, in a few words: `main@a1b2c3d, 2026-11-20 18:23 UTC`."""
        return f"{self.name}, {self.when}"


def past_views(history: History, context: Context) -> Iterator[PastView]:
    """Every run of a history, oldest first."""
    for past in history.runs:
        rate, cost, p50 = past.took
        yield PastView(
            past,
            name=_name(past),
            when=numbers.moment(past.finished),
            url=commit_url(past.commit, context),
            pass_rate=numbers.NONE if rate is None else numbers.percent(rate),
            cost=numbers.NONE if cost is None else numbers.cost(cost),
            p50=numbers.NONE if p50 is None else numbers.duration(p50 / 1000),
        )


def _name(past: Past) -> str:
    commit = (past.commit or "")[:7]
    return "@".join(filter(None, (past.branch, commit))) if commit else past.branch or past.id
