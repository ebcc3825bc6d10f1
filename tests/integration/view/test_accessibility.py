"""The page is for everybody: no fault that axe finds, both themes, small screens."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.integration.page.test_access import check_looks, needs_axe
from tests.integration.view.conftest import Looker, Place


@needs_axe
def test_axe_finds_nothing_in_any_view(place: Place, look: Looker) -> None:
    with place.viewing() as address:
        page = look(address, bypass_csp=True)
        expect(page.locator("h1")).to_have_text("No run yet")
        check_looks(page, "view-nothing")
        with place.running("-m", "stricter retrieval"):
            place.let_go("one", "bad")
            expect(page.locator(".cases li")).to_have_count(1)
            check_looks(page, "view-live")
        expect(page.locator("iframe")).to_have_attribute("data-ready", "yes")
        expect(page.frame_locator("iframe").locator("html")).to_have_attribute("data-ready", "all")
        check_looks(page, "view-report")


def test_reduced_motion_is_respected(place: Place, look: Looker) -> None:
    with place.viewing() as address, place.running():
        page = look(address, reduced_motion="reduce")
        place.let_go("one")
        bar = page.get_by_role("progressbar", name="demo")
        expect(bar).to_be_visible()
        moving = "(each) => getComputedStyle(each, '::-webkit-progress-value').transitionDuration"
        assert bar.evaluate(moving) in ("0s", "")
