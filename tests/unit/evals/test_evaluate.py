"""`evaluate`: the values that a task and scorers receive, what they return, and what it is in the record."""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from scoregate import evaluate
from scoregate.errors import SuiteFailed
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.scorers import levenshtein, pairwise
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold

ROWS = [
    {"input": "When do you open?", "expected": "9", "tags": ["hours"], "metadata": {"page": 3}},
    {"input": "When do you close?", "expected": "17", "document": "faq"},
]


def answer(input: str) -> str:  # noqa: A002
    return f"{input} From 9 to 17."


def run(scorers: Any = (), *, data: Any = ROWS, task: Any = answer, name: str = "demo", **options: Any) -> Any:
    return evaluate(name, data=data, task=task, scorers=scorers, **options)


def only(result: Any) -> CaseResult:
    assert [error.message for error in result.errors] == []
    (case,) = result.cases
    return case


def problems(result: Any) -> list[str]:
    assert not result.passed
    return [error.message for error in result.errors]


def test_a_suite_in_ten_lines_passes_and_fails() -> None:
    good = run([lambda output, expected: expected in output, lambda output: len(output) < 200])
    assert good.passed
    assert list(good.evaluators) == ["expected in output", "len(output) < 200"]
    bad = run([lambda output, expected: expected in output, lambda output: len(output) < 30])
    assert not bad.passed
    assert [str(case.status) for case in bad.cases] == ["failed", "failed"]
    with pytest.raises(SuiteFailed, match="2 failed"):
        run(lambda output: len(output) < 30, assert_test=True)


def test_a_suite_without_a_score_is_not_passed() -> None:
    assert not run(lambda: None).passed
    assert not run().passed
    assert run([lambda: None, lambda: True]).passed
    for scorers, why in (
        (lambda: None, "every scorer returned None"),
        ((), "the suite has no scorers"),
        (pairwise(), "pairwise needs the output of an earlier run. `scoregate run` compares with a base"),
        ([pairwise(), lambda: None], "earlier run, and the other scorers returned None. `scoregate run`"),
    ):
        with pytest.raises(SuiteFailed, match=f"nothing was scored: .*{why}"):
            run(scorers, assert_test=True)


def test_the_task_receives_the_fields_that_its_parameters_name() -> None:
    @dataclass
    class Item:
        input: str
        tone: str = "plain"

    class Model(BaseModel):
        input: str
        tone: str = "plain"

    class Named(NamedTuple):
        input: str
        tone: str = "plain"

    async def later(input: str, tone: str) -> str:  # noqa: A002
        await asyncio.sleep(0)
        return f"{input} {tone}"

    def by_name(*, tone: str, input: str, missing: str = "none") -> str:  # noqa: A002
        assert missing == "none"
        return f"{input} {tone}"

    def everything(**fields: str) -> str:
        return f"{fields['input']} {fields['tone']}"

    def whole(case: Any) -> str:
        read = case.get if isinstance(case, dict) else partial(getattr, case)
        return f"{read('input')} {read('tone')}"

    def positional(input: str, tone: str, /) -> str:  # noqa: A002
        return f"{input} {tone}"

    tasks = [later, by_name, everything, whole, positional, partial(later)]
    for item in ({"input": "hi", "tone": "plain"}, Item("hi"), Model(input="hi"), Named("hi")):
        for task in tasks:
            assert only(run([], data=[item], task=task)).output == "hi plain"


def test_a_single_parameter_without_such_a_field_receives_the_input() -> None:
    def ask(question: str, model: str = "small") -> str:
        return f"{question}:{model}"

    for data, expected in (
        ([{"input": "hi"}], "hi:small"),
        (["hi"], "hi:small"),
        ([{"question": "hi", "model": "big"}], "hi:big"),
        ([{"inputs": "hi", "expected_output": "x"}], "hi:small"),
    ):
        assert only(run([], data=data, task=ask)).output == expected
    case = only(run([], data=[{"a": 1, "b": 2, "expected": 3}], task=lambda numbers: numbers))
    assert case.output == {"a": 1, "b": 2}, "without a field `input`, the input is all other fields"
    assert only(run([], data=["hi"], task=str.upper)).output == "HI"
    assert only(run([], data=[[1, 2]], task=lambda *numbers: numbers)).output == [[1, 2]]


