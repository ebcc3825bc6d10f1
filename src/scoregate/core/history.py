"""What a run knows of the runs before it: who they were and, in columns of one place a run, what they measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_RUNS = 20
MOST_SERIES = 500
MOST_BYTES = 256 * 1024
LONGEST = 200


class Score(NamedTuple):
    """What an evaluator gave in a run: its mean in [0, 1] over `n` trials.

    `made_by` is a digest of what the evaluator was; empty where that is not known.
    """

    mean: float
    n: int
    made_by: str = ""


class Took(NamedTuple):
    """What a suite or a run came to: its pass rate in [0, 1], US dollars, the median of its trials; None if unknown."""

    pass_rate: float | None = None
    cost: float | None = None
    p50_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """A run that was. `finished` are seconds since the epoch; texts are of at most LONGEST characters."""

    id: str
    finished: float
    took: Took
    commit: str | None = None
    branch: str | None = None
    message: str | None = None
    dirty: bool = False
    complete: bool = True


@dataclass(frozen=True, slots=True)
class SuiteHistory:
    """One suite: a place for each run of the history, None where the suite or its evaluator was not in it."""

    took: tuple[Took | None, ...] = ()
    scores: Mapping[str, tuple[Score | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class History:
    """The last runs of a line, oldest first, and their suites by label.

    At most MOST_RUNS runs, MOST_SERIES columns and MOST_BYTES of JSON; what is more is left out by whole columns.
    """

    runs: tuple[Past, ...] = ()
    suites: Mapping[str, SuiteHistory] = field(default_factory=dict)

    def series(self) -> Iterator[tuple[Took | Score | None, ...]]:
        """Every column."""
        for suite in self.suites.values():
            yield suite.took
            yield from suite.scores.values()

    def of(self, suite: str) -> SuiteHistory:
        """What is known of a suite, by its label."""
        return self.suites.get(suite, SuiteHistory())
