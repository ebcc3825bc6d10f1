"""The report is for everybody: screen readers, both themes, small screens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.integration.page.conftest import Opener

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.is_file(),
    reason="NOT TESTED, accessibility: run npm install --prefix tests --no-package-lock --ignore-scripts",
)


SHOTS = os.environ.get("SCOREGATE_TEST_SHOTS")


def looks(page: Page) -> Iterator[str]:
    """Show the page in either theme on a wide and on a small screen, and give the name of each."""
    for width in (1200, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for theme in themes(page):
            yield f"{theme}-{width}"


def themes(page: Page) -> Iterator[str]:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        yield theme


def check_looks(page: Page, name: str) -> None:
    """In each look, axe finds nothing and the page is as wide as the screen."""
    for look in looks(page):
        assert (look, violations(page)) == (look, [])
        assert page.viewport_size is not None
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / f"{name}-{look}.png", full_page=True)


def violations_in_both_themes(page: Page) -> list[tuple[str, str]]:
    return [(theme, each) for theme in themes(page) for each in violations(page)]


def violations(page: Page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [f"{each['id']}: {node['html'][:200]}" for each in result["violations"] for node in each["nodes"]]


@needs_axe
def test_axe_finds_nothing_on_the_page_or_in_an_opened_case(report: Path, visit: Opener) -> None:
    page = visit(report, bypass_csp=True)
    assert violations_in_both_themes(page) == []
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.get_by_role("dialog").locator("h2")).to_be_focused()
    assert violations_in_both_themes(page) == []
    page.goto(page.url.partition("#")[0] + "#suite=talks")
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.locator(".talk")).to_be_visible()
    assert violations_in_both_themes(page) == []


@needs_axe
def test_axe_finds_nothing_without_script(report: Path, visit: Opener) -> None:
    page = visit(report, bypass_csp=True)
    page.evaluate("document.getElementById('app').remove(), document.getElementById('plain').hidden = false")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert violations(page) == []


@pytest.mark.parametrize("width", [360, 820])
def test_nothing_but_tables_is_wider_than_a_small_screen(report: Path, visit: Opener, width: int) -> None:
    page = visit(report, viewport={"width": width, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click(".list tbody tr:not(.space) >> nth=0")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("h2")).to_be_visible()
    assert dialog.evaluate("(each) => each.scrollWidth - each.clientWidth") <= 0


def test_a_phone_shows_change_verdict_and_gates(report: Path, visit: Opener) -> None:
    page = visit(report, viewport={"width": 390, "height": 780})
    worse = page.locator("table.forest tr.worse")
    parts = [worse.locator(part) for part in (".change", ".change ~ .text", ".plot svg")]
    gate = page.get_by_role("region", name="Gates that do not hold").locator("td[data-label=Required]")
    gate = gate.filter(has_text="a drop of at most 0.050")
    for part in (*parts, gate):
        box = part.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
    expect(page.get_by_role("region", name="Table of scorers").get_by_role("row", name="complete")).to_be_visible()


def test_every_colour_has_a_sign_or_text(report: Path, visit: Opener) -> None:
    page = visit(report)
    expect(page.locator("table.forest tr.worse")).to_contain_text("worse")
    first = page.locator(".list tbody tr:not(.space)").first
    expect(first.get_by_role("img", name="newly failing")).to_be_visible()
    page.click(".list tbody tr:not(.space) >> nth=0")
    style = "(each) => getComputedStyle(each).textDecorationLine"
    assert page.locator("dialog del").evaluate(style) == "line-through"
    assert page.locator("dialog ins").or_(page.locator("dialog del")).first.is_visible()
