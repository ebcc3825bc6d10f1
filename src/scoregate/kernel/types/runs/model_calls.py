"""The calls of models that the gateway of a run counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from scoregate.kernel.types.records import record


@record
class ModelCalls:
    """The calls of one model by one evaluator of a suite, or by its function under test.

    Attributes:
        suite: the script that made them.
        evaluator: the evaluator; empty for the function under test, and if the client does not name it.
        provider: the name of the provider.
        model: the name of the model.
        calls: how many calls the suite made, with those that were answered without asking the provider.
        input_tokens: the input tokens of the answers of the provider.
        output_tokens: the output tokens of these.
        cost: US dollars, without calls whose price is unknown.
        unpriced: the number of answers whose price is unknown.
        cached: how many were answered from the cache.
        replayed: how many were answered from cassettes.
        retried: how often the gateway asked again after a rate limit.
        refused: how often the provider refused with a rate limit.
        failed: how many calls ended without an answer.
        recovered: how many of these the client asked again, and then got an answer.
        waited_s: the time for which calls waited for limits, in seconds.
        p50_ms: the median time of an answered call in milliseconds; None without any.
        p95_ms: the 95th percentile of these.
    """

    suite: str
    evaluator: str
    provider: str
    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    cached: int = 0
    replayed: int = 0
    retried: int = 0
    refused: int = 0
    failed: int = 0
    recovered: int = 0
    waited_s: float = 0.0
    p50_ms: float | None = None
    p95_ms: float | None = None


@dataclass(slots=True)
class CallTotals:
    """The counts of calls, or their sums, named as in `ModelCalls`."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    cached: int = 0
    replayed: int = 0
    retried: int = 0
    refused: int = 0
    failed: int = 0
    recovered: int = 0
    waited_s: float = 0.0


COUNTED = tuple(each.name for each in fields(CallTotals))


def find_unanswered(rows: Iterable[ModelCalls]) -> dict[str, tuple[int, int]]:
    """The suites that got no answer to most of their calls: how many calls failed, and of how many.

    Calls that the client repeated with success don't count.
    """
    by_suite: dict[str, list[ModelCalls]] = {}
    for row in rows:
        by_suite.setdefault(row.suite, []).append(row)
    sums = {suite: sum_calls(own) for suite, own in by_suite.items()}
    counts = {suite: (each.failed - each.recovered, each.calls - each.recovered) for suite, each in sums.items()}
    return {suite: (failed, calls) for suite, (failed, calls) in counts.items() if 2 * failed > calls}


def sum_calls(rows: Iterable[object]) -> CallTotals:
    """The sums of rows that have the counts as attributes."""
    sums: dict[str, Any] = dict.fromkeys(COUNTED, 0)
    for row in rows:
        for name in COUNTED:
            sums[name] += getattr(row, name)
    return CallTotals(**sums)


def merge_calls(rows: Iterable[ModelCalls]) -> tuple[ModelCalls, ...]:
    """The rows of several parts of a run, with one row for each suite, evaluator and model.

    Quantiles of several parts can't be added, so a row of more than one part has none.
    """
    groups: dict[tuple[str, str, str, str], list[ModelCalls]] = {}
    for row in rows:
        groups.setdefault((row.suite, row.evaluator, row.provider, row.model), []).append(row)
    return tuple(
        parts[0] if len(parts) == 1 else ModelCalls(*group, **asdict(sum_calls(parts)))
        for group, parts in groups.items()
    )
