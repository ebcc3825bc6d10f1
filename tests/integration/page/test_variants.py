"""The matrix of variants in a browser: it leads to cases, and everybody can read it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.integration.page.conftest import Opener
from tests.integration.page.test_access import check_looks, needs_axe
from tests.unit.kernel.builders import ExampleSuite, run_of, scored
from tests.unit.report.runs import CONTEXT, make_view

from scoregate.features.variants.step import STEP
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.html import render
from scoregate.kernel.types.runs.policy import Policy


@pytest.fixture(scope="module")
def grid_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three models with two prompts each; only the large models are good."""
    failing = {"small": 40, "large": 2, "huge": 0}
    grid = product(failing, ("plain", "short"))
    suites = (
        ExampleSuite(
            scored(*[1.0] * (60 - failing[model]), *[0.0] * failing[model]),
            id="hours",
            params={"model": model, "prompt": prompt},
        )
        for model, prompt in grid
    )
    run = run_of(*suites)
    sides = ComparedSides(run, Baseline(None), Settings())
    comparison = STEP.after_compare(compare(run, None), sides, lambda _, __: compare(run, None))
    path = tmp_path_factory.mktemp("grid") / "report.html"
    view = make_view(comparison, evaluate_gates(comparison, Policy()), CONTEXT)
    path.write_text("".join(render(view)), encoding="utf-8")
    return path


def test_a_cell_shows_the_cases_of_its_variant(grid_report: Path, visit: Opener) -> None:
    page = visit(grid_report)
    expect(page.locator(".controls output")).to_have_text("360 cases")
    cell = page.locator("table.matrix tr", has_text="short").locator("td").first
    expect(cell).to_contain_text("0.333")
    cell.click(position={"x": 140, "y": 30})  # beside the words
    expect(page.locator(".controls output")).to_have_text("60 of 360 cases")
    expect(page.locator("select[name=suite]")).to_have_value("hours [model=small, prompt=short]")
    expect(page.locator(".list tbody th a").first).to_be_in_viewport()


def test_the_matrix_needs_no_script(grid_report: Path, visit: Opener) -> None:
    page = visit(grid_report, ready=False, java_script_enabled=False)
    table = page.get_by_role("region", name="Matrix of variants by e")
    assert [each.split("\n")[0] for each in table.locator("tbody th").all_inner_texts()] == ["plain", "short"]
    expect(table.locator("td.marked")).to_have_count(4)
    expect(table.locator("td.marked").first).to_contain_text("may be the best")


@needs_axe
def test_axe_finds_nothing_in_a_matrix(grid_report: Path, visit: Opener) -> None:
    check_looks(visit(grid_report, bypass_csp=True), "variants")