def test_scorers_receive_values_by_name() -> None:
    seen: dict[str, Any] = {}

    def look(
        input: str,  # noqa: A002
        expected: str,
        output: str,
        case: Any,
        metadata: Any,
        tags: Any,
        duration_s: float,
        document: str = "",
    ) -> bool:
        seen[input] = (expected, output, case, metadata, tags, duration_s >= 0, document)
        return True

    assert run([look]).passed
    assert seen == {
        ROWS[0]["input"]: ("9", answer(str(ROWS[0]["input"])), ROWS[0], {"page": 3}, ("hours",), True, ""),
        ROWS[1]["input"]: ("17", answer(str(ROWS[1]["input"])), ROWS[1], None, (), True, "faq"),
    }


def test_sync_scorers_run_in_threads_and_async_ones_in_the_loop() -> None:
    threads: dict[str, bool] = {}

    def sync(output: str) -> bool:
        threads["sync"] = threading.current_thread() is threading.main_thread()
        return bool(output)

    async def later(output: str) -> bool:
        threads["async"] = threading.current_thread() is threading.main_thread()
        return bool(output)

    assert run([sync, later]).passed
    assert threads == {"sync": False, "async": True}

    async def inside() -> bool:
        return bool(run([sync, later]).passed)

    assert asyncio.run(inside())


def test_a_scorer_can_return() -> None:
    reason = Evaluation(0.25, Threshold(gte=0.5), {"reason": "short"})
    for returned, scores, status in (
        (True, {"s": 1.0}, "passed"),
        (False, {"s": 0.0}, "failed"),
        (0.7, {"s": 0.7}, "scored"),
        (1, {"s": 1.0}, "scored"),
        (None, {}, "unscored"),
        (reason, {"s": 0.25}, "failed"),
        ({"polite": True, "brief": 0.4, "skipped": None}, {"s.polite": 1.0, "s.brief": 0.4}, "passed"),
        (SimpleNamespace(name="n", score=0.5, metadata={"why": "x"}), {"s": 0.5}, "scored"),
        ({"score": 0.5, "reason": "short"}, {"s": 0.5}, "scored"),
        (SimpleNamespace(score=None), {}, "unscored"),
        (SimpleNamespace(score=False, reason="no"), {"s": 0.0}, "failed"),
        ([SimpleNamespace(name="a", score=1), SimpleNamespace(name="b", score=0)], {"s.a": 1, "s.b": 0}, "scored"),
    ):

        def s(output: str, returned: Any = returned) -> Any:  # noqa: ARG001
            return returned

        result = run([s], data=["x"])
        case = only(result)
        assert {name: each.score for name, each in case.evaluations.items()} == scores, returned
        assert str(case.status) == status, returned
        # Each name in the record has the fingerprint of the scorer; the scorer itself is there only without parts.
        assert set(result.evaluators) == (set(scores) or {"s"}), returned
        assert len({info.fingerprint for info in result.evaluators.values()} - {None}) == 1


def test_a_scorer_that_returns_no_score_is_an_error_of_its_case() -> None:
    for returned, message in (
        ("yes", "not str: 'yes'"),
        (7, r"the score 7 is outside of 0 to 1\. .*scale=\(0, 100\)"),
        (float("nan"), "must be finite"),
        (object(), "a scorer returns a bool"),
        ({"a": {"b": 1}}, "not dict"),
        ({"score": 0.3, "threshold": 0.5}, r"scorer\(…, threshold=0\.5\)"),
        ({"score": 0.3, "threshold": 0.5, "reason": "rude"}, "would be two scores"),
        ([1, 2], "objects with different names"),
        (1.0000000000000002, r"the score 1\.0000000000000002 is outside of 0 to 1"),
        ({1: False, "1": True}, r"keys with different texts, not \[1, '1'\]"),
        (SimpleNamespace(score="high"), "must be a number"),
    ):

        def s(output: str, returned: Any = returned) -> Any:  # noqa: ARG001
            return returned

        result = run([s], data=["x"])
        (case,) = result.cases
        assert (str(case.status), result.passed) == ("errored", False), returned
        (error,) = case.errors
        assert error.evaluator == "s"
        assert re.search(message, error.error.message), error.error.message


