"""The calls of models that the gateway of a run counted."""

from __future__ import annotations

from scoregate.core.records import record


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
    waited_s: float = 0.0
    p50_ms: float | None = None
    p95_ms: float | None = None
