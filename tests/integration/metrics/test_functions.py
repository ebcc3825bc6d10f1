"""Functions as metrics: what they are called with, what they may return, and what that is worth."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.integration.judging.suites import only_case
from tests.integration.metrics.suites import MULTI, SINGLE, run

from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.kernel.types.evaluation import Threshold
from scoregate.metrics import MetricResult, metric
from scoregate.metrics.scorers import metric_fingerprint


@metric("short", "numeric", "Few words", min_score=0, max_score=10, threshold=5, threshold_operator="<=")
def short(input: str, output: str) -> dict[str, Any]:  # noqa: A002
    return {"score": len(output.split()), "reason": f"after {input}", "words": output.split()}


@metric()
async def polite(input: str, output: str, expected_output: str, context: Any) -> MetricResult:  # noqa: A002, ARG001
    return MetricResult(float("please" in output), {"reason": f"{expected_output} {list(context)}"})


def test_it_gets_its_arguments_and_stays_a_function() -> None:
    assert short("a", "b c") == {"score": 2, "reason": "after a", "words": ["b", "c"]}
    result = short.evaluate("hi", "one two")
    assert result.score == 2
    expected = {"score_type": "numeric", "name": "short", "reason": "after hi", "is_successful": True}
    assert result.details.items() >= expected.items()
    assert result.details["words"] == ["one", "two"]
    assert polite.evaluate("a", "please", "x", ["c"]).details["reason"] == "x ['c']"
    listed = {"score", "score_type", "name", "prompt", "reason", "is_successful", "min_score", "max_score"}
    assert polite.evaluate("a", "please", "x", ["c"]).details.keys() == listed | {"scale"}
    assert (polite.name, short.description) == ("polite", "Few words")


def test_a_suite_calls_it_in_a_thread_and_compares_parts_of_its_scale() -> None:
    in_main = set()

    @metric("where", "binary")
    def where(input: str, output: str) -> dict[str, Any]:  # noqa: A002, ARG001
        in_main.add(threading.current_thread() is threading.main_thread())
        return {"score": True}

    suite = run([short, where, polite])
    evaluations = only_case(suite).evaluations
    assert (evaluations["short"].score, evaluations["short"].threshold) == (0.2, Threshold(lte=0.5))
    assert evaluations["short"].passed
    assert (evaluations["where"].score, evaluations["where"].passed) == (1, True)
    assert (evaluations["polite"].score, evaluations["polite"].passed) == (0, None)
    assert in_main == {False}
    assert not suite.evaluators["short"].higher_is_better


RETURNED: list[tuple[dict[str, Any], Any, Any]] = [
    ({}, {"score": 0.25}, (0.25, None)),
    ({"threshold": 0.5}, {"score": 0.25}, (0.25, False)),
    ({"threshold": 0.5}, {"score": 0.25, "is_successful": True}, (1, True)),
    ({"threshold": 0.5}, {"score": 0.75, "is_successful": True}, (0.75, True)),
    ({}, {"score": 0.25, "is_successful": False}, (0, False)),
    ({"score_type": "binary"}, {"score": 0}, (0, False)),
    ({"score_type": "binary"}, {"score": True}, (1, True)),
    ({"score_type": "categorical", "passing_categories": "a"}, {"score": "a"}, (1, True)),
    ({"score_type": "categorical", "passing_categories": "a"}, {"score": "b"}, (0, False)),
    ({"score_type": "categorical"}, {"score": "b", "is_successful": True}, (1, True)),
    ({"score_type": "categorical"}, {"score": "b"}, None),
    ({}, {"score": None}, None),
    ({}, None, None),
]


@pytest.mark.parametrize(("terms", "returned", "expected"), RETURNED)
def test_returned_values_are_scores(terms: dict[str, Any], returned: Any, expected: Any) -> None:
    function = metric("m", **terms)(lambda input, output: returned)  # noqa: A006, ARG005
    case = only_case(run([function]))
    evaluation = case.evaluations.get("m")
    assert (evaluation and (evaluation.score, evaluation.passed)) == expected
    assert case.unscored == (("m",) if expected is None else ())


BAD: list[tuple[dict[str, Any], Any, str]] = [
    ({}, 0.5, "must return a dict"),
    ({}, {"value": 1}, "must return a dict"),
    ({}, {"score": "1"}, "must be a number"),
    ({}, {"score": 2}, "must lie from 0 to 1, not at 2"),
    ({}, {"score": float("nan")}, "must be finite"),
    ({"score_type": "binary"}, {"score": 0.5}, "must be True or False"),
    ({"score_type": "binary"}, {"score": [1]}, "must be True or False"),
    ({"score_type": "categorical", "categories": ["a", "b"]}, {"score": "c"}, "one of its categories"),
    ({"score_type": "categorical"}, {"score": 1}, "must be one of its categories, a string"),
]


@pytest.mark.parametrize(("terms", "returned", "message"), BAD)
def test_an_invalid_grade_is_an_error(terms: dict[str, Any], returned: Any, message: str) -> None:
    function = metric("m", **terms)(lambda input, output: returned)  # noqa: A006, ARG005
    case = only_case(run([function]))
    assert case.evaluations == {}
    assert message in case.errors[0].error.message
    with pytest.raises((TypeError, ValueError), match=message):
        function.evaluate("a", "b")


def test_an_exception_keeps_its_type() -> None:
    function = metric("m")(lambda input, output: 1 / 0)  # noqa: A006, ARG005
    assert only_case(run([function])).errors[0].error.type == "ZeroDivisionError"


def test_only_conversation_functions_get_conversations() -> None:
    turns = metric("turns", min_score=0, max_score=10)(lambda conversation: {"score": len(conversation.turns)})
    either = metric("either")(lambda conversation, output: {"score": 1})  # noqa: ARG005
    cases = {case.hash: case for case in run([short, either], {"one": SINGLE, "many": MULTI}).cases}
    assert cases["many"].unscored == ("short",)
    assert cases["one"].unscored == ()
    assert only_case(run([turns], {"many": MULTI})).evaluations["turns"].score == 0.2
    assert only_case(run([turns])).unscored == ("turns",)
    assert short.metric_scope == (TestType.SINGLE_TURN,)


def unknown(input: str, output: str, weather: str) -> None: ...  # noqa: A002
def anything(input: str, output: str, **more: Any) -> None: ...  # noqa: A002
def too_little(output: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"), [(unknown, "weather"), (anything, "more"), (too_little, "must take input and output")]
)
def test_invalid_functions(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        metric("m")(function)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"score_type": "percent"}, "score_type must be one of numeric, categorical, binary"),
        ({"threshold": 3}, "threshold must lie from 0 to 1"),
        ({"max_score": 3}, "both or not at all"),
        ({"categories": ["a"], "passing_categories": "b"}, "none of its categories"),
    ],
)
def test_invalid_options(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        metric("m", **terms)


def test_one_for_conversations_takes_one() -> None:
    with pytest.raises(MetricError, match="has no parameter for what it is to grade"):
        metric("m", metric_scope="multi-turn")(lambda input, output: None)  # noqa: A006, ARG005


def test_its_fingerprint_has_code_and_options() -> None:
    code = metric_fingerprint(short).source
    assert code is not None
    assert code != metric_fingerprint(polite).source
    strict, mild = (metric_fingerprint(metric("m", threshold=limit)(short.function)) for limit in (0.5, 0.1))
    assert (strict.source, strict.parameters != mild.parameters) == (mild.source, True)
