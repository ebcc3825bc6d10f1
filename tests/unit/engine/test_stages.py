"""The stages of a run: the task, the hook, the scorers, and one that comes after all others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scoregate.engine.driver import Front, run_to_end
from scoregate.errors import EndpointError
from scoregate.kernel.types.evaluation import Evaluation, Usage
from scoregate.kernel.types.event_values import EvaluatorInfo, HumanReviewField
from scoregate.kernel.types.suite import TASK, Case, Description, Scorer, Suite
from scoregate.kernel.types.usage import current_meter

pytestmark = pytest.mark.usefixtures("project")
CASES = [Case(name, name) for name in "abc"]


def run(
    task: Callable[[Any], Any] = str.upper, scorers: dict[str, Callable[..., Any]] | None = None, **fields: Any
) -> Any:
    known = [Scorer(EvaluatorInfo(name), score) for name, score in (scorers or {}).items()]
    cases = fields.pop("cases", CASES)
    suite = Suite("demo", cases, task, lambda case: Description(case.hash, case.value), lambda each: each, known)
    return run_to_end("demo", Front(lambda _: replace(suite, **fields)))


def is_good(*_: Any) -> Evaluation:
    return Evaluation(1.0)


def test_the_conclusion_comes_after_all_scorers_of_its_case() -> None:
    lock, seen = threading.Lock(), dict[str, list[str]]()

    def note(name: str) -> Callable[..., Evaluation]:
        def score(case: str, _: Any) -> Evaluation:
            with lock:
                seen.setdefault(case, []).append(name)
            return Evaluation(0.5)

        return score

    async def score_later(case: str, output: Any) -> Evaluation:
        return note("later")(case, output)

    last = Scorer(EvaluatorInfo("last"), note("last"))
    result = run(scorers={"first": note("first"), "later": score_later}, conclusion=last)
    assert {case: (sorted(names[:2]), names[2:]) for case, names in seen.items()} == {
        case.hash: (["first", "later"], ["last"]) for case in CASES
    }
    assert result.scores == {"first": 0.5, "later": 0.5, "last": 0.5}


def test_scorers_get_the_result_of_the_hook() -> None:
    def score(case: str, output: str, *, hook_results: str) -> Evaluation:
        return Evaluation(float(hook_results == f"{case} → {output}"))

    assert run(scorers={"e": score}, hook=lambda case, output: f"{case} → {output}").scores == {"e": 1.0}


def test_an_output_is_recorded_with_its_trace_and_its_form_for_reviewers() -> None:
    result = run(
        scorers={"e": is_good},
        trace_form=lambda output: None if output == "B" else {"steps": [output]},
        review_form=lambda output: () if output == "B" else (HumanReviewField("answer", output),),
        duration_form=lambda output: None if output == "B" else 12.34567,
    )
    found = {case.hash: (case.trace, case.review_outputs, case.duration_ms) for case in result.cases}
    assert found == {
        "a": ({"steps": ["A"]}, (HumanReviewField("answer", "A"),), 12.346),
        "b": (None, (), None),
        "c": ({"steps": ["C"]}, (HumanReviewField("answer", "C"),), 12.346),
    }


def test_a_failed_task_keeps_what_it_has() -> None:
    def fail(case: str) -> str:
        if case == "c":
            return case
        current_meter().add(Usage(3, cost=0.5))
        error = EndpointError("broken")
        error.partial_output = "half" if case == "a" else object()
        raise error

    result = run(fail, {"e": is_good})
    a, b, c = sorted(result.cases, key=lambda case: case.hash)
    failed = ["broken"], Usage(3, cost=0.5)
    assert [([one.error.message for one in each.errors], each.errors[0].usage) for each in (a, b)] == [failed] * 2
    assert (a.output, b.output) == ("half", None), "the second has no JSON form"
    assert (c.output, c.scores, a.scores) == ("c", {"e": 1.0}, {})


def test_each_variant_runs_its_own_task() -> None:
    tasks: dict[str, Callable[[str], str]] = {"upper": str.upper, "twice": lambda case: case * 2}
    result = run(tasks=tasks, variants=[{TASK: name} for name in tasks], scorers={"e": is_good})
    outputs = {name: sorted(case.output for case in each.cases) for name, each in result.by_variant.items()}
    assert outputs == {"upper": ["A", "B", "C"], "twice": ["aa", "bb", "cc"]}


def test_a_suite_without_scorers_or_cases_ends() -> None:
    assert [case.status for case in run().cases] == ["unscored"] * 3
    assert list(run(cases=[], scorers={"e": is_good}).cases) == []


def test_an_error_of_a_scorer_leaves_the_others() -> None:
    def fail(case: str, _: Any) -> Any:
        raise ValueError(case)

    async def fail_later(case: str, _: Any) -> Any:
        raise KeyError(case)

    result = run(scorers={"e": is_good, "broken": fail, "later": fail_later, "odd": lambda *_: 5})
    for case in result.cases:
        assert case.scores == {"e": 1.0}
        assert {each.evaluator: each.error.type for each in case.errors} == {
            "broken": "ValueError", "later": "KeyError", "odd": "TypeError",
        }  # fmt: skip


def test_a_sync_scorer_may_return_something_to_await() -> None:
    async def score(case: str) -> Evaluation:
        if case == "b":
            raise ValueError(case)
        current_meter().add(Usage(1, cost=0.25))
        return Evaluation(0.5)

    result = run(scorers={"e": lambda case, _: score(case)})
    found = {case.hash: (case.scores, [each.error.message for each in case.errors]) for case in result.cases}
    assert found == {"a": ({"e": 0.5}, []), "b": ({}, ["b"]), "c": ({"e": 0.5}, [])}
    assert result.cost == 0.5
