"""The result that `evaluate` and `run_test_suite` return."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import fields
from types import ModuleType
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.errors import MissingExtra
from scoregate.evals import EvalResult
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

ROWS = [
    {"input": "<b>open</b>?", "expected": "9"},
    {"input": "close?", "expected": "17"},
    {"input": "raise", "expected": ""},
]


def run(answer: str = "From 9.") -> EvalResult:
    def task(input: str) -> str:  # noqa: A002
        if input == "raise":
            raise RuntimeError("no line")
        return answer

    def has(output: str, expected: str) -> Any:
        return Evaluation(float(expected in output), Threshold(gte=1), {"reason": "looked"})

    return evaluate("hours", data=ROWS, task=task, scorers=[has, lambda output: len(output) / 20])


def test_a_result_is_shown() -> None:
    result = run()
    assert isinstance(result, EvalResult)
    assert result.pass_rate == 0.5
    assert result.scores == {"has": 0.5, "len(output) / 20": 0.35}
    assert {case.name for case in result.failed} == {"close?", "raise"}
    assert repr(result) == ("<EvalResult hours: 1 passed, 1 failed, 1 errored, has 0.500, len(output) / 20 0.350>")
    assert len(result.cases) == 3
    case = next(case for case in result.cases if case.name == "close?")
    assert (case.output, case.expected, case.scores) == ("From 9.", "17", {"has": 0.0, "len(output) / 20": 0.35})
    assert case.reasons == {"has": "looked"}
    assert next(case for case in result.failed if case.output is None).reasons == {"task": "RuntimeError: no line"}
    assert result.cases[0].hash == next(iter(result.cases)).hash
    assert result.cases[-1].hash == result.cases[1:][-1].hash
    with pytest.raises(IndexError):
        result.cases[3]


def test_a_result_is_not_awaited() -> None:
    async def use() -> None:
        await run()  # type: ignore[misc]

    with pytest.raises(TypeError, match="is ready when they return; remove `await`"):
        asyncio.run(use())


def test_the_table_for_notebooks_has_failing_cases_first_and_is_escaped() -> None:
    result = run()
    html = result._repr_html_()
    assert "<b>" not in html
    assert html.index("close?") < html.index("&lt;b&gt;open")
    assert "RuntimeError: no line" in html
    table = result.cases._repr_html_()
    assert table in html.replace("</p>", "</p>\n")
    assert table.startswith("<table><tr><th></th><th>input</th><th>output</th><th>expected</th><th>has</th>")


def test_results_are_compared_by_case() -> None:
    comparison = run("From 9 to 17.").compare(run("Closed."))
    assert {row.evaluator: (row.base, row.mean) for row in comparison.rows}["has"] == (0.0, 1.0)
    assert set(comparison.newly_passing) == {"<b>open</b>?", "close?"}
    assert comparison.newly_failing == ()
    assert "has: 0.000 → 1.000" in str(comparison)
    assert repr(comparison).startswith("<ResultComparison has: 0.000 → 1.000 (")
    html = comparison._repr_html_()
    assert "<td>has</td><td>0.000</td><td>1.000</td><td>+1.000</td>" in html
    assert "<p>newly passing: &lt;b&gt;open&lt;/b&gt;?</p>" in html


def test_a_result_is_a_data_frame() -> None:
    pytest.importorskip("pandas")
    frame = run().to_pandas().set_index("name")
    assert list(frame.columns[:4]) == ["id", "repeat", "status", "input"]
    assert frame.loc["close?", ["status", "input", "expected", "output", "has"]].tolist() == [
        "failed", "close?", "17", "From 9.", 0.0,
    ]  # fmt: skip
    assert frame["has"].isna().sum() == 1


@pytest.fixture
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of pandas: a data frame is the list of its rows."""
    pandas: Any = ModuleType("pandas")
    pandas.DataFrame = list
    monkeypatch.setitem(sys.modules, "pandas", pandas)


