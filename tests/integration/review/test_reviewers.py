"""People at the page: from a run that waits to one that is gated, alone and two at a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.integration.host.conftest import Project
from tests.integration.review.conftest import SUITE, Maker, Reviewed
from tests.integration.review.test_page import opened


def click_for(page: Page, winner: str) -> None:
    """Click on the button next to the output that begins with the text."""
    title = page.locator("h1").inner_text()
    side = "Left" if page.get_by_label("Left", exact=True).locator("pre").inner_text().startswith(winner) else "Right"
    page.get_by_role("button", name=f"{side} is better").click()
    expect(page.locator("h1")).not_to_have_text(title)


def test_a_pending_run_is_reviewed_gated_and_is_a_base(tmp_path: Path, browser: Browser) -> None:
    """Nothing but what people do: commands, and clicks on what they show."""
    project = Project(tmp_path)
    project.write("evals/demo.py", SUITE.format(texts=["a", "b", "c"]))
    project.commit()
    outcome = project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert "3 evaluations waiting for review: scoregate review" in " ".join(outcome.output.split())
    run = Reviewed(project, tmp_path / "scoregate-out" / "run")
    assert "waiting" in run.gate(SCOREGATE_MIN_PASS_RATE="0.6")[1]
    with run.reviewing() as address, opened(browser, address) as page:
        for winner in ("new", "old", "new"):
            click_for(page, winner)
        expect(page.locator("h1")).to_have_text("All battles are reviewed")
        counted = page.locator("code").inner_text()
    assert counted == f"scoregate gate {run.run}"
    strict, lenient = run.gate(SCOREGATE_MIN_PASS_RATE="0.9"), run.gate(SCOREGATE_MIN_PASS_RATE="0.6")
    assert (strict[0], lenient[0]) == (1, 0), strict[1] + lenient[1]
    assert "waiting" not in strict[1]
    base = run.run.rename(tmp_path / "base")
    second = project.scoregate("run", "--baseline", str(base))
    battle = next(row for row in second.result["rows"] if row["evaluator"] == "better")
    assert battle["base"] == battle["mean"] == pytest.approx(2 / 3)


def test_two_concurrent_reviewers_see_where_they_differ(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    both = run.reviewing("--by", "Ann"), run.reviewing("--by", "Bob")
    with both[0] as one, both[1] as other, opened(browser, one) as ann, opened(browser, other) as bob:
        click_for(ann, "new")
        expect(ann.get_by_role("button", name="Battles 1/3", exact=True)).to_be_visible()
        ann.get_by_label("Comment").fill("half a word")
        click_for(bob, "old")
        expect(bob.get_by_role("status")).to_have_text("Others disagree on a.")
        expect(ann.get_by_role("button", name="Battles 1/3 ≠1")).to_be_visible(timeout=60_000)
        expect(ann.get_by_label("Comment")).to_have_value("half a word")
        ann.get_by_role("button", name="k Back").click()
        expect(ann.locator("#others")).to_have_text(re.compile("^Bob: (left|right) ≠ differs$"))
        bob.get_by_role("button", name="k Back").click()
        expect(bob.locator("#others")).to_contain_text("Ann: ")
        click_for(bob, "new")
        expect(ann.locator("#others")).to_have_text(re.compile("^Bob: (left|right)$"), timeout=60_000)
        expect(ann.get_by_role("button", name="Battles 1/3", exact=True)).to_be_visible()
        for page, title in ((ann, "b"), (bob, "c")):
            page.get_by_role("button", name="j Skip").click()
            expect(page.locator("h1")).to_have_text(title)
        for page in (ann, bob, ann, bob):
            click_for(page, "new")
        expect(ann.locator("h1")).to_have_text("All battles are reviewed")
        expect(bob.locator("h1")).to_have_text("All battles are reviewed")
    reviews = sorted((each["case"], each["by"], each["winner"]) for each in run.words("verdicts", "better"))
    assert reviews == [(case, by, "challenger") for case in "abc" for by in ("Ann", "Bob")]


def test_long_lists_have_pages(reviewed: Maker, browser: Browser) -> None:
    run = reviewed(*map(str, range(250)))
    with run.reviewing() as address, opened(browser, address) as page:
        expect(page.locator("tbody tr")).to_have_count(0)
        page.get_by_text("All battles (250)").click()
        expect(page.locator("tbody tr")).to_have_count(200)
        expect(page.locator("tbody tr").nth(10)).to_contain_text("10")
        page.get_by_role("button", name="Show 50 of 50 more").click()
        expect(page.locator("tbody tr")).to_have_count(250)
