"""The last runs in a browser: seen, pointed at, read aloud, printed, on a small screen and without script."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.integration.page.conftest import Opener
from tests.integration.page.test_access import needs_axe, violations_in_both_themes
from tests.integration.page.test_safety import VIOLATIONS
from tests.unit.report.example_views import EXAMPLES

from scoregate.kernel.report.html import render

WORDS = "last 9 runs: 0.970 … 0.985; now 0.890; lowest 0.890, highest 0.995"


@pytest.fixture(scope="module")
def report_with_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "report.html"
    path.write_text("".join(render(EXAMPLES["failing"]())), encoding="utf-8")
    return path


def test_each_row_has_a_line_with_this_run(report_with_history: Path, visit: Opener) -> None:
    page = visit(report_with_history)
    row = page.locator("table.forest tbody tr", has_text="has-all-substrings")
    drawing = row.get_by_role("img", name=WORDS)
    line, mark = drawing.locator("path.past").bounding_box(), drawing.locator("rect.estimate").bounding_box()
    assert line is not None
    assert mark is not None
    assert line["width"] > 60
    assert mark["x"] > line["x"] + line["width"]
    assert mark["y"] > line["y"]
    expect(page.locator("table.forest tbody tr", has_text="is-friendly").locator(".spark")).to_have_count(0)
    drawing.locator("g").nth(2).locator("rect").hover()
    pointed = page.evaluate("document.querySelector('svg.spark g:hover title').textContent")
    assert pointed == "0.955 · main@3f0e1d2, 2025-10-03 08:52 UTC"


def test_runs_are_listed_newest_first(report_with_history: Path, visit: Opener) -> None:
    for options in ({}, {"java_script_enabled": False}):
        page = visit(report_with_history, ready=False, **options)
        table = page.get_by_role("region", name="Table of the last runs")
        expect(table).to_be_hidden()
        page.get_by_text("9 earlier runs").click()
        expect(table.get_by_role("row").nth(1)).to_contain_text("main@a1b2c3d")
        expect(table.get_by_role("row").nth(2)).to_contain_text("night 8")
        expect(table.get_by_role("link").nth(1)).to_have_attribute(
            "href", "https://github.com/o/r/commit/8f0e1d2" + "0" * 33
        )


def test_the_page_policy_allows_it(report_with_history: Path, visit: Opener) -> None:
    page = visit(report_with_history, ready=False)
    page.add_init_script(VIOLATIONS)
    page.reload()
    page.wait_for_selector("html[data-ready=all]", state="attached")
    assert page.evaluate("window.refused") is None
    assert page.locator("path.past").first.evaluate("(each) => getComputedStyle(each).fill") == "none"


@needs_axe
def test_axe_finds_nothing_in_it(report_with_history: Path, visit: Opener) -> None:
    page = visit(report_with_history, bypass_csp=True)
    page.get_by_text("9 earlier runs").click()
    assert violations_in_both_themes(page) == []


@pytest.mark.parametrize("width", [360, 820])
def test_it_fits_a_small_screen(report_with_history: Path, visit: Opener, width: int) -> None:
    page = visit(report_with_history, viewport={"width": width, "height": 780})
    page.get_by_text("9 earlier runs").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints(report_with_history: Path, visit: Opener) -> None:
    page = visit(report_with_history)
    page.emulate_media(media="print")
    expect(page.get_by_role("img", name=WORDS)).to_be_visible()