@pytest.mark.usefixtures("_rows")
def test_a_row_of_a_data_frame_has_what_is_known_of_a_case() -> None:
    result = run()
    rows = {row["name"]: row for row in result.to_pandas()}
    assert list(rows) == [case.name for case in result.cases]
    names = ["id", "name", "repeat", "status", "input", "expected", "output", "duration_s", "tags"]
    assert list(rows["close?"]) == [*names, "has", "len(output) / 20"]
    assert {name: rows["close?"][name] for name in names if name not in ("id", "duration_s")} == {
        "name": "close?", "repeat": 0, "status": "failed", "input": "close?", "expected": "17", "output": "From 9.",
        "tags": [],
    }  # fmt: skip
    case = next(case for case in result.cases if case.name == "close?")
    assert case.duration_ms is not None
    assert (rows["close?"]["id"], rows["close?"]["duration_s"]) == (case.hash, case.duration_ms / 1000)
    assert [rows["raise"][name] for name in ("output", "duration_s", "has")] == [None, None, None]


@pytest.mark.usefixtures("_rows")
def test_a_case_without_a_field_input_is_its_own_input() -> None:
    for data, shown in (({"question": "a"}, {"question": "a"}), ("the input", "the input"), ({"input": 3}, 3)):
        (row,) = evaluate("demo", data=[data], task=lambda **_: "", scorers=lambda: 1.0).to_pandas()
        assert row["input"] == shown


@pytest.mark.usefixtures("_rows")
def test_rows_of_variants_have_their_name() -> None:
    result = evaluate("demo", data=["a"], task={"one": str, "two": str}, scorers=lambda: 1.0)
    assert [(row["variant"], row["name"]) for row in result.to_pandas()] == [("one", "a"), ("two", "a")]


def test_a_missing_pandas_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        run().to_pandas()


def test_run_test_suite_returns_the_same_type() -> None:
    class Good(BaseTestEvaluator[Any, Any]):
        id = "good"

        def evaluate_test_case(self, test_case: Any, output: Any) -> Evaluation:
            return Evaluation(float(output == test_case["n"]), Threshold(gte=1))

    def suite(**options: Any) -> EvalResult:
        return run_test_suite("demo", [{"n": 1}], lambda case: case["n"], [Good()], test_case_hash=["n"], **options)

    result = suite()
    assert isinstance(result, EvalResult)
    assert repr(result) == "<EvalResult demo: 1 passed, good 1.000>"
    assert result.cases[0].input == {"n": 1}
    grid = suite(grid_search_params={"a": [1, 2]})
    assert repr(grid) == "<EvalResult demo: 2 variants>"
    assert all(isinstance(each, EvalResult) for each in grid.variants)
    assert grid._repr_html_().count("<table>") == 2
    with pytest.raises(ValueError, match="compare two of its `variants`"):
        grid.compare(result)
    with pytest.raises(ValueError, match="compare two of its `variants`"):
        result.compare(grid)
    plain = SuiteResult(**{each.name: getattr(result, each.name) for each in fields(SuiteResult)})
    assert [row.delta for row in result.compare(plain).rows] == [0.0], "the result of any API"
    one = suite(grid_search_params={"a": [1]})
    assert (one.variants, list(one.by_variant)) == ((), ["a=1"])
    assert one.by_variant["a=1"] is one
    assert [row.delta for row in grid.variants[0].compare(grid.variants[1]).rows] == [0.0]


def test_a_result_with_variants_has_the_trials_of_all() -> None:
    result = evaluate(
        "hours",
        data=ROWS[:2],
        task={"good": lambda _: "9 to 17", "bad": lambda _: "closed"},
        scorers=lambda output, expected: expected in output,
    )
    assert [case.output for case in result.failed] == ["closed", "closed"]
    assert len(result.cases) == len(list(result.cases)) == 4
    assert result.cases[-1].output == "closed"
    assert not result.passed
    pytest.importorskip("pandas")
    assert list(result.to_pandas()["variant"]) == ["good", "good", "bad", "bad"]
