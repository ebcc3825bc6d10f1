"""A run followed from before its beginning to its report, and the next one after it."""

from __future__ import annotations

import sys

from playwright.sync_api import expect
from tests.integration.view.conftest import LOOSE, Looker, Place


def test_a_page_follows_a_run_to_its_report(place: Place, look: Looker) -> None:
    with place.viewing() as address:
        page = look(address)
        expect(page.locator("h1")).to_have_text("No run yet")
        assert "token" not in page.url
        with place.running("-m", "stricter retrieval"):
            expect(page.locator("h1")).to_have_text("stricter retrieval")
            place.let_go("one", "bad")
            expect(page.locator(".cases li")).to_contain_text("is-equals 0, needs ≥ 1")
            expect(page.locator(".cases li")).to_contain_text("<i>good</i>")
            expect(page.locator(".facts")).to_contain_text("2 of 4 cases")
            expect(page.get_by_role("row", name="demo")).to_contain_text("is-equals 0.500")
            expect(page.get_by_role("progressbar", name="demo")).to_have_attribute("max", "4")
            assert page.get_by_role("progressbar", name="demo").evaluate("(each) => each.value") == 2
            expect(page.get_by_role("status").first).to_contain_text("1 failed")
            expect(page).to_have_title("2 of 4 cases · stricter retrieval · scoregate")
            place.let_go("two", "last")
            expect(page.frame_locator("iframe").locator("h1")).to_contain_text("gates passed")
        expect(page.get_by_role("combobox", name="compared with")).to_have_value("reported")
        assert not (place.out / "run" / ".live.json").exists()


def test_a_reader_at_the_top_is_moved_and_others_are_asked(place: Place, look: Looker) -> None:
    place.run("-m", "first")
    with place.viewing() as address:
        top, reading = look(address), look(address)
        for page in (top, reading):
            expect(page.frame_locator("iframe").locator(".brand")).to_contain_text("first")
        reading.frame_locator("iframe").locator(".list tbody tr:not(.space)").first.click()
        expect(reading.frame_locator("iframe").get_by_role("dialog")).to_be_visible()
        with place.running("-m", "second"):
            expect(top.locator("main > .head h1")).to_have_text("second")
            expect(reading.locator("#news")).to_contain_text("A run is in progress")
            expect(reading.frame_locator("iframe").get_by_role("dialog")).to_be_visible()
        expect(top.frame_locator("iframe").locator(".brand")).to_contain_text("second")
        expect(reading.locator("#news")).to_contain_text("There is a newer run")
        expect(reading.frame_locator("iframe").locator(".brand")).to_contain_text("first")
        reading.get_by_role("button", name="Show").click()
        expect(reading.frame_locator("iframe").locator(".brand")).to_contain_text("second")
        expect(reading.locator("#news")).to_be_hidden()


def test_a_killed_run_is_not_awaited(place: Place, look: Looker) -> None:
    with place.viewing() as address:
        page = look(address)
        with place.running("-m", "doomed") as process:
            expect(page.locator("h1")).to_have_text("doomed")
            process.kill()
            expect(page.locator("h1")).to_contain_text("doomed · incomplete")
        assert (place.out / "run" / ".live.json").exists()


def test_exec_runs_are_followed(place: Place, look: Looker) -> None:
    with place.viewing() as address:
        page = look(address)
        place.hold()
        arguments = ("exec", LOOSE, "-m", "by exec", "--", sys.executable, "evals/demo.py")
        process = place.project.start(*arguments, CI="")
        expect(page.locator("h1")).to_have_text("by exec")
        place.let_go("one", "two", "bad", "last")
        process.communicate(timeout=180)
        expect(page.frame_locator("iframe").locator(".brand")).to_contain_text("by exec")


def test_a_job_keeps_no_earlier_runs(place: Place) -> None:
    for message in ("one", "two"):
        place.run("-m", message, CI="true")
    assert sorted(path.name for path in (place.out).iterdir() if path.is_dir()) == ["run"]
    place.project.write("scoregate.toml", "keep_runs = 1\n")
    for message in ("three", "four"):
        place.run("-m", message)
    assert len(list((place.out / "earlier").iterdir())) == 1
