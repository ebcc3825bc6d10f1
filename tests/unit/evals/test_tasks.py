"""`evaluate` with several tasks: one suite for each on the same cases, mistakes in tasks, and the result."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.evals import VariantState
from scoregate.kernel.compare.variants import VariantRanking
from scoregate.scorers import contains

ROWS = [{"input": str(at), "expected": "9"} for at in range(40)]


def good(question: str) -> str:
    return f"{question}: at 9"


async def half(question: str) -> str:
    await asyncio.sleep(0)
    return "9" if int(question) % 2 else "later"


def bad(question: str) -> str:
    if question == "13":
        raise ValueError("no answer")
    return "later"


def run(task: Any, name: str | None = "hours", data: Any = ROWS, **options: Any) -> Any:
    return evaluate(name, data=data, task=task, scorers=contains(), **options)


def problems(result: Any) -> list[str]:
    results = result.variants or (result,)
    return [error.message.partition(": ")[2] for error in results[0].errors]


def test_each_task_is_a_variant_of_one_suite() -> None:
    result = run({"g": good, "h": half, "b": bad}, repeats=2, timeout=5)
    assert [(each.id, each.label, dict(each.params)) for each in result.variants] == [
        ("hours", "hours [task=g]", {"task": "g"}),
        ("hours", "hours [task=h]", {"task": "h"}),
        ("hours", "hours [task=b]", {"task": "b"}),
    ]
    by_variant = result.by_variant
    assert {name: each.scores["contains"] for name, each in by_variant.items()} == {"g": 1.0, "h": 0.5, "b": 0.0}
    assert len(by_variant["b"].failed) == 80
    assert {each.output for each in by_variant["h"].cases} == {"9", "later"}
    assert repr(result) == "<EvalResult hours: 3 variants>"
    assert not result.passed
    assert result.best.label == "hours [task=g]"
    (ranking,) = result.rankings
    assert isinstance(ranking, VariantRanking)
    assert {row.name: row.state for row in ranking.rows} == {
        "g": VariantState.BEST,
        "h": VariantState.WORSE,
        "b": VariantState.WORSE,
    }
    assert str(ranking) == "contains: g is the best of 3 variants at 39 cases (95% confidence)."
    assert by_variant["g"].compare(by_variant["h"]).rows[0].label == "better"


def test_a_list_takes_the_names_of_the_functions() -> None:
    class Bot:
        def __call__(self, question: str) -> str:
            return f"9 {question}"

    result = run([good, partial(half), Bot()])
    assert list(result.by_variant) == ["good", "half", "Bot"]
    assert result.best is None
    assert [row.name for row in result.rankings[0].candidates] == ["good", "Bot"]


def test_a_dict_of_one_task_is_a_variant_too() -> None:
    result = run({"only": good})
    assert result.variants == ()
    assert dict(result.params) == {"task": "only"}
    assert list(result.by_variant) == ["only"]
    assert result.rankings == ()
    assert result.best is None
    single = run(good)
    assert (single.params, single.by_variant, single.rankings) == (None, {}, ())


@pytest.mark.parametrize("tasks", [{}, []])
def test_no_task_is_a_problem(tasks: Any) -> None:
    assert problems(run(tasks)) == ["task must name at least one function, not be empty"]


def test_wrong_tasks_are_problems_and_the_others_run() -> None:
    def strange(nothing_like_it: str, other: str) -> None: ...

    result = run([good, good, lambda question: question, 7, strange, half])
    messages = problems(result)
    assert messages[:3] == [
        "two tasks have the name 'good': give a dict, task={'a': …, 'b': …}",
        "a lambda in a list of tasks has no name: give a dict, task={'a': lambda …}",
        "task 'int' must be callable, not 7",
    ]
    assert messages[3].startswith("the task 'strange' can't be called: no value is named like its parameters")
    assert list(result.by_variant) == ["good", "half"]
    assert problems(run({"": good, 3: good, "x" * 101: good, "a": half})) == [
        "the name of a task must be a text of 1 to 100 characters, not ''",
        "the name of a task must be a text of 1 to 100 characters, not 3",
        f"the name of a task must be a text of 1 to 100 characters, not '{'x' * 99}",
    ]
    assert problems(run({"a": good}, name=None)) == ["it needs a name: evaluate('opening-hours', data=…, task=…)"]


def test_the_summary_ends_with_the_rankings(capsys: pytest.CaptureFixture[str]) -> None:
    run({"g": good, "h\x1b[31m": half})
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "  contains: g is the best of 2 variants at 40 cases (95% confidence)."
    assert "\x1b" not in "".join(lines)


def test_numbers_and_arrays_of_numpy_are_recorded_and_identify_cases() -> None:
    numpy = pytest.importorskip("numpy")
    data = [{"input": number, "expected": int(number)} for number in numpy.arange(3)]
    result = evaluate(
        "demo", data=data, task=lambda number: number * 2, scorers=lambda output, expected: output == expected * 2
    )
    assert result.passed, result.errors
    assert {case.name: case.output for case in result.cases} == {"0": 0, "1": 2, "2": 4}
    assert {case.hash for case in result.cases} == {
        case.hash for case in evaluate("plain", data=[0, 1, 2], task=str, scorers=bool).cases
    }
    outputs = {"scores": numpy.array([[0.5, 1]]), "ok": numpy.bool_(True), "mean": numpy.float32(0.25)}
    (case,) = evaluate("arrays", data=[1], task=lambda number: outputs, scorers=lambda: True).cases  # noqa: ARG005
    assert case.output == {"scores": [[0.5, 1.0]], "ok": True, "mean": 0.25}
    (large,) = evaluate("large", data=[1], task=lambda size: numpy.zeros(size * 1_000_001), scorers=bool).cases
    assert "numpy.ndarray" in large.errors[0].error.message
