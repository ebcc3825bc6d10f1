"""Limits of policies: which apply, how they differ, and how differences are described."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.event_values import Setup
from scoregate.kernel.types.runs.policy import (
    DEFAULTS,
    Criteria,
    EvaluatorCriteria,
    Limits,
    OneRunLimit,
    Policy,
    Severity,
    is_limit,
    list_one_run_limits,
    matches_suite,
    policy_differences,
)
from scoregate.kernel.types.runs.run import SuiteResult


def test_narrower_limits_replace_wider_ones() -> None:
    wide = Limits(min_pass_rate=0.9, max_cost=1.0, min_score={"a": 0.1, "b": 0.2}, more={"x": 1, "y": {"k": 1}})
    merged = wide.merge(
        Limits(min_pass_rate=0.0, min_score={"b": 0.3}, more={"y": {"l": 2}, "z": 3}, origin={"a": "f"})
    )
    assert (merged.min_pass_rate, merged.max_cost, merged.min_score) == (0.0, 1.0, {"a": 0.1, "b": 0.3})
    assert merged.more == {"x": 1, "y": {"k": 1, "l": 2}, "z": 3}
    assert (merged.origin, merged.find_origin("b", "a"), merged.find_origin("b")) == ({"a": "f"}, "f", "default")
    assert Limits(more={"x": None}).merge(Limits(more={"x": {"k": 1}})).more == {"x": {"k": 1}}
    assert [merged.get(name, 7) for name in ("max_cost", "x", "other")] == [1.0, 1, 7]
    assert [is_limit(value) for value in (0, 0.5, True, {"a": 1}, None, False, {})] == [True] * 4 + [False] * 3


def test_later_globs_of_suites_win() -> None:
    policy = Policy(
        Limits(min_pass_rate=0.5, max_cost=1.0, cluster="all"),
        {"b*": Limits(min_pass_rate=0.6), "bot": Limits(min_pass_rate=0.7, cluster="own"), "x": Limits(max_cost=2.0)},
    )
    assert policy.limits_of(SuiteResult("bot", "bot")).min_pass_rate == 0.7
    assert policy.limits_of(SuiteResult("bat", "bat")).min_pass_rate == 0.6
    assert policy.limits_of(SuiteResult("cat", "cat")) == policy.default
    assert len(policy.all_limits) == 4
    assert policy.cluster_settings == {"": "all", "bot": "own"}
    assert Policy().cluster_settings == {}


def test_a_suite_is_matched_by_id_label_and_evaluation() -> None:
    suite = SuiteResult("bot", "bot [a=1]", setup=Setup("evals"))
    assert [matches_suite(suite, glob) for glob in ("bot", "*a=1*", "evals", "Bot", "promptfoo")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert not matches_suite(SuiteResult("bot", "bot"), "evals")


def test_limits_for_errors_are_criteria_of_a_suite() -> None:
    suite = SuiteResult("s", "s")
    own = Policy(Limits(max_error_rate=0.0, max_lost_scores=0.2), criteria=Criteria(max_dropped=0.5, max_lost=0.6))
    assert (own.criteria_of(suite).max_dropped, own.criteria_of(suite).max_lost) == (0.0, 0.2)
    unset = Policy(Limits(), criteria=Criteria(max_dropped=0.5, max_lost=0.6))
    assert unset.criteria_of(suite) == unset.criteria


def test_criteria_of_evaluators_are_merged_by_glob() -> None:
    criteria = Criteria(
        min_effect=0.1,
        margin=0.2,
        evaluators={
            "e*": EvaluatorCriteria(margin=0.3, ignore=False),
            "ev": EvaluatorCriteria(min_effect=0.0, scale=(0, 5)),
        },
    )
    assert criteria.evaluator_criteria("x") == EvaluatorCriteria(None, 0.1, 0.2)
    assert criteria.evaluator_criteria("ex") == EvaluatorCriteria(None, 0.1, 0.3, ignore=False)
    assert criteria.evaluator_criteria("ev") == EvaluatorCriteria(None, 0.0, 0.3, scale=(0, 5), ignore=False)
    assert Criteria(min_ratio=0.5).ratio_criteria == EvaluatorCriteria(False, log(1.5), log(1.5))
    assert criteria.score_settings == [("e*", None, None, False), ("ev", (0, 5), None, None)]
    assert [
        each.keeps_scores
        for each in (
            EvaluatorCriteria(margin=0.1),
            EvaluatorCriteria(scale=(0, 5)),
            EvaluatorCriteria(threshold=Threshold(gte=1)),
            EvaluatorCriteria(ignore=True),
        )
    ] == [True, False, False, False]


def test_defaults_of_policies() -> None:
    assert (DEFAULTS.min_pass_rate, DEFAULTS.max_error_rate, DEFAULTS.severity) == (
        1.0,
        0.05,
        {"comparable": Severity.WARN},
    )
    criteria = Criteria()
    assert (criteria.alpha, criteria.min_effect, criteria.margin, criteria.min_ratio) == (0.05, 0.01, 0.02, 0.05)
    assert (criteria.few, criteria.max_dropped, criteria.max_lost) == (10, 0.05, 0.05)
    policy = Policy()
    assert (policy.default, policy.require_baseline, policy.of_base, policy.min_overrides) == (
        DEFAULTS,
        False,
        False,
        10,
    )
    assert not policy.asks_for_calibration
    assert Policy(suites={"a": Limits(min_judge_agreement=0.0)}).asks_for_calibration
    assert policy.to_record()["default"]["min_pass_rate"] == 1.0
    record = Policy(Limits(more={"x": 1}), {"a": Limits(more={"y": 2})}).to_record()
    assert (record["default"]["x"], record["suites"]["a"]["y"], "more" in record["default"]) == (1, 2, False)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {}, []),
        (
            {"default": Limits(min_pass_rate=0.5, origin={"a": "x"})},
            {"default": Limits(fail_on_regression=True)},
            ["min_pass_rate for all suites: 0.5 → not set", "fail_on_regression for all suites: not set → true"],
        ),
        (
            {"suites": {"a": Limits(max_tokens=5, cluster="x")}},
            {"suites": {"b": Limits(fail_on_critical=False)}},
            [
                "max_tokens for suites 'a': 5 → not set",
                "cluster for suites 'a': x → not set",
                "fail_on_critical for suites 'b': not set → false",
            ],
        ),
        (
            {"default": Limits(min_score={"a": 0.5, "b": 0.25, "c": 1.0}, more={"x": 1})},
            {"default": Limits(min_score={"a": 0.75, "b": 0.25, "d": 0.5}, more={"y": {"k": 2.0}})},
            [
                "min_score.a for all suites: 0.5 → 0.75",
                "min_score.c for all suites: 1 → not set",
                "min_score.d for all suites: not set → 0.5",
                "x for all suites: 1 → not set",
                "y.k for all suites: not set → 2",
            ],
        ),
        ({}, {"require_baseline": True}, ["require_baseline: false → true"]),
        ({}, {"of_base": True}, ["policy_from: head → base"]),
        ({"of_base": True}, {}, ["policy_from: base → head"]),
        ({}, {"min_overrides": 5}, ["min_overrides: 10 → 5"]),
        ({}, {"criteria": Criteria(alpha=0.1, few=5)}, ["alpha: 0.05 → 0.1", "few: 10 → 5"]),
        (
            {},
            {"criteria": Criteria(max_dropped=0.2, max_lost=0.3)},
            ["max_error_rate: 0.05 → 0.2", "max_lost_scores: 0.05 → 0.3"],
        ),
        (
            {},
            {
                "criteria": Criteria(max_dropped=0.2),
                "default": Limits(1.0, max_error_rate=0.2, severity=DEFAULTS.severity),
            },
            ["max_error_rate for all suites: 0.05 → 0.2"],
        ),
        (
            {"criteria": Criteria(evaluators={"e": EvaluatorCriteria(ignore=True)})},
            {"criteria": Criteria(evaluators={"f": EvaluatorCriteria(scale=(0, 2.5))})},
            ["ignore for scorers 'e': true → not set", "scale for scorers 'f': not set → [0, 2.5]"],
        ),
    ],
)
def test_differences_of_policies_are_described(old: dict[str, Any], new: dict[str, Any], expected: list[str]) -> None:
    assert list(policy_differences(Policy(**old), Policy(**new))) == expected


def test_limits_for_one_run_have_an_option_or_a_variable() -> None:
    origin = {
        "max_cost": "--max-cost",
        "min_score.e": "SCOREGATE_MIN_SCORE",
        "max_tokens": "INPUT_MAX-TOKENS",
        "min_pass_rate": "pyproject.toml",
        "unknown": "--unknown",
        "max_drop": 5,
    }
    default = {
        "origin": origin,
        "max_cost": 1.5,
        "min_score": {"e": 0.5},
        "max_tokens": 7,
        "min_pass_rate": 1,
        "max_drop": 0,
    }
    assert list(list_one_run_limits({"default": default})) == [
        OneRunLimit("max_cost", "", "--max-cost", 1.5),
        OneRunLimit("min_score", "e", "SCOREGATE_MIN_SCORE", {"e": 0.5}),
        OneRunLimit("max_tokens", "", "INPUT_MAX-TOKENS", 7),
    ]
    others: tuple[dict[str, Any], ...] = ({}, {"default": 5}, {"default": {}}, {"default": {"origin": 5}})
    for other in others:
        assert list(list_one_run_limits(other)) == []
