"""The last runs before a run, with their metrics and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import NamedTuple

from scoregate.kernel.types.records import record

MOST_RUNS, MOST_SERIES, MAX_HISTORY_BYTES, MAX_TEXT_LENGTH = 20, 500, 256 * 1024, 200


class Score(NamedTuple):
    """The mean score of an evaluator in a run.

    Attributes:
        mean: the mean over cases, in [0, 1].
        n: the number of trials with a score.
        made_by: the digest of the evaluator; empty if unknown.
    """

    mean: float
    n: int
    made_by: str = ""


class SuiteMetrics(NamedTuple):
    """The metrics of a suite or a run; None if unknown.

    Attributes:
        pass_rate: the share of a case's trials that pass, averaged over cases, in [0, 1].
        cost: US dollars.
        p50_ms: the median duration of a trial, in milliseconds.
    """

    pass_rate: float | None = None
    cost: float | None = None
    p50_ms: float | None = None


@record
class PastRun:
    """An earlier run. `finished` is in seconds since the epoch; texts have at most MAX_TEXT_LENGTH characters."""

    id: str
    finished: float
    took: SuiteMetrics
    commit: str | None = None
    branch: str | None = None
    message: str | None = None
    dirty: bool = False
    complete: bool = True


@record
class SuiteHistory:
    """The history of one suite: a value for each run, None if the run doesn't have the suite or evaluator.

    `took` are the metrics of the suite; `scores` are by evaluator; `states` are digests of everything that the suite
    depended on, or empty if no run recorded it.
    """

    took: tuple[SuiteMetrics | None, ...] = ()
    scores: Mapping[str, tuple[Score | None, ...]] = field(default_factory=dict)
    states: tuple[str | None, ...] = ()


@record
class History:
    """The last runs, the oldest first, and their suites by label.

    There are at most MOST_RUNS runs, MOST_SERIES columns and MAX_HISTORY_BYTES of JSON; further columns are left out.
    """

    runs: tuple[PastRun, ...] = ()
    suites: Mapping[str, SuiteHistory] = field(default_factory=dict)

    def series(self) -> Iterator[tuple[SuiteMetrics | Score | None, ...]]:
        """Every column, of metrics and of scores."""
        for suite in self.suites.values():
            yield suite.took
            yield from suite.scores.values()

    def suite_history(self, suite: str) -> SuiteHistory:
        """The history of a suite, by its label; empty if unknown."""
        return self.suites.get(suite, SuiteHistory())
