"""Overrides, verdicts and baseline outputs: what is stored, replaced and read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError
from tests.unit.store.builders import correction

from scoregate.kernel.types.evaluation import EvaluationOverride, EvaluationOverrideComment
from scoregate.store import (
    OVERRIDES,
    Store,
    Verdict,
    Winner,
    add_override,
    add_verdict,
    load_baseline_outputs,
    majority_winner,
    read_overrides,
    read_verdicts,
    recent_overrides,
    set_baseline_outputs,
)
from scoregate.store.review_records import upsert

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def outputs(found: list[EvaluationOverride]) -> list[str]:
    return [each.output_fields[0].value for each in found]


def test_an_override_round_trips(store: Store) -> None:
    plain = correction("yo", judge=0.5)
    override = replace(plain, comments=[EvaluationOverrideComment("output", "y", "right")])
    add_override(store, "accuracy", override, by="Ada")
    assert recent_overrides(store, "accuracy", 1) == [override]
    assert recent_overrides(store, "other", 1) == []


def test_newest_are_first_and_limited(store: Store) -> None:
    for hour, output in ((2, "c"), (0, "a"), (1, "b")):
        add_override(store, "accuracy", correction(output), at=NOON + timedelta(hours=hour))
    assert outputs(recent_overrides(store, "accuracy", 2)) == ["c", "b"]
    assert outputs(recent_overrides(store, "accuracy", 9)) == ["c", "b", "a"]
    assert recent_overrides(store, "accuracy", 0) == []


def test_a_second_override_replaces_the_persons_first(store: Store) -> None:
    add_override(store, "accuracy", correction("a", person=1.0), by="Ada")
    add_override(store, "accuracy", correction("a", person=0.5), by="Ada")
    add_override(store, "accuracy", correction("a", person=0.0), by="Bob")
    assert sorted((each.by, each.override_score) for each in read_overrides(store, "accuracy")) == [
        ("Ada", 0.5),
        ("Bob", 0),
    ]


def test_known_reviews_keep_time(store: Store) -> None:
    first = add_override(store, "accuracy", correction("a"), at=NOON)
    again = first.model_copy(update={"created_at": NOON + timedelta(days=1)})
    kept = upsert(store, OVERRIDES, ("accuracy",), [again])
    assert (kept.added, kept.changed, kept.unchanged) == (0, 0, 1)
    assert read_overrides(store, "accuracy") == [first]


@pytest.mark.parametrize(
    "wrong",
    [
        EvaluationOverride(0, 1),
        correction("a", person=1.5),
        correction("a", judge=-0.1),
        correction("a", person=float("nan")),
    ],
)
def test_invalid_overrides_are_refused(store: Store, wrong: EvaluationOverride) -> None:
    with pytest.raises(ValidationError):
        add_override(store, "accuracy", wrong)
    assert read_overrides(store, "accuracy") == []


def verdict(winner: Winner, *, by: str = "", baseline: str = "old", challenger: str = "new") -> Verdict:
    return Verdict(case="1", baseline=baseline, challenger=challenger, winner=winner, by=by)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([], None),
        ([Winner.CHALLENGER], Winner.CHALLENGER),
        ([Winner.BASELINE, Winner.CHALLENGER], Winner.TIE),
        ([Winner.BASELINE, Winner.CHALLENGER, Winner.BASELINE], Winner.BASELINE),
        ([Winner.TIE, Winner.TIE, Winner.CHALLENGER], Winner.TIE),
    ],
)
def test_the_majority_decides(store: Store, votes: list[Winner], expected: Winner | None) -> None:
    for number, winner in enumerate(votes):
        add_verdict(store, "battle", verdict(winner, by=str(number)))
    assert majority_winner(read_verdicts(store, "battle"), "1", baseline="old", challenger="new") == expected


def test_a_pair_is_judged_in_either_order_and_for_its_case_only(store: Store) -> None:
    verdicts = [add_verdict(store, "battle", verdict(Winner.CHALLENGER))]
    assert majority_winner(verdicts, "1", baseline="new", challenger="old") is Winner.BASELINE
    assert majority_winner(verdicts, "2", baseline="old", challenger="new") is None
    assert majority_winner(verdicts, "1", baseline="old", challenger="newer") is None


def test_outputs_that_are_alike_are_counted_once() -> None:
    verdicts = [verdict(Winner.CHALLENGER, baseline="a", challenger="a")]
    assert majority_winner(verdicts, "1", baseline="a", challenger="a") is Winner.CHALLENGER


def test_a_verdict_on_text_outside_utf_8_is_found(store: Store) -> None:
    add_verdict(store, "battle", verdict(Winner.TIE, baseline="\ud800"))
    assert majority_winner(read_verdicts(store, "battle"), "1", baseline="\ud800", challenger="new") is Winner.TIE


def test_a_new_verdict_replaces_the_old(store: Store) -> None:
    for winner in (Winner.BASELINE, Winner.CHALLENGER):
        add_verdict(store, "battle", verdict(winner, by="Ada"))
    (found,) = read_verdicts(store, "battle")
    assert found.winner is Winner.CHALLENGER
    assert found.created_at is not None


def test_winners_have_scores() -> None:
    assert [winner.score for winner in (Winner.CHALLENGER, Winner.TIE, Winner.BASELINE)] == [1, 0.5, 0]


def test_new_outputs_replace_baseline_outputs(store: Store) -> None:
    set_baseline_outputs(store, "bot", "battle", outputs={"1": "a", "2": "b"})
    set_baseline_outputs(store, "bot", "battle", outputs={"2": "c"})
    assert load_baseline_outputs(store, "bot", "battle") == {"1": "a", "2": "c"}
    assert load_baseline_outputs(store, "bot", "other") == {}
