"""The matrix of variants in the page: its axes, its cells, and which of them are marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from lxml import etree
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored
from tests.unit.report.runs import CONTEXT, make_view

from scoregate.features.variants.matrix import MatrixCell, VariantMatrix, build_matrix, choose_axes
from scoregate.features.variants.step import STEP
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.variants import rank_suites
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report import html
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.policy import Criteria, Policy
from scoregate.kernel.types.runs.run import SuiteResult

GOOD, FAIR, BAD = [1.0] * 60, [1.0] * 58 + [0.0] * 2, [1.0] * 20 + [0.0] * 40


def suite_of(params: Mapping[str, Any], scores: Sequence[Any]) -> ExampleSuite:
    return ExampleSuite(scored(*scores), id="hours", params=params)


def matrix_of(suites: Sequence[SuiteResult]) -> VariantMatrix:
    (ranking,) = rank_suites(suites, lambda _: Criteria())
    return build_matrix(ranking, suites)


def arrange(*variants: tuple[Mapping[str, Any], Sequence[Any]]) -> VariantMatrix:
    return matrix_of(run_of(*(suite_of(params, scores) for params, scores in variants)).suites)


def known_cells(matrix: VariantMatrix) -> list[MatrixCell]:
    return [cell for row in matrix.rows for cell in row.cells if cell is not None]


def shape(matrix: VariantMatrix) -> dict[tuple[str, str], list[float | None]]:
    """The means of each row, by its name and the values of other parameters."""
    return {
        (row.name, row.others): [None if cell is None else cell.score.mean for cell in row.cells] for row in matrix.rows
    }


@pytest.mark.parametrize(
    ("values", "axes"),
    [
        ({"prompt": 2, "k": 3}, ("prompt", "k")),
        ({"model": 2, "prompt": 2}, ("prompt", "model")),
        ({"prompt": 2, "model": 2}, ("prompt", "model")),
        ({"model": 3, "task": 2}, ("task", "model")),
        ({"k": 2, "task": 2}, ("task", "k")),
        ({"task": 3}, ("task", None)),
        ({"model": 3}, ("model", None)),
        ({"k": 2, "model": 3, "prompt": 4}, ("prompt", "model")),
        ({"a": 2, "b": 2, "c": 2}, ("a", "b")),
    ],
)
def test_tasks_have_the_rows_and_models_the_columns(values: dict[str, int], axes: tuple[str, str | None]) -> None:
    assert choose_axes(values) == axes


def test_two_parameters_are_rows_and_columns_and_a_missing_combination_is_empty() -> None:
    matrix = arrange(
        ({"model": "small", "prompt": "plain"}, BAD),
        ({"model": "large", "prompt": "plain"}, GOOD),
        ({"model": "large", "prompt": "short"}, BAD),
    )
    assert (matrix.row_parameter, matrix.column_parameter, matrix.columns) == ("prompt", "model", ("small", "large"))
    assert shape(matrix) == {("plain", ""): [pytest.approx(1 / 3), 1.0], ("short", ""): [None, pytest.approx(1 / 3)]}


def test_one_parameter_is_one_column() -> None:
    matrix = arrange(({"task": "a"}, GOOD), ({"task": "b"}, BAD))
    assert (matrix.row_parameter, matrix.column_parameter, len(matrix.columns)) == ("task", None, 1)
    assert shape(matrix) == {("a", ""): [1.0], ("b", ""): [pytest.approx(1 / 3)]}


def test_further_parameters_are_named_in_the_row_and_constant_ones_are_not() -> None:
    grid = [{"k": k, "model": model, "prompt": prompt, "seed": 1} for k in (3, 8) for model in "ab" for prompt in "xyz"]
    matrix = arrange(*((params, GOOD) for params in grid))
    assert (matrix.row_parameter, matrix.column_parameter, matrix.columns) == ("k", "prompt", ("x", "y", "z"))
    assert [(row.name, row.others) for row in matrix.rows] == [
        ("3", "model=a"),
        ("3", "model=b"),
        ("8", "model=a"),
        ("8", "model=b"),
    ]
    assert len(known_cells(matrix)) == len(grid)


def test_values_that_look_equal_or_are_equal_keep_their_own_cells() -> None:
    long = "Answer in one sentence. " * 9
    matrix = arrange(
        ({"prompt": f"{long}a", "k": [1]}, GOOD),
        ({"prompt": f"{long}b", "k": [1]}, BAD),
        ({"prompt": f"{long}b", "k": {"x": 2}}, FAIR),
        ({"prompt": f"{long}b", "k": {"x": 2}}, GOOD),
    )
    assert len({row.name for row in matrix.rows}) == 2
    assert sorted(cell.score.mean or 0 for cell in known_cells(matrix)) == [
        pytest.approx(1 / 3),
        pytest.approx(58 / 60),
        1.0,
        1.0,
    ]


def marked(*variants: Sequence[Any]) -> list[str]:
    matrix = arrange(*(({"task": f"t{at}"}, scores) for at, scores in enumerate(variants)))
    return [cell.score.name for cell in known_cells(matrix) if cell.is_marked]


def test_only_what_the_ranking_distinguishes_is_marked() -> None:
    assert marked(BAD, GOOD) == ["t1"]
    assert marked(GOOD, BAD, FAIR) == ["t0", "t2"]
    assert marked(GOOD, FAIR) == []
    assert marked([1.0] * 9, [0.0] * 9) == []  # too few cases for ranks
    assert marked([1.0] * 40 + [ERROR] * 20, FAIR, BAD) == ["t1"]


def test_a_cell_counts_the_cases_of_its_mean_and_has_their_interval() -> None:
    fair = [1.0] * 58 + [ERROR, 0.0]
    first, second, third = known_cells(arrange(*(({"k": at}, each) for at, each in enumerate((GOOD, fair, BAD)))))
    assert [cell.cases for cell in (first, second, third)] == [59, 59, 59]
    assert first.interval == (pytest.approx(59 / (59 + 1.96**2), abs=1e-5), 1.0)  # Wilson's
    assert second.score.mean == pytest.approx(58 / 59)
    assert third.interval == (pytest.approx(0.23138, abs=1e-5), pytest.approx(0.46628, abs=1e-5))


def test_a_variant_that_is_not_comparable_has_the_cases_of_its_own() -> None:
    broken = [1.0] * 40 + [ERROR] * 20
    cells = known_cells(arrange(({"k": 1}, GOOD), ({"k": 2}, FAIR), ({"k": 3}, broken)))
    assert [cell.cases for cell in cells] == [60, 60, 40]
    assert cells[2].score.reason == "20 of 60 cases have no score"


def test_a_cluster_counts_as_one_in_an_interval() -> None:
    suites = run_of(*(suite_of({"task": name}, scores) for name, scores in (("a", GOOD), ("b", BAD)))).suites
    clusters = {row: f"document {row // 5}" for row in range(60)}
    grouped = [suite.with_columns(replace(suite.columns, clusters=clusters)) for suite in suites]
    alone, together = (known_cells(matrix_of(each))[0].interval for each in (suites, grouped))
    assert alone == (pytest.approx(60 / (60 + 1.96**2), abs=1e-5), 1.0)
    assert together == (pytest.approx(12 / (12 + 1.96**2), abs=1e-5), 1.0)


def test_costs_are_per_case_and_unknown_ones_are_left_out() -> None:
    suites = run_of(suite_of({"task": "a"}, GOOD), suite_of({"task": "b"}, BAD)).suites
    paid = (replace(suites[0], usage=Usage(400, 52, 0, 0.6, "small")), suites[1])
    first, second = known_cells(matrix_of(paid))
    assert first.cost == pytest.approx(0.01)
    assert second.cost is None


def test_the_page_has_a_table_with_links_to_the_cases_of_each_variant() -> None:
    grid = {("small", "plain"): BAD, ("large", "plain"): GOOD, ("small", "short"): BAD}
    suites = [suite_of({"model": model, "prompt": prompt}, scores) for (model, prompt), scores in grid.items()]
    run = run_of(*suites)
    sides = ComparedSides(run, Baseline(None), Settings())
    comparison = STEP.after_compare(compare(run, None), sides, lambda _, __: compare(run, None))
    text = "".join(html.render(make_view(comparison, evaluate_gates(comparison, Policy()), CONTEXT)))
    root = etree.fromstring(text.encode(), etree.HTMLParser(huge_tree=True))
    (table,) = root.xpath("//table[@class='matrix']")
    assert [" ".join(each.itertext()) for each in table.xpath(".//thead//th")] == ["prompt", "model", "small", "large"]
    cells = [" ".join("".join(cell.itertext()).split()) for cell in table.xpath(".//tbody//td")]
    assert cells == [
        "0.333: cases of model=small, prompt=plain [0.227, 0.459]60 cases",
        "1.000: cases of model=large, prompt=plain [0.940, 1.000]60 cases best",
        "0.333: cases of model=small, prompt=short [0.227, 0.459]60 cases",
        "–",
    ]
    assert table.xpath(".//td[@class='marked']//a/@href") == [
        "#suite=hours+%5Bmodel%3Dlarge%2C+prompt%3Dplain%5D&evaluator=e"
    ]
