"""Any two runs are compared: by keyboard, by address, and by arguments of the command."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.integration.view.conftest import Looker, Place


def report_locator(page: Page, selector: str) -> Locator:
    return page.frame_locator("iframe").locator(selector)


def test_the_keyboard_selects_two_runs_in_the_address(place: Place, look: Looker) -> None:
    for message in ("first", "second", "third"):
        place.run("-m", message)
    with place.viewing() as address:
        page = look(address)
        expect(report_locator(page, ".brand")).to_contain_text("third")
        expect(report_locator(page, "html")).to_have_attribute("data-ready", "all")
        page.keyboard.press("r")
        expect(page.get_by_role("combobox", name="Run", exact=True)).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(report_locator(page, ".brand")).to_contain_text("second")
        expect(page.get_by_role("combobox", name="compared with")).to_have_value("reported")
        page.keyboard.press("Tab")
        page.keyboard.press("End")
        expect(report_locator(page, ".facts")).to_contain_text("stored run")
        expect(page).to_have_url(re.compile("run=.*against=|against=.*run="))
        page.reload()
        expect(report_locator(page, ".facts")).to_contain_text("stored run")
        with page.expect_popup() as popup:
            page.get_by_role("link", name="Open in a new tab").click()
        expect(popup.value.locator(".facts")).to_contain_text("stored run")
        expect(popup.value.locator("html")).to_have_attribute("data-ready", "all")
        page.go_back()
        expect(page.get_by_role("combobox", name="compared with")).to_have_value("reported")


def test_enter_and_escape_close_a_list(place: Place, look: Looker) -> None:
    for message in ("first", "second"):
        place.run("-m", message)
    with place.viewing() as address:
        page = look(address)
        expect(report_locator(page, "html")).to_have_attribute("data-ready", "all")
        runs = page.get_by_role("combobox", name="Run", exact=True)
        newest = runs.input_value()
        for keys in ("r", "ArrowDown", "Escape"):
            page.keyboard.press(keys)
        expect(runs).to_have_value(newest)
        expect(page.locator("iframe")).to_be_focused()
        for keys in ("r", "ArrowDown", "Enter"):
            page.keyboard.press(keys)
        expect(report_locator(page, ".brand")).to_contain_text("first")
        expect(report_locator(page, "html")).to_have_attribute("data-ready", "all")
        page.keyboard.press("j")
        expect(report_locator(page, ".list tr.at a")).to_be_focused()


def test_an_opened_case_stays_open_in_another_run(place: Place, look: Looker) -> None:
    for message in ("first", "second"):
        place.run("-m", message)
    with place.viewing() as address:
        page = look(address)
        report_locator(page, ".list tbody tr:not(.space)").first.click()
        expect(page.frame_locator("iframe").get_by_role("dialog")).to_be_visible()
        expect(page).to_have_url(re.compile("#.*case="))
        page.reload()
        expect(page.frame_locator("iframe").get_by_role("dialog")).to_be_visible()
        page.get_by_role("combobox", name="Run", exact=True).select_option(index=1)
        expect(report_locator(page, ".brand")).to_contain_text("first")
        expect(page.frame_locator("iframe").get_by_role("dialog")).to_be_visible()


def test_a_run_is_shown_as_reported_or_with_the_current_gate(place: Place, look: Looker) -> None:
    place.project.write("scoregate.toml", "min_pass_rate = 0\n")
    for options in ((), ("--baseline", "scoregate-out/run")):
        assert place.project.scoregate("run", *options, CI="").exit_code == 0
    place.project.write("scoregate.toml", "min_pass_rate = 0.99\n")
    with place.viewing() as address:
        page = look(address)
        expect(report_locator(page, "h1")).to_contain_text("passed")
        expect(report_locator(page, ".facts")).to_contain_text("stored run")
        page.get_by_role("combobox", name="compared with").select_option("nothing")
        expect(report_locator(page, "h1")).to_contain_text("failed")
        expect(report_locator(page, ".facts")).to_contain_text("no baseline was named")


def test_the_command_names_runs_and_baselines(place: Place, look: Looker) -> None:
    place.run("-m", "old")
    (place.out).rename(place.root / "old")
    place.run("-m", "new")
    with place.viewing("scoregate-out/run", "--baseline", "old") as address:
        page = look(address)
        expect(report_locator(page, ".brand")).to_contain_text("new")
        expect(report_locator(page, ".facts")).to_contain_text("stored run")
        expect(page.get_by_role("combobox", name="Run", exact=True).locator("option")).to_have_count(2)


@pytest.mark.parametrize("words", [("nowhere",), ("--baseline", "nowhere")])
def test_missing_runs_are_named(place: Place, words: tuple[str, ...]) -> None:
    outcome = place.project.scoregate("view", *words)
    assert outcome.exit_code != 0
    assert "nowhere" in outcome.output


def write_damaged_run(place: Place, name: str) -> None:
    """A run of this name that cannot be read."""
    shutil.copytree(place.out, place.root / name)
    (place.root / name / "run" / "run.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize("words", [("dam/a",), ("dam",), ("--baseline", "dam/a")])
def test_a_named_unreadable_run_is_an_error(place_with_run: Place, words: tuple[str, ...]) -> None:
    write_damaged_run(place_with_run, "dam/a")
    outcome = place_with_run.project.scoregate("view", *words)
    assert outcome.exit_code == 2, outcome.output
    assert "run.json is damaged" in outcome.output


def test_an_unreadable_run_is_listed_with_others(place: Place, look: Looker) -> None:
    place.run("-m", "whole")
    write_damaged_run(place, "dam/a")
    messages: list[str] = []
    with place.viewing("dam/a", "scoregate-out", lines=messages) as address:
        expect(report_locator(look(address), ".brand")).to_contain_text("whole")
    assert "skipped: " in "".join(messages)
    assert "run.json is damaged" in "".join(messages)


def test_a_used_port_is_reported(place: Place) -> None:
    with place.viewing() as address:
        port = address.split(":")[2].partition("/")[0]
        outcome = place.project.scoregate("view", "--port", port)
    assert outcome.exit_code == 2
    assert f"port {port} is not available" in outcome.output
