"""Which label a row gets: the first that applies, in the order of the table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.stats.builders import SAME, Scores, cases, compared, row_of, run_of, suite_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria

OTHER = EvaluatorInfo("score", replace(SAME, source="other"))


def binary_scores(better: int, worse: int, equal: int) -> tuple[Scores, Scores]:
    """Binary scores of a run and its base with these numbers of cases."""
    new = [1.0] * better + [0.0] * worse + [1.0] * equal
    old = [0.0] * better + [1.0] * worse + [1.0] * equal
    return cases(new), cases(old)


def shifted_scores(by: float, n: int, wobble: float = 0.0) -> tuple[Scores, Scores]:
    """Scores around 0.5, shifted by an amount with some noise."""
    return cases([0.5 + by + (wobble if index % 2 else -wobble) for index in range(n)]), cases([0.5] * n)


def against(new: Scores, old: Scores, changed: EvaluatorInfo) -> Row:
    return compared(suite_of({"score": new}, infos=[changed]), suite_of({"score": old})).rows[0]


def test_unmeasurable_comes_before_all_else() -> None:
    new, old = binary_scores(0, 30, 30)
    shaky = {**new, **{f"case-{index}": [None] for index in range(6)}}
    assert row_of(shaky, old).label is RowLabel.UNMEASURABLE
    row = against(shaky, old, OTHER)
    assert (row.label, row.pairs.dropped) == (RowLabel.UNMEASURABLE, 6)
    assert row.reason == "6 of 60 pairs have an error in this run"
    assert (row.delta, row.estimate.interval) == (None, None), "another evaluator's scores are not to be subtracted"
    few = row_of(cases([None, 1.0, 1.0]), cases([1.0] * 3))
    assert few.label is RowLabel.UNMEASURABLE
    assert row_of(cases([None] * 20), cases([1.0] * 20)).label is RowLabel.UNMEASURABLE
    assert row_of(cases([1.0] * 20), cases([None] * 20)).label is RowLabel.UNMEASURABLE
    crossed = row_of(cases([1.0] * 5 + [None] * 5), cases([None] * 5 + [1.0] * 5))
    assert (crossed.label, crossed.pairs.n, crossed.pairs.dropped) == (RowLabel.UNMEASURABLE, 0, 10)


def test_the_maximum_of_errors_is_allowed() -> None:
    new, old = cases([None] + [1.0] * 19), cases([1.0] * 20)
    assert row_of(new, old).label is RowLabel.UNCHANGED
    assert row_of(new, old, criteria=Criteria(max_dropped=0.04)).label is RowLabel.UNMEASURABLE
    assert row_of(cases([None] * 2 + [1.0] * 18), old, criteria=Criteria(max_dropped=0.1)).label is RowLabel.UNCHANGED


def test_not_comparable_comes_before_few_and_equal() -> None:
    for new, old in (binary_scores(0, 0, 3), binary_scores(0, 0, 30), binary_scores(0, 30, 0)):
        row = against(new, old, OTHER)
        assert (row.label, row.reason) == (RowLabel.NOT_COMPARABLE, "its code changed")
        assert (row.estimate.interval, row.delta, row.pairs.n) == (None, None, 0)


@pytest.mark.parametrize(
    ("fingerprint", "message"),
    [
        (replace(SAME, source="x"), "its code changed"),
        (replace(SAME, prompt="x"), "its prompt changed"),
        (replace(SAME, parameters="x"), "its parameters changed"),
        (replace(SAME, model="new"), "its model changed: m → new"),
        (replace(SAME, source="x", prompt="x"), "its code and its prompt changed"),
    ],
)
def test_a_fingerprint_shows_changes(fingerprint: Fingerprint, message: str) -> None:
    row = against(*binary_scores(3, 3, 20), EvaluatorInfo("score", fingerprint))
    assert (row.label, row.reason) == (RowLabel.NOT_COMPARABLE, message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.2", "1.3", "judge score 1.2 -> 1.3"),
        ("1.3", "1.2", "judge score 1.3 -> 1.2"),
        ("1.2", "1.2", "its prompt changed"),
        (None, "1.3", "its prompt changed"),
    ],
)
def test_a_version_is_named_before_changes(old: str | None, new: str, message: str) -> None:
    changed = EvaluatorInfo("score", replace(SAME, prompt="x", version=new))
    known = EvaluatorInfo("score", replace(SAME, version=old))
    assert describe_fingerprint_change(changed, known) == message


def test_a_version_counts_only_without_other_fields() -> None:
    assert describe_fingerprint_change(EvaluatorInfo("j", replace(SAME, version="2.0")), EvaluatorInfo("j", SAME)) == ""
    old, new = (EvaluatorInfo("j", replace(SAME, version=version)) for version in ("1.2", "2.0"))
    assert describe_fingerprint_change(new, old) == ""
    old, new = (EvaluatorInfo("j", Fingerprint(version=version)) for version in ("1.2", "2.0"))
    assert describe_fingerprint_change(new, old) == "judge j 1.2 -> 2.0"


def test_not_comparable_comes_before_new() -> None:
    row = against(cases([1.0] * 20), {}, OTHER)
    assert (row.label, row.base) == (RowLabel.NOT_COMPARABLE, None)


def test_another_direction_is_not_comparable() -> None:
    row = against(*binary_scores(3, 3, 20), EvaluatorInfo("score", SAME, higher_is_better=False))
    assert (row.label, row.reason) == (RowLabel.NOT_COMPARABLE, "its direction changed (higher_is_better)")


def test_without_fingerprints_rows_are_compared_and_unchecked() -> None:
    row = row_of(*binary_scores(0, 30, 30), info=EvaluatorInfo("score"))
    assert (row.label, row.checked) == (RowLabel.WORSE, False)
    assert row_of(*binary_scores(0, 30, 30)).checked is True


def test_a_fingerprint_on_one_side_only_is_not_comparable() -> None:
    row = against(*binary_scores(0, 30, 30), EvaluatorInfo("score"))
    assert (row.label, row.reason) == (RowLabel.NOT_COMPARABLE, "its fingerprint is known in the baseline, unknown now")
    new, old = (suite_of({"score": side}, infos=[EvaluatorInfo("score", known)]) for side, known in zip(
        binary_scores(0, 30, 30), (SAME, Fingerprint()), strict=True
    ))  # fmt: skip
    assert compared(new, old).rows[0].reason == "its fingerprint is known now, unknown in the baseline"


def test_unknown_fields_are_no_change() -> None:
    partial = EvaluatorInfo("score", Fingerprint(source=SAME.source))
    assert against(*binary_scores(0, 30, 30), partial).label is RowLabel.WORSE


def test_new_and_removed_come_before_few() -> None:
    new = suite_of({"kept": cases([1.0] * 3), "fresh": cases([1.0] * 3)})
    old = suite_of({"kept": cases([1.0] * 3), "dropped": cases([0.5] * 3), "also": cases([0.5] * 3)})
    found = [(row.evaluator, row.label) for row in compared(new, old).rows]
    assert found == [
        ("kept", RowLabel.TOO_FEW),
        ("fresh", RowLabel.NEW),
        ("dropped", RowLabel.REMOVED),
        ("also", RowLabel.REMOVED),
    ]


def test_suites_can_change() -> None:
    here, there = (suite_of({"score": cases([1.0] * 12)}, id=name, label=name) for name in ("here", "there"))
    comparison = compared(here, there)
    assert [(row.suite, row.label) for row in comparison.rows] == [("here", RowLabel.NEW), ("there", RowLabel.REMOVED)]
    assert comparison.gone == ("there",)


def test_too_few_comes_before_unchanged_and_worse() -> None:
    assert row_of(*binary_scores(0, 0, 9)).label is RowLabel.TOO_FEW
    assert row_of(*binary_scores(0, 0, 10)).label is RowLabel.UNCHANGED
    row = row_of(*binary_scores(0, 9, 0))
    assert (row.label, row.correction.q, row.delta) == (RowLabel.TOO_FEW, None, -1.0)
    assert row.estimate.p == pytest.approx(2**-9)
    assert row_of(*binary_scores(0, 10, 0)).label is RowLabel.WORSE
    assert row_of(*binary_scores(0, 5, 0), criteria=Criteria(few=5)).label is RowLabel.WORSE


def test_clusters_are_counted_as_few() -> None:
    new, old = binary_scores(0, 36, 0)
    nine = {f"case-{index}": f"talk-{index // 4}" for index in range(36)}
    assert row_of(new, old, clusters=nine).label is RowLabel.TOO_FEW
    twelve = {f"case-{index}": f"talk-{index // 3}" for index in range(36)}
    assert row_of(new, old, clusters=twelve).label is RowLabel.WORSE


def test_unchanged_comes_before_equivalent() -> None:
    row = row_of(*binary_scores(0, 0, 400))
    assert (row.label, row.estimate.p, row.delta) == (RowLabel.UNCHANGED, 1.0, 0.0)
    assert row_of(*binary_scores(1, 1, 400)).label is RowLabel.EQUIVALENT


def test_better_and_worse_come_before_equivalent() -> None:
    for by, label in ((0.015, RowLabel.BETTER), (-0.015, RowLabel.WORSE)):
        row = row_of(*shifted_scores(by, 800, wobble=0.001))
        assert max(-row.estimate.low, row.estimate.high) < 0.02
        assert row.label is label


def test_small_rises_are_better_only_if_they_outweigh_an_unseen_collapse() -> None:
    """Of 60 cases none may show that 2 % of all collapse, which would undo rises by .015. A fall is found as before."""
    for by, n, label in (
        (-0.015, 60, RowLabel.WORSE),
        (0.015, 60, RowLabel.NOISE),
        (0.015, 400, RowLabel.BETTER),
    ):
        row = row_of(*shifted_scores(by, n, wobble=0.001))
        assert row.estimate.p < 1e-3
        assert row.label is label
        assert (row.estimate.low <= 0 <= row.estimate.high) == (label is RowLabel.NOISE), (
            "an interval agrees with its label"
        )


def test_a_significant_difference_under_the_smallest_effect_is_no_call() -> None:
    sides = shifted_scores(-0.008, 60, wobble=0.001)
    row = row_of(*sides)
    assert row.estimate.p < 1e-3
    assert row.label is RowLabel.NOISE, "60 cases can't rule out that 2 % of all collapse"
    assert row_of(*shifted_scores(-0.008, 400, wobble=0.001)).label is RowLabel.EQUIVALENT
    assert row_of(*sides, criteria=Criteria(min_effect=0.005)).label is RowLabel.WORSE


def test_equivalent_needs_the_whole_interval_inside_the_margin() -> None:
    sides = shifted_scores(0.0, 400, wobble=0.1)
    row = row_of(*sides)
    assert (row.label, row.estimate.smallest_margin < 0.02) == (RowLabel.EQUIVALENT, True)
    assert row_of(*sides, criteria=Criteria(margin=row.estimate.smallest_margin + 1e-9)).label is RowLabel.EQUIVALENT
    assert row_of(*sides, criteria=Criteria(margin=row.estimate.smallest_margin - 1e-9)).label is RowLabel.NOISE


def test_noise_has_the_detectable_effect() -> None:
    row = row_of(*binary_scores(4, 7, 30))
    assert row.label is RowLabel.NOISE
    assert row.estimate.detectable is not None
    assert 0.1 < row.estimate.detectable < 0.4


def test_lower_can_be_better() -> None:
    downwards = EvaluatorInfo("score", SAME, higher_is_better=False)
    row = row_of(*binary_scores(0, 30, 30), info=downwards)
    assert (row.label, row.pairs.better, row.pairs.worse, row.higher_is_better) == (RowLabel.BETTER, 30, 0, False)
    assert row.delta == -0.5
    assert row.gain == 0.5
    assert row_of(*binary_scores(30, 0, 30), info=downwards).label is RowLabel.WORSE


def test_settings_can_change_direction() -> None:
    turned = Criteria(evaluators={"sc*": EvaluatorCriteria(higher_is_better=False)})
    assert row_of(*binary_scores(0, 30, 30), criteria=turned).label is RowLabel.BETTER
    criteria = Criteria(evaluators={"*": EvaluatorCriteria(higher_is_better=True)})
    downwards = EvaluatorInfo("score", SAME, higher_is_better=False)
    assert row_of(*binary_scores(0, 30, 30), info=downwards, criteria=criteria).label is RowLabel.WORSE


def test_effect_and_margin_are_set_by_evaluator() -> None:
    new, old = shifted_scores(-0.05, 40, wobble=0.01)
    criteria = Criteria(
        evaluators={
            "rough-*": EvaluatorCriteria(min_effect=0.1, margin=0.2),
            "rough-but-strict": EvaluatorCriteria(min_effect=0.02),
        }
    )
    names = ("fine", "rough-1", "rough-but-strict")
    sides = (suite_of(dict.fromkeys(names, scores)) for scores in (new, old))
    labels = {row.evaluator: row.label for row in compared(*sides, criteria=criteria).rows}
    assert labels == {"fine": RowLabel.WORSE, "rough-1": RowLabel.EQUIVALENT, "rough-but-strict": RowLabel.WORSE}


def compare_many(*sides: tuple[Scores, Scores]) -> list[Row]:
    names = [f"e{index}" for index in range(len(sides))]
    new, old = (suite_of({name: pair[index] for name, pair in zip(names, sides, strict=True)}) for index in (0, 1))
    return list(compared(new, old).rows)


def test_many_rows_ask_for_more() -> None:
    alone = row_of(*binary_scores(4, 13, 40))
    assert alone.estimate.p == alone.correction.q == pytest.approx(0.0309, abs=1e-3)
    assert alone.label is RowLabel.WORSE
    rows = compare_many(binary_scores(4, 13, 40), binary_scores(9, 8, 40), binary_scores(8, 8, 41))
    assert rows[0].correction.q == pytest.approx(3 * alone.estimate.p)
    assert [row.label for row in rows] == [RowLabel.NOISE] * 3


def test_improved_rows_do_not_fail_another() -> None:
    rows = compare_many(binary_scores(4, 13, 40), *[binary_scores(30, 0, 27)] * 3)
    assert [row.label for row in rows] == [RowLabel.NOISE, *[RowLabel.BETTER] * 3]
    assert rows[0].correction.q == pytest.approx(4 * rows[0].estimate.p)


def test_rows_without_power_do_not_count() -> None:
    """Four changed cases can't reach p < 0.05 (Tarone); equal, few and errored rows are not tested."""
    idle = (binary_scores(0, 4, 53), binary_scores(2, 2, 53), binary_scores(0, 0, 57))
    rows = compare_many(binary_scores(4, 13, 40), *idle)
    assert rows[0].correction.q == rows[0].estimate.p
    assert rows[0].label is RowLabel.WORSE
    assert [row.correction.q for row in rows[1:]] == [None] * 3
    assert rows[1].estimate.smallest_p == 2**-4


def test_five_changed_cases_can_be_called() -> None:
    five, four = row_of(*binary_scores(0, 5, 40)), row_of(*binary_scores(0, 4, 40))
    assert (five.estimate.p, four.estimate.p) == pytest.approx((2**-5, 2**-4))
    assert (five.label, four.label) == (RowLabel.WORSE, RowLabel.NOISE)


def test_without_a_base_everything_is_new() -> None:
    suite = suite_of({"score": cases([1.0] * 12), "broken": cases([None] * 12)})
    comparison = compare(run_of(suite), None, "no run of main")
    assert [row.label for row in comparison.rows] == [RowLabel.NEW, RowLabel.UNMEASURABLE]
    assert comparison.base_note == "no run of main"
