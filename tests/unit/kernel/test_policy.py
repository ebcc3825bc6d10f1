"""Limits for all suites and for some: the later and narrower win, field by field."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria, Limits, Policy, policy_differences
from scoregate.kernel.types.runs.run import SuiteResult

SUITE = SuiteResult("support-bot", "support-bot (evals/a.py)")


def test_the_default_needs_every_threshold_and_allows_few_errors() -> None:
    limits = Policy().limits_of(SUITE)
    assert (limits.min_pass_rate, limits.max_error_rate, dict(limits.min_score)) == (1.0, 0.05, {})


@pytest.mark.parametrize(
    ("glob", "applies"),
    [
        ("support-bot", True),
        ("support-*", True),
        ("*", True),
        ("support", False),
        ("Support-bot", False),
        ("support-bot (evals/a.py)", True),
        ("*(evals/b.py)", False),
    ],
)
def test_a_glob_matches_the_id_or_the_label(glob: str, applies: bool) -> None:
    limits = Policy(suites={glob: Limits(min_pass_rate=0.5)}).limits_of(SUITE)
    assert limits.min_pass_rate == (0.5 if applies else 1.0)


def test_later_limits_win_and_unset_ones_stay() -> None:
    wide = Limits(
        min_pass_rate=1.0,
        min_score={"a": 0.1, "b": 0.1},
        max_error_rate=0.05,
        origin={"min_pass_rate": "default", "min_score.a": "default"},
    )
    narrow = {
        "support-*": Limits(min_pass_rate=0.8, min_score={"a": 0.5}, origin={"min_pass_rate": "file"}),
        "*": Limits(max_error_rate=0.0, min_score={"c": 0.9}, origin={"max_error_rate": "flag"}),
        "other": Limits(min_pass_rate=0.0),
    }
    limits = Policy(wide, narrow).limits_of(SUITE)
    assert (limits.min_pass_rate, limits.max_error_rate) == (0.8, 0.0)
    assert limits.min_score == {"a": 0.5, "b": 0.1, "c": 0.9}
    assert limits.origin == {"min_pass_rate": "file", "min_score.a": "default", "max_error_rate": "flag"}


def test_a_limit_of_0_is_a_limit() -> None:
    assert Policy(suites={"*": Limits(min_pass_rate=0.0)}).limits_of(SUITE).min_pass_rate == 0.0


def test_every_change_of_policy_is_listed() -> None:
    old = Policy(Limits(max_drop={"*": 0.1}), of_base=True)
    narrow = {"tone": EvaluatorCriteria(higher_is_better=False)}
    new = Policy(
        Limits(), {"rag": Limits(max_cost=1.0)}, criteria=Criteria(alpha=0.01, min_effect=0.5, evaluators=narrow)
    )
    assert list(policy_differences(old, new)) == [
        "max_drop.* for all suites: 0.1 → not set",
        "max_cost for suites 'rag': not set → 1",
        "policy_from: base → head",
        "alpha: 0.05 → 0.01",
        "min_effect: 0.01 → 0.5",
        "higher_is_better for scorers 'tone': not set → false",
    ]


def test_a_criterion_that_repeats_a_limit_has_its_name_and_is_listed_once() -> None:
    old, new = Policy(criteria=Criteria(max_dropped=1.0)), Policy()
    assert list(policy_differences(old, new)) == ["max_error_rate: 1 → 0.05"]
    old = Policy(Limits(max_error_rate=1.0), criteria=Criteria(max_dropped=1.0))
    new = Policy(Limits(max_error_rate=0.05))
    assert list(policy_differences(old, new)) == ["max_error_rate for all suites: 1 → 0.05"]
