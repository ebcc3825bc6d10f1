"""The page of a history: what it draws, and that nothing in it is executed or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from lxml import html
from tests.features.history.runs import DAY, START, write_run

from scoregate.features.history.embedded import EmbeddedHistory
from scoregate.features.history.folders import import_folders, list_run_folders
from scoregate.features.history.page import HistoryData, render_trends
from scoregate.features.history.queries import RunFilter, TrendPoint, load_costs, load_flaky, load_trends
from scoregate.features.history.rows import RunSource
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import Fingerprint

HOSTILE = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e{{ 7 * 7 }}"
ALL = RunFilter()


def make_page(folder: Path, project: str = "acme/bot") -> str:
    with closing(EmbeddedHistory(folder / "h" / "history.sqlite")) as store:
        import_folders(store, list_run_folders(folder / "runs"), RunSource(project))
        costs = (load_costs(store, "model", ALL), load_costs(store, "month", ALL))
        data = HistoryData(project, START + 400 * DAY, load_trends(store, ALL), load_flaky(store, ALL), *costs)
    return "".join(render_trends(data))


def make_point(at: float, mean: float, *, changes: Sequence[str] = (), **fields: str) -> TrendPoint:
    about = {"judge": "judge-1", "models": "m", **fields}
    counts = (5, mean, mean, mean, 1, 0, 0)
    return TrendPoint("r", at, "c" * 40, "main", None, True, *counts, changes=tuple(changes), **about)


def draw(points: Sequence[TrendPoint]) -> str:
    return "".join(render_trends(HistoryData("p", START, {("suite", "exact"): points}, [], [], [])))


def test_trends_flaky_cases_and_costs_are_shown(tmp_path: Path) -> None:
    for number in range(8):
        mark = {"exact": Fingerprint(model="judge-1" if number < 4 else "judge-2")}
        used = Usage(1000, 10, cost=0.5, model="gpt-a")
        scores = {"exact": [1.0, float(number % 2)]}
        write_run(tmp_path / "runs" / str(number), number * 30, scores, evaluators=mark, usage=used)
    page = html.fromstring(make_page(tmp_path))
    assert page.xpath("string(//h1)") == "History of acme/bot"
    (figure,) = page.xpath("//figure")
    assert "8 runs, last 1.000; lowest 0.500, highest 1.000" in figure.text_content()
    assert figure.xpath("count(.//circle)") == 8
    (change,) = figure.xpath(".//li")
    assert change.text == "2026-05-05 00:01 UTC: the judge's model changed; the judge is judge-2"
    # The line has a gap where the judge changed.
    assert figure.xpath("string(.//path[@class='line']/@d)").count("M") == 2
    assert "main@0000000" in figure.xpath("string(.//circle/title)")
    months = figure.xpath(".//svg/text[@text-anchor='middle']/text()")
    assert months == ["Feb 2026", "Mar 2026", "Apr 2026", "May 2026", "Jun 2026", "Jul 2026"]
    rows = [[cell.text_content() for cell in row] for row in page.xpath("//tbody/tr")]
    assert rows[0][:6] == ["bot", "Case case-1", "exact", "4 of 8", "6 of 6", "0"]
    assert ["gpt-a", "8", "16", "16 k", "$8.00"] in rows
    assert [row[0] for row in rows[2:]] == [f"2026-0{month}" for month in (8, 7, 6, 5, 4, 3, 2, 1)]


def test_names_stay_text(tmp_path: Path) -> None:
    scores = {HOSTILE: [1.0, 0.0]}
    used = Usage(1, 1, model=HOSTILE)
    for number in range(2):
        mark = {HOSTILE: Fingerprint(model=f"{HOSTILE}{number}")}
        about = {"branch": HOSTILE, "message": HOSTILE, "commit": HOSTILE}
        write_run(tmp_path / "runs" / str(number), number, scores, suite=HOSTILE, evaluators=mark, usage=used, **about)
    text = make_page(tmp_path, HOSTILE)
    page = html.fromstring(text)
    assert page.xpath("//script | //img | //link | //iframe | //a[not(starts-with(@href, '#'))]") == []
    assert page.xpath("//@*[starts-with(name(), 'on')]") == []
    assert "49" not in page.xpath("string(//h1)")
    assert "\u202e" not in text
    (policy,) = page.xpath("//meta[@http-equiv]/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "http" not in text.replace("http-equiv", "")


def test_an_empty_history_and_one_run_have_pages() -> None:
    assert "No run has scores." in "".join(render_trends(HistoryData("p", START, {}, [], [], [])))
    assert html.fromstring(draw([make_point(START, 0.5)])).xpath("count(//circle)") == 1


@pytest.mark.parametrize("years", [1, 30])
def test_long_histories_stay_readable(years: int) -> None:
    points = [
        make_point(
            START + index * DAY, (index % 10) / 10, changes=["models"] if index % 50 == 49 else [], models=f"m{index}"
        )
        for index in range(365 * years)
    ]
    page = html.fromstring(draw(points))
    assert page.xpath("count(//circle)") < 400
    assert 2 <= page.xpath("count(//svg/text[@text-anchor != 'end'])") <= 12
    assert page.xpath("count(//li)") == min(7 * years, 30)
