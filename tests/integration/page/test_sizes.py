"""A report of many cases opens at once and scrolls without a stall; omissions are reported."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.integration.page.conftest import Opener
from tests.integration.page.test_navigation import rows
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report.html import render
from scoregate.kernel.types.evaluation import Threshold

CASES = 10_000
# Of a machine at rest; here others may have the cores, and a page that draws all rows takes a minute.
OPENED_MS, FRAME_MS = 10_000, 2000


TEXTS = [f"{at} " + "a reply of some length; " * 8 for at in range(50)]


def trials(*, worse: bool) -> Iterator[Trial]:
    dice = random.Random(5)
    for index in range(CASES):
        bad = worse and index % 37 == 0
        words = f"word{index} " * 3 + TEXTS[index % len(TEXTS)]
        yield Trial(
            f"c{index}",
            [Score("exact", 0.0 if bad else 1.0, Threshold(gte=1)), Score("tone", dice.random(), None)],
            name=f"case {index}",
            output=f"{'No' if bad else 'Yes'}, {words}",
        )


@pytest.fixture(scope="module")
def large_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    view = view_of(
        make_run(ExampleSuite("demo", list(trials(worse=True)))),
        make_base(ExampleSuite("demo", list(trials(worse=False)))),
    )
    path = tmp_path_factory.mktemp("large") / "report.html"
    path.write_text("".join(render(view)), encoding="utf-8")
    return path


def test_ten_thousand_cases_open_at_once_and_scroll(large_report: Path, visit: Opener) -> None:
    page = visit(large_report, ready=False)
    page.wait_for_selector(".list tbody th a")
    assert page.evaluate("performance.now()") < OPENED_MS
    page.wait_for_selector("html[data-ready=all]", state="attached")
    expect(page.locator(".controls output")).to_have_text("10,000 cases")
    longest = page.evaluate("""async () => {
        const scroller = document.querySelector('.scroller');
        let [longest, last] = [0, performance.now()];
        for (let step = 0; step <= 60; step += 1) {
            scroller.scrollTop = (scroller.scrollHeight * step) / 60;
            await new Promise(requestAnimationFrame);
            const now = performance.now();
            [longest, last] = [Math.max(longest, now - last), now];
        }
        return longest;
    }""")
    assert longest < FRAME_MS
    assert len(rows(page)) < 80
    assert page.locator(".list tbody tr[aria-rowindex='10001']").count() == 1
    assert page.locator("body *").count() < 3000
    page.fill("input[name=q]", "case 9999")
    assert rows(page) == ["case 9999"]
    page.click("text=case 9999")
    expect(page.get_by_role("dialog").locator("pre").first).to_contain_text("Yes, word")


def test_a_limited_list_says_so(tmp_path: Path, visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.kernel.report.html.document.MAX_CASES", 30)
    suite = ExampleSuite("demo", [Trial(f"c{at}", [Score("exact", at / 50)], name=f"case {at}") for at in range(50)])
    path = tmp_path / "report.html"
    path.write_text("".join(render(view_of(make_run(suite)))), encoding="utf-8")
    page = visit(path)
    expect(page.locator(".notice")).to_contain_text(
        "lists the 30 cases with the largest changes, of 50. All cases are in run/"
    )
    expect(page.locator(".controls output")).to_have_text("30 cases")


def test_a_long_output_is_shortened_by_a_stated_amount(tmp_path: Path, visit: Opener) -> None:
    suite = ExampleSuite("demo", [Trial("c", [Score("exact", 0)], name="long", output="word " * 100_000)])
    path = tmp_path / "report.html"
    path.write_text("".join(render(view_of(make_run(suite)))), encoding="utf-8")
    page = visit(path)
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.locator("dialog .cut")).to_have_text(
        "cut: the first 32,768 of 500,000 characters; the full text is in run/cases.jsonl.gz"
    )
