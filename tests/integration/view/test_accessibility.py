"""The page is for everybody: no fault that axe finds, both themes, small screens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.integration.page.test_access import needs_axe, violations
from tests.integration.view.conftest import Looker, Place

SHOTS = os.environ.get("SCOREGATE_TEST_SHOTS")


def check_width(page: Page, name: str, width: int) -> None:
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"view-{name}.png")


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing_in_any_view(place: Place, look: Looker, theme: str, width: int) -> None:
    with place.viewing() as address:
        page = look(address, color_scheme=theme, viewport={"width": width, "height": 800}, bypass_csp=True)
        expect(page.locator("h1")).to_have_text("No run yet")
        check_width(page, f"nothing-{theme}-{width}", width)
        with place.running("-m", "stricter retrieval"):
            place.let_go("one", "bad")
            expect(page.locator(".cases li")).to_have_count(1)
            check_width(page, f"live-{theme}-{width}", width)
        expect(page.locator("iframe")).to_have_attribute("data-ready", "yes")
        expect(page.frame_locator("iframe").locator("html")).to_have_attribute("data-ready", "all")
        check_width(page, f"report-{theme}-{width}", width)


def test_reduced_motion_is_respected(place: Place, look: Looker) -> None:
    with place.viewing() as address, place.running():
        page = look(address, reduced_motion="reduce")
        place.let_go("one")
        bar = page.get_by_role("progressbar", name="demo")
        expect(bar).to_be_visible()
        moving = "(each) => getComputedStyle(each, '::-webkit-progress-value').transitionDuration"
        assert bar.evaluate(moving) in ("0s", "")
