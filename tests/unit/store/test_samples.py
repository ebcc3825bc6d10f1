"""Overrides of a random sample, beside those that people chose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scoregate.kernel.compare.judge_checks import Review
from scoregate.kernel.types.evaluation import EvaluationOverrideField, Threshold
from scoregate.store import (
    OVERRIDES,
    Override,
    Source,
    open_store,
    read_calibrations,
    recent_overrides,
    split_by_source,
)
from scoregate.store.review_records import upsert
from scoregate.store.review_tables import export_items, import_items


def override(text: str, score: float = 1.0, **given: Any) -> Override:
    output = (EvaluationOverrideField("output", "output", text),)
    return Override(original_score=1.0, override_score=score, output_fields=output, **given)


def make_time(hour: int) -> str:
    return f"2026-11-01T{hour:02}:00:00Z"


def test_a_sampled_override_keeps_chosen_ones_and_those_of_other_judges() -> None:
    items = [override("a"), override("a", sampled=True, fingerprint="f"), override("a", sampled=True, fingerprint="g")]
    assert len({item.id for item in items}) == 3
    assert override("a", fingerprint="f").id == override("a").id


def test_samples_are_split_by_judge_and_the_latest_override_counts() -> None:
    early = override("a", 0, sampled=True, fingerprint="new", by="Ann", created_at=make_time(1))
    late = override("a", 1, sampled=True, fingerprint="new", by="Bob", created_at=make_time(3))
    old = override("b", sampled=True, fingerprint="old", created_at=make_time(2))
    chosen = override("c", created_at=make_time(4))
    assert split_by_source([late, chosen, early, old]) == [
        (Source.CHOSEN, "", [chosen]),
        (Source.SAMPLE, "old", [old]),
        (Source.SAMPLE, "new", [late]),
    ]
    assert split_by_source([]) == []


def test_only_samples_of_known_judges_calibrate(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    strict = Threshold(gte=1)
    items = [
        override("a"),
        override("b", sampled=True),
        override("c", sampled=True, fingerprint="f", created_at=make_time(2)),
        override("d", 0, sampled=True, fingerprint="f", created_at=make_time(1), threshold=strict, failing_share=0.3),
    ]
    upsert(store, OVERRIDES, ("polite",), items)
    assert read_calibrations(store) == {("polite", "f"): [Review(1, 0, strict, 0.3), Review(1, 1)]}


def test_a_second_opinion_keeps_the_place_of_the_first() -> None:
    """Else later reviews would decide which ones a check uses."""
    first = override("a", 0, sampled=True, fingerprint="f", by="Ann", created_at=make_time(1))
    other = override("b", 0, sampled=True, fingerprint="f", created_at=make_time(2))
    second = override("a", 1, sampled=True, fingerprint="f", by="Bob", created_at=make_time(3))
    assert split_by_source([second, other, first]) == [(Source.SAMPLE, "f", [second, other])]


def test_a_judge_never_gets_samples_as_examples(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    upsert(store, OVERRIDES, ("polite",), [override("a"), override("b", sampled=True, fingerprint="f")])
    assert [each.output_fields[0].value for each in recent_overrides(store, "polite", 5)] == ["a"]


def test_files_have_both_and_older_ones_are_read() -> None:
    items = [
        override("a", created_at=make_time(1)),
        override("b", sampled=True, fingerprint="f", created_at=make_time(1)),
        override("c", threshold=Threshold(gte=0.8, lt=1), failing_share=0.25, created_at=make_time(1)),
    ]
    for table in (True, False):
        data = export_items(items, OVERRIDES, table=table)
        assert import_items(data, OVERRIDES, origin="file", table=table) == items
    assert b"sampled" not in export_items(items[:1], OVERRIDES, table=False)
    old = b'{"original_score": 1.0, "override_score": 0.0, "output_fields": [{"id": "o", "name": "o", "value": "x"}]}'
    (read,) = import_items(old, OVERRIDES, origin="file", table=False)
    assert (read.fingerprint, read.sampled, read.threshold, read.failing_share) == ("", False, None, None)
