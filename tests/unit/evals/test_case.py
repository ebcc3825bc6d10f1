"""Cases, datasets and contexts with types, as a suite runs them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

import pytest

import scoregate
from scoregate import Case, Dataset, ScoreContext, evaluate
from scoregate.evals import Trajectory
from scoregate.scorers import scorer


@dataclass
class Order:
    size: str
    number: int = 1


def test_cases_of_the_class_are_cases_like_dicts() -> None:
    cases = [Case("a", "A", id="first", metadata={"cost": 2}, tags=["critical"]), Case("b"), Case("c", None)]
    dicts = [
        {"input": "a", "expected": "A", "id": "first", "metadata": {"cost": 2}, "tags": ["critical"]},
        {"input": "b"},
        {"input": "c", "expected": None},
    ]
    assert [case.read_fields() for case in cases] == dicts
    # One after the other, as a result has cases in the order in which they finished.
    results = [evaluate("demo", data=data, task=str.upper, scorers=[expects], concurrency=1) for data in (cases, dicts)]
    one, other = ([(each.hash, each.digest, each.name, each.tags) for each in result.cases] for result in results)
    assert one == other
    assert [error.message for result in results for error in result.errors] == []


def expects(expected: Any, metadata: Any, tags: Any) -> bool:
    return expected == "A" and metadata == {"cost": 2} and tags == ("critical",)


def test_a_scorer_with_a_context_receives_everything_by_any_name() -> None:
    seen = list[ScoreContext[str, str, str]]()

    def compare(given: ScoreContext[str, str, str]) -> bool:
        seen.append(given)
        return given.output == given.expected

    def weigh(output: str, about: scoregate.ScoreContext[str, str, str], factor: float = 0.5) -> float:
        return factor * (about.output is output)

    case = Case("a", "A", metadata={"cost": 2}, tags=["x"])
    trajectory = Trajectory([], output="A")
    result = evaluate("demo", data=[case], task=lambda _: trajectory, scorers=[compare, weigh])
    assert [error.message for error in result.errors] == []
    (trial,) = result.cases
    assert trial.scores == {"compare": 1.0, "weigh": 0.5}
    (context,) = seen
    assert (context.input, context.expected, context.metadata, context.tags) == ("a", "A", {"cost": 2}, ("x",))
    assert context.case is case
    assert context.duration_s >= 0
    assert context.trace is None  # no scorer reads it
    assert context.trajectory == trajectory


def test_a_context_has_the_trace_and_the_trajectory_for_scorers_that_name_them() -> None:
    trajectory = Trajectory([], output="A")

    def reads_both(about: ScoreContext[str, str, str]) -> bool:
        return about.trajectory == trajectory and about.trace is not None

    result = evaluate("demo", data=[Case("a")], task=lambda _: trajectory, scorers=[reads_both])
    assert [error.message for error in result.errors] == []
    assert result.pass_rate == 1


Texts = ScoreContext[str, str, str]
ANNOTATIONS: list[Any] = [
    ScoreContext,
    Texts,
    Texts | None,
    Optional[Texts],  # noqa: UP045
    Annotated[Texts, "more"],
    "Texts",
    "Texts | None",
    "scoregate.ScoreContext[str, str, str]",
    "ScoreContext[str, str, OnlyForCheckers]",
]


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_a_context_is_known_by_each_form_of_its_annotation(annotation: Any) -> None:
    def compare(given: Any) -> bool:
        return bool(given.output == given.expected)

    class Comparer:
        __name__ = "comparer"

        def __call__(self, given: Any) -> bool:
            return compare(given)

    @functools.wraps(compare)
    def wrapped(*arguments: Any, **named: Any) -> bool:
        return compare(*arguments, **named)

    for function in (compare, Comparer.__call__):
        function.__annotations__["given"] = annotation
    wrapped.__annotations__["given"] = annotation
    scorers = [compare, scorer(wrapped, name="wrapped"), Comparer(), functools.partial(Comparer.__call__, Comparer())]
    for each in scorers:
        result = evaluate("demo", data=[Case("a", "A")], task=str.upper, scorers=[each])
        assert [error.message for error in result.errors] == []
        assert result.pass_rate == 1, each


def test_a_parameter_of_another_class_with_a_like_name_is_the_output() -> None:
    def check(given: MyScoreContext) -> bool:
        return given == "A"  # type: ignore[comparison-overlap]

    assert evaluate("demo", data=[{"input": "a"}], task=str.upper, scorers=[check]).pass_rate == 1


class MyScoreContext:
    """A class of a user."""


def test_a_field_that_is_called_context_is_no_score_context() -> None:
    result = evaluate(
        "demo", data=[{"input": "a", "context": "b"}], task=str.upper, scorers=[lambda context: context == "b"]
    )
    assert result.pass_rate == 1


YAML = """
- {id: one, input: {size: M}, expected: "1", tags: [a]}
- {input: {size: L, number: 2}, expected: "2"}
"""
LINES = """
{"id": "one", "input": {"size": "M"}, "expected": "1", "tags": ["a"]}
{"input": {"size": "L", "number": 2}, "expected": "2"}
"""


@pytest.mark.parametrize(("name", "text"), [("orders.yaml", YAML), ("orders.jsonl", LINES)])
def test_a_file_is_read_as_cases_of_the_types(project: Path, name: str, text: str) -> None:
    (project / name).write_text(text)
    cases = Dataset.from_file(name, Order, str)
    assert list(cases) == [Case(Order("M"), "1", id="one", tags=["a"]), Case(Order("L", 2), "2")]
    result = evaluate("demo", data=cases, task=lambda order: str(order.number), scorers=[same])
    assert [error.message for error in result.errors] == []
    assert result.pass_rate == 1


def same(context: ScoreContext[Order, str, str]) -> bool:
    return context.output == context.expected


def test_values_of_other_types_are_errors_with_their_place(project: Path) -> None:
    (project / "orders.jsonl").write_text(
        '{"input": {"size": "M"}, "expected": "1"}\n{"input": {"seize": "L"}, "expected": 2}\n'
    )
    result = evaluate("demo", data=Dataset.from_file("orders.jsonl", Order, str), task=str, scorers=[same])
    (error,) = result.errors
    assert "orders.jsonl:2: input.size: Field required" in error.message
    assert "orders.jsonl:2: expected: Input should be a valid string" in error.message
    assert len(result.cases) == 0
    missing = evaluate("demo", data=Dataset.from_file("gone.csv", str, str), task=str)
    assert "gone.csv" in missing.errors[0].message


def test_a_case_shows_its_fields_and_has_no_hash() -> None:
    assert repr(Case("a", 3, id=1)) == "Case(input='a', expected=3, id=1)"
    assert Case("a") != Case("a", None)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Case("a"))


def test_a_dataset_of_cases_can_be_read_again() -> None:
    cases = Dataset(case for case in [Case("a", "A")])
    assert [list(cases), list(cases)] == [[Case("a", "A")]] * 2


def test_tags_may_be_a_text_as_in_files() -> None:
    cases = [Case("a", tags="critical, slow"), Case("b", tags=["critical"]), Case("c", tags=None)]
    result = evaluate("demo", data=cases, task=str.upper, concurrency=1)
    assert [case.tags for case in result.cases] == [("critical", "slow"), ("critical",), ()]


@pytest.mark.parametrize("name", ["input", "case", "expected", "id", "tags", "question"])
def test_an_only_parameter_of_a_task_receives_the_input_of_a_case(name: str) -> None:
    task: Any = eval(f"lambda {name}: {name} + '!'")
    result = evaluate(
        "demo", data=[Case("a", "b", id="c", tags=["d"])], task=task, scorers=[lambda output: output == "a!"]
    )
    assert result.pass_rate == 1
    both: Any = lambda input, expected: input + expected  # noqa: E731, A006
    assert evaluate("demo", data=[Case("a", "b")], task=both, scorers=[lambda output: output == "ab"]).pass_rate == 1


def test_other_fields_of_a_file_are_metadata_which_may_name_the_cluster(project: Path) -> None:
    (project / "rows.jsonl").write_text(
        '{"input": "a", "document": "one"}\n{"input": "b", "document": "two", "metadata": {"cost": 1}}\n'
    )
    cases = Dataset.from_file("rows.jsonl", str, str)
    assert list(cases) == [
        Case("a", metadata={"document": "one"}),
        Case("b", metadata={"document": "two", "cost": 1}),
    ]
    result = evaluate("demo", data=cases, task=str.upper, cluster="document", concurrency=1)
    assert [error.message for error in result.errors] == []
    assert [case.cluster for case in result.cases] == ["one", "two"]
    wrong = evaluate("demo", data=cases, task=str.upper, cluster="page")
    assert "no case has a field 'page'" in wrong.errors[0].message
