"""Suites as the engine runs them, their limits, and the bounds of what events hold."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from scoregate.kernel.types.event_values import (
    MOST_CHOICES,
    Choice,
    EvaluatorInfo,
    HumanReviewField,
    HumanReviewFieldContentType,
    ListedTool,
    SetupPart,
    truncate_text,
)
from scoregate.kernel.types.runs import past_runs
from scoregate.kernel.types.sharding.packing import LaunchDuration, SuiteDuration, pack_launches
from scoregate.kernel.types.skill_formats.case_graders import CaseGraders
from scoregate.kernel.types.suite import Case, Description, RunLimits, Scorer, Suite, read_limits

NAMES = ("most", "again")


@pytest.mark.parametrize(
    ("given", "limits", "problem"),
    [
        ((1, 0, None), RunLimits(1, 0, None), None),
        ((5, 3, 0.5), RunLimits(5, 3, 0.5), None),
        ((1, 0, inf), RunLimits(1, 0, inf), None),
        ((0, 0, None), RunLimits(10, 0, None), "most must be a whole number of at least 1, not 0"),
        (("5", 0, None), RunLimits(10, 0, None), "most must be a whole number of at least 1, not '5'"),
        ((1, -1, None), RunLimits(1, 0, None), "again must be a whole number of at least 0, not -1"),
        ((1, True, None), RunLimits(1, 0, None), "again must be a whole number of at least 0, not True"),
        ((1, 0, 0), RunLimits(1, 0, None), "timeout must be a number of seconds over 0, not 0"),
        ((1, 0, "9"), RunLimits(1, 0, None), "timeout must be a number of seconds over 0, not '9'"),
        ((1, 0, nan), RunLimits(1, 0, None), "timeout must be a number of seconds over 0, not nan"),
    ],
)
def test_a_wrong_limit_has_its_default_and_a_problem(
    given: tuple[Any, Any, Any], limits: RunLimits, problem: str | None
) -> None:
    problems: list[str] = []
    assert read_limits(*given, problems, names=NAMES) == limits
    assert problems == ([] if problem is None else [problem])
    shown: list[str] = []
    read_limits(0, -1, 0, shown, names=NAMES, show=lambda value: f"<{value}>")
    assert [each.rpartition(" ")[2] for each in shown] == ["<0>", "<-1>", "<0>"]


def test_defaults_of_limits_cases_and_scorers() -> None:
    assert RunLimits() == RunLimits(10, 0, None, None)
    scorer = Scorer(EvaluatorInfo("e"), len)
    assert (Case("h", None).repeats, scorer.max_concurrency, Description("n", None).digest) == (1, 10, "")


def test_the_conclusion_is_the_last_evaluator_of_a_suite() -> None:
    cases = [Case("a", None), Case("b", None, 3)]
    first, last = (Scorer(EvaluatorInfo(name), len) for name in "ab")
    suite = Suite("s", cases, len, lambda case: Description(case.hash, None), len, [first])
    assert (suite.evaluators, suite.trials) == ((first,), 4)
    assert suite.limits == RunLimits(10, 0, None, None)
    concluded = Suite("s", [], len, lambda case: Description(case.hash, None), len, [first], last)
    assert (concluded.evaluators, concluded.trials) == ((first, last), 0)


@pytest.mark.parametrize(
    ("label", "value", "name"),
    [("", "", ""), ("a", "", "a"), ("", "b", "b"), ("a", "a", "a"), ("a", "b", "a (b)")],
)
def test_a_part_of_a_setup_is_named_by_its_label_and_value(label: str, value: str, name: str) -> None:
    assert SetupPart(label, value).name == name
    assert SetupPart().position == 0


def test_a_review_field_has_texts_and_a_known_type() -> None:
    assert HumanReviewField("n", "v").content_type is HumanReviewFieldContentType.TEXT
    assert HumanReviewField("n", "v", "html").content_type is HumanReviewFieldContentType.HTML  # type: ignore[arg-type]
    assert HumanReviewField("n", "v", None).content_type is HumanReviewFieldContentType.TEXT  # type: ignore[arg-type]
    for wrong in ((5, "v"), ("n", 5), (None, None)):
        with pytest.raises(TypeError, match=f"must be strings, not {wrong[0]!r}, {wrong[1]!r}"):
            HumanReviewField(*wrong)
    with pytest.raises(ValueError, match="odd"):
        HumanReviewField("n", "v", "odd")  # type: ignore[arg-type]


def test_evaluators_have_choices_in_the_unit_up_to_a_number() -> None:
    assert MOST_CHOICES == 100
    many = tuple(Choice(number / 100) for number in range(101))
    valid, wrong = (many[:100], (Choice(0), Choice(1))), (many, (Choice(-0.1),), (Choice(1.1),))
    for choices, is_valid in (*((each, True) for each in valid), *((each, False) for each in wrong)):
        assert EvaluatorInfo("e", choices=choices).choices == (choices if is_valid else ())
    info = EvaluatorInfo("e")
    assert (info.higher_is_better, info.battles, info.boolean, info.scale) == (True, False, False, None)
    for scale, expected in (((0, 5), (0, 5)), ((5, 0), None), ((1, 1), None), ((0, inf), None)):
        assert EvaluatorInfo("e", scale=scale).scale == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abcd", 4, "abcd"),
        ("abcde", 4, "ab\n… 1 characters left out …\nde"),
        ("x" * 2_000, 10, f"{'x' * 5}\n… 1,990 characters left out …\n{'x' * 5}"),
    ],
)
def test_a_text_keeps_its_start_and_end(text: str, limit: int, expected: str) -> None:
    assert truncate_text(text, limit) == expected


def test_names_of_tools_are_bounded() -> None:
    tool = ListedTool(*("x" * 10_000 for _ in range(5)))
    lengths = {len(getattr(tool, name)) for name in ("server", "name", "description", "arguments", "result")}
    assert len(lengths) == 1
    assert lengths == {len(SetupPart("x" * 10_000).label)} == {len(SetupPart(value="x" * 10_000).value)}
    assert lengths < {*range(10_000)}


def test_bounds_of_a_history_and_of_labels() -> None:
    assert (past_runs.MOST_RUNS, past_runs.MOST_SERIES) == (20, 500)
    assert (past_runs.MAX_HISTORY_BYTES, past_runs.MAX_TEXT_LENGTH) == (262_144, 200)
    graders = CaseGraders()
    for length in (300, 301):
        graders.add("x" * length, "kind", 1)
    assert [len(each.label) for each in graders.graders] == [300, 300]


def test_a_suite_is_split_into_as_many_parts_as_its_length_needs() -> None:
    launch = LaunchDuration("a", 0.0, (SuiteDuration("s", 99.0, 100),))
    assert [seconds for seconds, _ in pack_launches([launch], 3)] == [33.0, 33.0, 33.0]
    assert {each.parts for _, work in pack_launches([launch], 3) for each in work if each.suite} == {3}