def test_other_evaluators_are_scorers_too() -> None:
    class Brief(BaseTestEvaluator[Any, Any]):
        id = "is-brief"

        async def evaluate_test_case(self, test_case: Any, output: str) -> Evaluation:
            return Evaluation(float(len(output) < len(test_case["input"])), Threshold(gte=1))

    class Levenshtein:
        """The signature of scorers of autoevals."""

        def _name(self) -> str:
            return "Levenshtein"

        def __call__(self, output: str, expected: str | None = None, **kwargs: Any) -> Any:
            return SimpleNamespace(name="Levenshtein", score=float(output == expected), metadata=kwargs)

    result = run([Brief(), Levenshtein()], data=ROWS[:1])
    case = only(result)
    assert set(case.evaluations) == {"is-brief", "Levenshtein"}
    assert case.evaluations["Levenshtein"].metadata == {"input": ROWS[0]["input"], "metadata": {"page": 3}}
    assert str(case.status) == "failed"


def test_an_exception_ends_only_its_own_case_or_score() -> None:
    def fragile(input: str) -> str:  # noqa: A002
        if "close" in input:
            raise RuntimeError("no line")
        return input

    def strict(output: str) -> bool:
        raise LookupError(output)

    result = run([strict, lambda: True], task=fragile)
    by_name = {case.input["input"]: case for case in result.cases}
    failed = by_name["When do you close?"]
    assert (failed.errors[0].evaluator, failed.errors[0].error.message) == (None, "no line")
    scored = by_name["When do you open?"]
    assert scored.errors[0].error.type == "LookupError"
    assert scored.evaluations["True"].passed


def test_options_reach_the_engine() -> None:
    calls: list[str] = []

    def flaky(input: str) -> str:  # noqa: A002
        calls.append(input)
        if len(calls) == 1:
            raise ConnectionError("again")
        return input

    result = run([lambda: True], data=[ROWS[1]], task=flaky, retries=1, repeats=2, tags=["nightly"], cluster="document")
    cases = list(result.cases)
    assert sorted(case.repeat for case in cases) == [0, 1]
    assert {(case.tags, case.cluster) for case in cases} == {(("nightly",), "faq")}

    async def slow(input: str) -> str:  # noqa: A002
        await asyncio.sleep(60)
        return input

    late = only(run([], data=["x"], task=slow, timeout=0.01))
    assert late.errors[0].error.type == "TimeoutError"


def test_all_cases_run_before_any_case_runs_again() -> None:
    """Trials of a cluster with one number of the repeat run at about the same time; the comparison relies on it."""
    calls: list[str] = []
    run([], data=["a", "b", "c"], task=calls.append, repeats=2, concurrency=1)
    assert calls == ["a", "b", "c", "a", "b", "c"]


def test_identity_is_the_id_or_a_digest_of_the_input() -> None:
    first = {case.hash for case in run([], data=ROWS).cases}
    changed = [{**row, "expected": "?", "tags": [], "metadata": {}} for row in reversed(ROWS)]
    assert {case.hash for case in run([], data=changed).cases} == first
    named = [{**ROWS[0], "id": 7}, {**ROWS[1], "id": "b"}, {"input": {"b": 1, "a": {2, 1}}}]
    again = [{**ROWS[1], "id": "b"}, {"input": {"a": {1, 2}, "b": 1}}, {**ROWS[0], "id": "7"}]
    hashes = [{case.hash for case in run([], data=data, task=lambda: 1).cases} for data in (named, again)]
    assert hashes[0] == hashes[1]
    assert {"7", "b"} < hashes[0]
    assert {case.name for case in run([], data=ROWS).cases} == {row["input"] for row in ROWS}


def test_two_cases_with_one_identity_are_reported_with_both_positions() -> None:
    data = [{"input": "a"}, {"input": "b", "id": "x"}, {"input": "a", "expected": 1}, {"input": "c", "id": "x"}]
    result = run([lambda: True], data=data)
    assert len(result.columns) == 2
    same_input, same_id = problems(result)
    assert "case 3 is left out: it has the input of case 1" in same_input
    assert "case 4 is left out: it has the id 'x' of case 2" in same_id


