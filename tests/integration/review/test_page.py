"""The review page in a browser: keys and clicks, hostile texts, everybody's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import Browser, Page, expect
from tests.integration.browser_command import Opener
from tests.integration.page.test_access import check_looks, needs_axe
from tests.integration.review.conftest import HOSTILE, Maker


@contextmanager
def opened(browser: Browser, address: str, **options: object) -> Iterator[Page]:
    context = browser.new_context(**options)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    context.close()


def press_for(page: Page, winner: str) -> None:
    """Press the key for the output that begins so."""
    left = page.get_by_label("Left", exact=True).locator("pre").inner_text()
    title = page.locator("h1").inner_text()
    page.keyboard.press("ArrowLeft" if left.startswith(winner) else "ArrowRight")
    expect(page.locator("h1")).not_to_have_text(title)


def test_a_pending_run_is_reviewed_and_gated(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, opened(browser, address) as page:
        assert "token" not in page.url
        press_for(page, "old")
        press_for(page, "new")
        page.keyboard.press("u")
        expect(page.locator("h1")).to_have_text("b")
        expect(page.locator("[aria-pressed=true]")).to_have_count(0)
        press_for(page, "old")
        page.get_by_label("Comment").fill("both are fine")
        page.get_by_role("button", name="Tie").click()
        expect(page.locator("h1")).to_have_text("All battles are reviewed")
        page.keyboard.press("k")
        expect(page.get_by_role("button", name="Tie")).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_label("Comment")).to_have_value("both are fine")
    reviews = [(each["case"], each["winner"]) for each in run.words("verdicts", "better")]
    assert sorted(reviews) == [("a", "baseline"), ("b", "baseline"), ("c", "tie")]
    code, output = run.gate(SCOREGATE_MIN_PASS_RATE="0.5")
    assert code == 1, output
    assert "waiting" not in output


def test_keys_in_a_field_are_letters(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, opened(browser, address) as page:
        page.get_by_label("Comment").click()
        page.keyboard.type("just")
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_label("Comment")).to_have_value("just")
        expect(page.locator("h1")).to_have_text("a")
    assert run.words("verdicts", "better") == []


def test_hostile_texts_are_escaped_and_load_nothing(reviewed: Maker, browser: Browser) -> None:
    run = reviewed(*HOSTILE)
    with run.reviewing() as address, opened(browser, address) as page:
        requests: list[str] = []
        messages: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.reload()
        page.wait_for_selector("html[data-ready]", state="attached")
        for text in ("window.pwned = 1</script>", "onerror=", "left\\u202eright\\u2066 \\u001b[31mred"):
            expect(page.locator("h1")).to_contain_text(text)
            expect(page.locator(".pair")).to_contain_text(text)
            page.keyboard.press("j")
        page.click("summary")
        assert page.locator("main img, main script, main iframe").count() == 0
        assert page.evaluate("window.pwned") is None
        assert {url.split("/")[2] for url in requests} == {address.split("/")[2]}
        assert messages == []


@needs_axe
def test_axe_finds_nothing_in_either_theme_at_any_width(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, opened(browser, address, bypass_csp=True) as page:
        page.click("summary")
        check_looks(page, "battle")
        tie_all(page)
        check_looks(page, "end")


def tie_all(page: Page) -> None:
    for name in "abc":
        expect(page.locator("h1")).to_have_text(name)
        page.keyboard.press("ArrowDown")
    expect(page.locator("h1")).to_have_text("All battles are reviewed")


def test_scores_of_outputs_are_hidden_until_battles_are_reviewed(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, opened(browser, address) as page:
        page.get_by_role("button", name="Judges").click()
        expect(page.locator("h1")).to_have_text("Review the battles first")
        expect(page.get_by_role("main")).not_to_contain_text("new")
        page.get_by_role("button", name="Battles").click()
        expect(page.locator("h1")).to_have_text("a")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("button", name="Judges 0/1")).to_be_visible()


def test_keys_numbers_and_quotations_correct_a_judge(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, opened(browser, address) as page:
        tie_all(page)
        page.get_by_role("button", name="Judges").click()
        expect(page.get_by_label("The judge")).to_contain_text("a little curt a")
        page.keyboard.press("y")
        expect(page.locator("h1")).to_have_text("b")
        page.locator("pre[data-field=output]").dblclick(position={"x": 14, "y": 16})
        page.keyboard.press("q")
        page.keyboard.type("not new")
        page.get_by_role("spinbutton").fill("0.25")
        page.get_by_role("spinbutton").press("Enter")
        expect(page.locator("h1")).to_have_text("c")
        page.get_by_role("button", name="3 0", exact=True).click()
        expect(page.locator("h1")).to_have_text("All scores of judges are reviewed")
        page.get_by_role("button", name="Agreement").click()
        expect(page.locator("tbody tr")).to_contain_text("0.333")
    overrides = {each["input_fields"][0]["value"]: each for each in run.words("overrides", "tone")}
    assert [overrides[name]["override_score"] for name in "abc"] == [0.5, 0.25, 0]
    assert overrides["b"]["comments"] == [{"comment_text": "not new", "field_id": "output", "quoted_text": "new"}]
    assert run.project.scoregate("agreement").output.count("0.333") == 1


@needs_axe
def test_axe_finds_nothing_with_judges(reviewed: Maker, browser: Browser) -> None:
    run = reviewed("a", "b", "c")
    with run.reviewing() as address, opened(browser, address, bypass_csp=True) as page:
        tie_all(page)
        page.get_by_role("button", name="Judges").click()
        page.locator("pre[data-field=output]").dblclick(position={"x": 14, "y": 16})
        page.keyboard.press("q")
        page.click("summary")
        check_looks(page, "judge")
        page.get_by_role("spinbutton").press("Enter")
        page.get_by_role("button", name="Agreement").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        check_looks(page, "agreement")


def test_a_browser_is_opened_at_the_given_port(reviewed: Maker) -> None:
    place = reviewed("one")
    opener = Opener(place.project)
    with place.reviewing("--open", BROWSER=str(opener.path)) as address:
        assert httpx.get(opener.address(looks=400), timeout=60).status_code == 200
        port = address.split(":")[2].partition("/")[0]
        taken = place.project.scoregate("review", str(place.run), "--port", port)
    assert taken.exit_code == 2
    assert f"port {port} is not available" in taken.output
