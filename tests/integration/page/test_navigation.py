"""People read the report: the verdict, what changed, then the cases behind it, by mouse and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.integration.page.conftest import Opener
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report.html import render


def rows(page: Page) -> list[str]:
    """The names of the cases in the table, as far as they are drawn."""
    return page.locator(".list tbody th a").all_inner_texts()


def expect_rows(page: Page, names: list[str]) -> None:
    """Wait until the table has these cases and no other: a page follows its address a moment later."""
    expect(page.locator(".list tbody th a")).to_have_text(names)


def list_status(page: Page) -> str:
    return page.locator(".controls output").inner_text()


def test_the_top_shows_verdict_and_changes(report: Path, visit: Opener) -> None:
    page = visit(report)
    expect(page.locator("h1")).to_contain_text("gates failed")
    expect(page.locator(".brand")).to_contain_text("stricter <b>retrieval</b>")
    gates = page.get_by_role("region", name="Gates that do not hold")
    expect(gates.get_by_role("row", name="drop")).to_contain_text("a drop of at most 0.050")
    coloured = page.locator("table.forest tr.worse")
    assert coloured.count() == 1
    expect(coloured).to_contain_text("support-bot · complete")
    expect(coloured).to_contain_text("−0.250")
    assert page.locator("table.forest tr.none .interval").count() > 0
    assert page.locator("table.forest .limit.missed").count() == 1
    assert page.locator("table.forest .limit.held").count() >= 1
    assert page.locator("figure path.now").count() == 3


def test_a_plot_row_opens_cases_and_a_case_both_outputs(report: Path, visit: Opener) -> None:
    page = visit(report)
    page.click("table.forest tr.worse th a")
    expect(page.locator(".controls output")).to_have_text("40 of 48 cases")
    page.click(".list tbody tr:not(.space) >> nth=0")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("h2")).to_have_text("question 0")
    expect(dialog.locator("del")).to_have_text(" or store credit")
    panes = dialog.locator("section", has=page.get_by_role("heading", name="Output")).locator("pre")
    assert [panes.nth(0).inner_text(), panes.nth(1).inner_text()] == [
        "You can return it for a refund or store credit within 30 days. Item 0.",
        "You can return it for a refund within 30 days. Item 0.",
    ]


def test_an_opened_case_lists_tool_calls_and_marks_the_first_difference(report: Path, visit: Opener) -> None:
    page = visit(report, "#suite=talks&q=parcel 0")
    page.click(".list tbody tr:not(.space) >> nth=0")
    section = page.get_by_role("dialog").locator("section", has=page.get_by_role("heading", name="Trajectory"))
    expect(section).to_contain_text("The tool calls differ from the baseline's, from call 2 on.")
    assert section.locator(".path .step").all_inner_texts() == [
        "find_order(number=4411)", "send_again()", "find_order(number=4411)", "ask_carrier()",
    ]  # fmt: skip
    assert section.locator("li.differs .step").all_inner_texts() == ["send_again()", "ask_carrier()"]
    section.locator("li.differs").nth(1).locator("summary").click()
    expect(section.get_by_text("closed")).to_be_visible()


def test_an_opened_case_has_reasons_criteria_steps_and_usage(report: Path, visit: Opener) -> None:
    page = visit(report, "#suite=support-bot&change=newly-failing")
    page.click(".list tbody tr:not(.space) >> nth=1")
    dialog = page.get_by_role("dialog")
    scores = dialog.get_by_role("region", name="Scores").get_by_role("row", name="complete")
    expect(scores).to_contain_text("−1.000")
    expect(scores).to_contain_text("≥ 1")
    expect(dialog.get_by_text("leaves out the voucherlike part")).to_be_visible()
    unmet = dialog.locator(".criteria li", has=page.get_by_role("img", name="not met"))
    assert unmet.all_inner_texts() == ["offers store credit"]
    dialog.get_by_text("990 characters").first.click()
    expect(dialog.locator(".said .long").first).to_be_visible()
    steps = dialog.locator(".tree").nth(1)
    assert steps.locator(":scope > li > ul > li .step").all_inner_texts() == ["retrieve", "chat"]
    steps.get_by_text("retrieve").click()
    expect(steps.get_by_text("returns")).to_be_visible()
    expect(dialog.get_by_role("row", name="Tokens")).to_contain_text("400 in, 52 out")
    expect(dialog.get_by_role("row", name="Cost")).to_contain_text("$0.0011")
    expect(dialog.get_by_text("evals/bot.py:12")).to_be_visible()


def test_turns_are_shown_side_by_side(report: Path, visit: Opener) -> None:
    page = visit(report, "#suite=talks")
    page.click(".list tbody tr:not(.space) >> nth=0")
    turns = page.locator(".talk > li")
    expect(turns).to_have_count(3)
    expect(turns.nth(0).locator("pre")).to_have_text(["My lamp never came.", "May I have your order number?"])
    assistant = turns.nth(1).locator(".turn.assistant")
    expect(assistant.locator("del")).to_have_text("sent a new one")
    expect(assistant.locator("ins")).to_have_text("asked the carrier")
    expect(turns.nth(2)).to_contain_text("only now")
    expect(page.get_by_role("dialog")).to_contain_text("no turns left, goal not achieved")


def test_repeats_have_a_spread_and_can_be_opened(report: Path, visit: Opener) -> None:
    page = visit(report, "#suite=router&change=worse")
    page.click(".list tbody tr:not(.space) >> nth=0")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row", name="is-equals")).to_contain_text("0.667 ± 0.577")
    dialog.get_by_role("button", name="3 scored").click()
    expect(dialog.locator("ins")).to_have_text("sales")
    expect(page).to_have_url(re.compile("repeat=2"))


def test_the_worst_change_is_first_and_errors_shown(report: Path, visit: Opener) -> None:
    page = visit(report)
    assert list_status(page) == "48 cases"
    assert rows(page)[0] == "question 0"
    assert set(rows(page)[:11]) == {*(f"question {index}" for index in range(0, 40, 4)), "lost parcel 0"}
    assert rows(page)[11:13] == ["ticket 1", "the broken one"]
    page.select_option("select[name=change]", "errors")
    expect_rows(page, ["the broken one"])


def test_every_filter_is_in_the_address(report: Path, visit: Opener) -> None:
    page = visit(report)
    page.select_option("select[name=change]", "newly-failing")
    expect(page.locator(".controls output")).to_contain_text("11 of")
    page.select_option("select[name=suite]", "support-bot")
    expect(page.locator(".controls output")).to_contain_text("10 of")
    page.select_option("select[name=tag]", "critical")
    expect_rows(page, ["question 4"])
    expect(page).to_have_url(re.compile("#suite=support-bot&change=newly-failing&tag=critical$"))
    page.go_back()
    expect(page.locator(".controls output")).to_contain_text("10 of")
    page.go_forward()
    expect_rows(page, ["question 4"])
    page.reload()
    page.wait_for_selector("html[data-ready=all]", state="attached")
    expect_rows(page, ["question 4"])
    assert page.input_value("select[name=tag]") == "critical"
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".controls output")).not_to_contain_text(" of ")
    page.select_option("select[name=evaluator]", "tone")
    expect(page.locator(".controls output")).to_contain_text("40 of")


def test_a_search_covers_names_and_optionally_texts(report: Path, visit: Opener) -> None:
    page = visit(report)
    page.fill("input[name=q]", "question 17")
    expect(page.locator(".controls output")).to_contain_text("1 of")
    page.fill("input[name=q]", "voucherlike")
    expect(page.locator(".controls output")).to_contain_text("0 of")
    page.check("input[name=deep]")
    expect(page.locator(".controls output")).to_contain_text("10 of")
    expect(page).to_have_url(re.compile("#q=voucherlike&deep=1$"))


def test_the_keyboard_is_enough(report: Path, visit: Opener) -> None:
    page = visit(report)
    page.keyboard.press("/")
    page.keyboard.type("question")
    expect(page.locator(".controls output")).to_contain_text("40 of")
    page.keyboard.press("Enter")
    expect(page.locator(".list tr.at a")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    heading = page.get_by_role("dialog").locator("h2")
    expect(heading).to_have_text("question 4")
    page.keyboard.press("j")
    expect(heading).to_have_text("question 8")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(heading).to_have_text("question 0")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".list tr.at a")).to_be_focused()
    expect(page.locator(".list tr.at a")).to_have_text("question 0")


def test_a_fresh_page_steps_to_the_marked_case_and_enter_opens_it(report: Path, visit: Opener) -> None:
    page = visit(report, viewport={"width": 1280, "height": 500})
    expect(page.locator(".scroller")).not_to_be_in_viewport()
    page.keyboard.press("j")
    expect(page.locator(".list tr.at a")).to_have_text("question 0")
    expect(page.locator(".list tr.at a")).to_be_focused()
    expect(page.locator(".scroller")).to_be_in_viewport(ratio=0.99)
    page.keyboard.press("j")
    expect(page.locator(".list tr.at a")).to_have_text("question 4")
    other = visit(report)
    other.keyboard.press("Enter")
    expect(other.get_by_role("dialog").locator("h2")).to_have_text("question 0")


def test_a_search_scrolls_to_hits_and_escape_ends_it(report: Path, visit: Opener) -> None:
    page = visit(report, viewport={"width": 1280, "height": 500})
    page.keyboard.press("/")
    page.keyboard.type("question 17")
    expect(page.locator("input[name=q]")).to_be_in_viewport()
    expect(page.locator(".list tbody th a")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".controls output")).to_have_text("48 cases")
    expect(page.locator("input[name=q]")).to_have_value("")
    expect(page).not_to_have_url(re.compile("q="))


def test_an_empty_list_has_a_text(report: Path, visit: Opener) -> None:
    page = visit(report, "#suite=nowhere")
    expect(page.locator(".list tbody")).to_have_text("No case matches.")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".list tr.at a")).to_have_text("question 0")


def test_the_list_is_as_high_as_its_rows_up_to_a_limit(report: Path, visit: Opener) -> None:
    page = visit(report, "#q=question 17", viewport={"width": 1280, "height": 900})

    def measure() -> tuple[int, int]:
        """The height of the box, and how much of its content is hidden."""
        script = "(each) => [each.offsetHeight, each.scrollHeight - each.clientHeight]"
        height, hidden = page.locator(".scroller").evaluate(script)
        return height, hidden

    expect_rows(page, ["question 17"])
    row = page.locator(".list tbody tr").evaluate("(each) => each.offsetHeight")
    one, hidden = measure()
    assert (one < 3 * row, hidden) == (True, 0)
    page.fill("input[name=q]", "lost parcel")
    expect(page.locator(".list tbody th a")).to_have_count(3)
    assert measure() == (one + 2 * row, 0)
    page.fill("input[name=q]", "no such case")
    expect(page.locator(".list tbody")).to_have_text("No case matches.")
    assert measure() == (one, 0)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".controls output")).to_have_text("48 cases")
    height, hidden = measure()
    assert height == 702
    assert hidden > 0


def test_the_cases_begin_on_the_first_screen(report: Path, visit: Opener) -> None:
    page = visit(report, viewport={"width": 1280, "height": 900})
    expect(page.locator("#cases")).to_be_in_viewport()
    expect(page.locator("figure").first).not_to_be_in_viewport()


def test_an_open_case_has_an_address_that_opens_it_again(report: Path, visit: Opener) -> None:
    page = visit(report)
    page.click("text=lost parcel 0")
    heading = page.get_by_role("dialog").locator("h2")
    expect(heading).to_have_text("lost parcel 0")
    address = page.evaluate("location.href")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.go_forward()
    expect(heading).to_have_text("lost parcel 0")
    other = visit(report, "#" + address.partition("#")[2])
    expect(other.get_by_role("dialog").locator("h2")).to_have_text("lost parcel 0")


def test_without_script_tables_and_worst_cases_are_shown(report: Path, visit: Opener) -> None:
    page = visit(report, ready=False, java_script_enabled=False)
    expect(page.locator("h1")).to_contain_text("gates failed")
    expect(page.locator("table.forest tr.worse")).to_be_visible()
    assert not page.locator("#app").is_visible()
    sample = page.locator("details.sample").first
    sample.locator("summary").click()
    expect(sample).to_contain_text("refund or store credit within 30 days")
    expect(sample).to_contain_text("not met: offers store credit")


def test_a_printed_report_has_the_worst_cases_in_full(report: Path, visit: Opener) -> None:
    page = visit(report)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator("#app")).to_be_hidden()
    expect(page.locator("details.sample pre").first).to_be_visible()


def test_a_rewritten_text_has_no_word_marks(tmp_path: Path, visit: Opener) -> None:
    answer = {True: "Items marked final cannot be returned unless they are faulty. Others can be returned.",
            False: "Sorry, I do not know. A colleague will help you, please write to us."}  # fmt: skip
    trials = {
        first: ExampleSuite("demo", [Trial("h", [Score("e", float(first))], output=answer[first])]) for first in answer
    }
    path = tmp_path / "report.html"
    path.write_text("".join(render(view_of(make_run(trials[False]), make_base(trials[True])))), encoding="utf-8")
    page = visit(path)
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.get_by_role("heading", name="PR, rewritten")).to_be_visible()
    assert page.locator("dialog del, dialog ins").count() == 0
    expect(page.get_by_role("link", name="evals/support_bot.py:41")).to_have_attribute(
        "href", f"https://github.com/o/r/blob/{CONTEXT.commit}/evals/support_bot.py#L41"
    )


def test_a_first_run_shows_scores_alone(tmp_path: Path, visit: Opener) -> None:
    suite = ExampleSuite("demo", [Trial("good", [Score("e")]), Trial("bad", [Score("e", 0.25)], output="hm")])
    path = tmp_path / "report.html"
    path.write_text("".join(render(view_of(make_run(suite)))), encoding="utf-8")
    page = visit(path)
    assert rows(page) == ["bad", "good"]
    assert page.locator(".list thead th:visible").all_inner_texts()[1:] == [
        "Case", "Scorer", "Score", "Output", "Time", "Cost",
    ]  # fmt: skip
    expect(page.get_by_role("row", name="bad demo").get_by_role("img", name="failed")).to_be_visible()
    page.click("text=bad")
    expect(page.get_by_role("dialog")).to_contain_text("failed")
    assert page.get_by_role("heading", name="PR").count() == 0