def test_problems_of_a_suite_are_named_and_its_run_is_not_green() -> None:
    def two(first: str, second: str) -> str:
        return first + second

    def scorer(out: str, exp: str) -> bool:
        return out == exp

    async def broken() -> Any:
        yield {"input": "a"}
        raise RuntimeError("the file is gone")

    for arguments, message in (
        ({"data": []}, "the data has no cases"),
        ({"data": 5}, "data must be a list of cases"),
        ({"data": {"input": "a"}}, "data must be a list of cases"),
        ({"data": broken()}, "the data can't be read: RuntimeError: the file is gone"),
        ({"data": "nothing.csv"}, "nothing.csv cannot be read"),
        ({"data": "no-dataset"}, "read: there is no dataset 'no-dataset'"),
        ({"data": [{}]}, "case 1: it has no fields"),
        ({"data": [{1: 2}]}, "case 1: the names of its fields must be texts, not 1"),
        ({"data": [{"input": 1, "id": []}]}, "case 1: its id must be a text"),
        ({"data": [{"input": 1, "tags": 5}]}, "case 1: its tags must be a list of texts"),
        ({"task": 5}, "task must be callable"),
        ({"task": two}, "named like its parameters 'first', 'second'; there are case, document, expected, input"),
        ({"scorers": [scorer]}, "no value is named like its parameters 'out', 'exp'; there are case"),
        ({"scorers": [5]}, "scorer 1 (int): it is not callable: 5"),
        ({"scorers": [levenshtein(threshold=80)]}, "scorer 1 (levenshtein): its threshold 80 is outside of 0 to 1"),
        ({"scorers": [lambda outptu, inptu: outptu + inptu]}, "scorer 1 (outptu + inptu): no value is named like"),
        ({"scorers": [answer, answer]}, "scorer 2: an earlier scorer has the name 'answer'"),
        ({"scorers": [BaseModel]}, "it is a class; pass an instance, BaseModel()"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"repeats": True}, "repeats must be"),
        ({"retries": -1}, "retries must be"),
        ({"timeout": 0}, "timeout must be"),
        ({"tags": [1]}, "tags must be"),
        ({"cluster": "nowhere"}, "no case has a field 'nowhere'"),
        ({"name": ""}, "it needs a name"),
    ):
        messages = problems(run(**{"scorers": [lambda: True], **arguments}))
        assert any(message in each for each in messages), (message, messages)


def test_with_a_wrong_option_no_case_runs() -> None:
    calls: list[str] = []
    for options, message in (
        ({"timeout": "30s"}, "timeout must be a number of seconds over 0, not '30s'"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"repeats": True}, "repeats must be"),
        ({"retries": -1}, "retries must be"),
        ({"tags": [1]}, "tags must be"),
        ({"cluster": "nowhere"}, "no case has a field 'nowhere'"),
    ):
        result = run([lambda: True], data=["a", "b"], task=calls.append, **options)
        assert (calls, len(result.cases)) == ([], 0), options
        (problem,) = problems(result)
        assert message in problem


def test_a_missing_field_is_an_error_of_its_case() -> None:
    def ask(input: str, tone: str) -> str:  # noqa: A002
        return input + tone

    result = run([lambda: True], data=[{"input": "a", "tone": "!"}, {"input": "b"}], task=ask)
    assert sorted(str(case.status) for case in result.cases) == ["errored", "passed"]
    (error,) = [error.error.message for case in result.cases for error in case.errors]
    assert error == "it has a parameter 'tone', and this case has only input"


def test_the_name_of_the_task_is_the_default_name() -> None:
    assert evaluate(data=["a"], task=answer).id == "answer"
    assert evaluate(data=["a"], task=partial(answer)).id == "answer"
    assert "it needs a name" in problems(evaluate(data=["a"], task=lambda input: input))[0]  # noqa: A006


def test_a_suite_that_is_not_selected_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_FILTERS_TEST_SUITES", '["other*"]')
    result = run([], task=lambda: 1 / 0)
    assert result.skipped
    assert len(result.columns) == 0
