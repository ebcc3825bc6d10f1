"""Arguments of the fixture, and errors with a clear message."""

from __future__ import annotations

from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Label, Threshold
from scoregate.pytest_plugin import EvalCase
from scoregate.pytest_plugin.eval_case import describe_failures


class Graded:
    score = 0.25
    reason = "short"


def test_scores_of_every_kind_are_read() -> None:
    case = EvalCase()
    case.score("number", 0.8, threshold=0.5)
    case.score("bool", False)
    case.score("skipped", None, threshold=0.5)
    case.score("evaluation", Evaluation(0.5, Threshold(gte=0.9)), reason="why")
    case.score("object", Graded(), threshold=Threshold(lt=0.2))
    case.score("free", 0)
    assert case.scores == {
        "number": Evaluation(0.8, Threshold(gte=0.5)),
        "bool": Evaluation(0.0, Threshold(gte=1)),
        "skipped": None,
        "evaluation": Evaluation(0.5, Threshold(gte=0.9), {"reason": "why"}),
        "object": Evaluation(0.25, Threshold(lt=0.2), {"reason": "short"}),
        "free": Evaluation(0.0),
    }
    assert describe_failures(case) == [
        "bool 0, required: ≥ 1",
        "evaluation 0.5, required: ≥ 0.9 (why)",
        "object 0.25, required: < 0.2 (short)",
    ]


def test_a_wrong_score_raises_where_it_is_given() -> None:
    wrong: list[tuple[Any, Any, str]] = [
        ("s", 1.5, r"^score 's': the score 1\.5 is outside of 0 to 1\. Divide it by the highest score$"),
        ("s", float("nan"), "finite"),
        ("s", "0.5", "not str"),
        ("s", Label("odd"), "takes one score"),
        ("s", {"a": 1}, "takes one score"),
        ("", 1, "1 to 200"),
        ("a\nb", 1, "printable"),
        ("x" * 201, 1, "1 to 200"),
        (3, 1, "must be a text"),
        ("passed", 1, "result of the assertions"),
        ("twice", 1, "already"),
    ]
    for name, value, message in wrong:
        case = EvalCase()
        case.score("twice", 1)
        with pytest.raises((TypeError, ValueError), match=message):
            case.score(name, value)
        assert list(case.scores) == ["twice"]
    with pytest.raises(TypeError, match="threshold must be a number"):
        EvalCase().score("s", 1, threshold=True)


def test_input_and_expected_are_kept_also_if_they_are_none() -> None:
    case = EvalCase()
    case.case(input=None)
    case.case(expected="9")
    case.output("first")
    case.output("second")
    assert (case.body, case.outcome) == ({"input": None, "expected": "9"}, "second")


def test_nothing_is_accepted_after_the_end() -> None:
    noted: list[str] = []
    case = EvalCase(noted.append)
    case.score("early", 1)
    case.end("test_a.py::test_x")
    for give, what in (
        (lambda: case.score("late", 0), "score 'late'"),
        (lambda: case.output("x"), "the output"),
        (lambda: case.case(input="x"), "the case"),
    ):
        with pytest.raises(RuntimeError, match=f"{what} was given after the test test_a.py::test_x had ended"):
            give()
    assert len(noted) == 3
    assert (list(case.scores), case.outcome, case.body) == (["early"], None, {})
