"""Sums of the calls of models, and suites that got no answers."""

from __future__ import annotations

from dataclasses import asdict, replace

from scoregate.kernel.types.runs.model_calls import (
    COUNTED,
    CallTotals,
    ModelCalls,
    find_unanswered,
    merge_calls,
    sum_calls,
)

ROW = ModelCalls(
    "bot", "judge", "openai", "gpt", calls=1, input_tokens=2, output_tokens=3, cost=0.5, unpriced=4, cached=5,
    replayed=6, retried=7, refused=8, failed=9, recovered=10, waited_s=1.5, p50_ms=20.0, p95_ms=30.0,
)  # fmt: skip


def test_nothing_was_called_by_default() -> None:
    row = ModelCalls("bot", "judge", "openai", "gpt")
    assert {name: getattr(row, name) for name in COUNTED} == dict.fromkeys(COUNTED, 0)
    assert asdict(CallTotals()) == dict.fromkeys(COUNTED, 0)
    assert (row.p50_ms, row.p95_ms) == (None, None)
    assert sum_calls([]) == CallTotals()


def test_rows_of_one_model_are_added() -> None:
    other = replace(ROW, model="mini")
    (sums, kept) = merge_calls([ROW, other, ROW])
    assert kept is other
    assert {name: getattr(sums, name) for name in COUNTED} == {name: 2 * getattr(ROW, name) for name in COUNTED}
    assert (sums.suite, sums.evaluator, sums.provider, sums.model) == ("bot", "judge", "openai", "gpt")
    assert (sums.p50_ms, sums.p95_ms) == (None, None)
    for name in ("suite", "evaluator", "provider"):
        assert len(merge_calls([ROW, replace(ROW, **{name: "x"})])) == 2


def test_suites_without_answers_to_most_calls() -> None:
    def row(suite: str, calls: int, failed: int, recovered: int = 0) -> ModelCalls:
        return ModelCalls(suite, "", "p", "m", calls=calls, failed=failed, recovered=recovered)

    rows = [
        row("half", 10, 5),
        row("most", 5, 2),
        row("most", 6, 4),
        row("again", 10, 8, 7),
        row("few", 4, 4, 1),
        row("none", 0, 0),
    ]
    assert find_unanswered(rows) == {"most": (6, 11), "few": (3, 3)}
