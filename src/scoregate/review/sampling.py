"""A random sample of what judges said: the only reviews from which anything follows for all of their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from scoregate.core.case import CaseResult
from scoregate.core.record import Run
from scoregate.review.battles import digest
from scoregate.review.queue import Queue, queue_of


def sample_of(run: Run, size: int | None = None) -> Queue:
    """The battles of a run, and a simple random sample of the scores that judges gave in it.

    A run always gives the same sample, and a larger one contains every smaller one. The same score of the same output,
    as repeats may give it, is drawn once.

    Args:
        size: so many scores, or as many as there are; all if not given.
    """
    ranks: dict[str, str] = {}

    def rank(key: str, evaluator: str, case: CaseResult) -> None:
        suite = run.suites[case.suite].label
        drawn = digest("sample", run.id, suite, case.hash, str(case.repeat), evaluator)
        ranks[key] = min(ranks.get(key, drawn), drawn)

    queue = queue_of(run, judged_as=lambda judged: replace(judged, sampled=True) if judged.asked else None, seen=rank)
    queue.judged.keep(sorted(ranks, key=lambda key: ranks[key])[:size])
    return queue


def count_scores(queue: Queue) -> Mapping[str, int]:
    """How many scores of each judge there are."""
    return Counter(row.evaluator for row in queue.judged.rows.values())
