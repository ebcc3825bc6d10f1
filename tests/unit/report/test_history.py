"""The last runs in the page: a line for every evaluator, drawn within its bounds, and described in text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs import change_run
from tests.unit.report.example_views import EXAMPLES
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, NOW, ExampleSuite, Score, Trial, make_base, make_run, view_of
from tests.unit.report.test_result_json import result_of

from scoregate.kernel.report.html import render
from scoregate.kernel.report.html.sparklines import HEIGHT, WIDTH, Measurement, Sparkline, draw_sparkline
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.history import history_after, with_history_of

COLUMNS = st.lists(st.none() | st.floats(0, 1).map(Measurement), min_size=1, max_size=20)
PLACE = re.compile(r"[ML]([-\d.e]+) ([-\d.e]+)")


def make_sparkline(*values: float | Measurement | None, now: float | Measurement | None = None) -> Sparkline:
    """The sparkline of a column of scores."""
    *past, last = (
        each if each is None or isinstance(each, Measurement) else Measurement(each) for each in (*values, now)
    )
    names = [f"main@{at}" for at in range(len(past))]
    found = draw_sparkline(past, last, runs=names, show=number_format.score, most=1.0)
    assert found is not None
    return found


@given(COLUMNS, st.none() | st.floats(0, 1).map(Measurement))
def test_all_points_are_within_the_chart(past: list[Measurement | None], now: Measurement | None) -> None:
    found = draw_sparkline(past, now, runs=(), show=number_format.score, most=1.0)
    if not any(past):
        assert found is None
        return
    assert found is not None
    places = [(float(x), float(y)) for x, y in PLACE.findall(found.line + found.link)]
    for x, y in [*places, *([found.mark] if found.mark else [])]:
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT
    assert len(PLACE.findall(found.line)) == sum(each is not None for each in past)
    assert bool(found.mark) == (now is not None)


@given(COLUMNS)
def test_higher_scores_are_drawn_higher(past: list[Measurement | None]) -> None:
    found = draw_sparkline(past, None, runs=(), show=number_format.score, most=1.0)
    values = [each.value for each in past if each is not None]
    heights = [-float(y) for _, y in PLACE.findall(found.line)] if found else []
    by_value = [height for _, height in sorted(zip(values, heights, strict=True))]
    assert by_value == sorted(by_value)


def test_missing_or_changed_points_break_the_line() -> None:
    assert make_sparkline(0.5, 0.6, None, 0.7).line.count("M") == 2
    old, new = Measurement(0.5, "a"), Measurement(0.5, "b")
    changed = make_sparkline(old, old, new, now=new)
    assert (changed.line.count("M"), bool(changed.link)) == (2, True)
    assert changed.description.endswith("the scorer changed 1 time")
    assert make_sparkline(old, old, now=new).link == ""
    assert make_sparkline(0.5, old, now=0.5).line.count("M") == 1


def test_charts_have_a_text() -> None:
    words = make_sparkline(0.81, 0.86, None, 0.84, now=0.79).description
    assert words == "last 3 runs: 0.810 … 0.840; now 0.790; lowest 0.790, highest 0.860"
    assert make_sparkline(0.81, now=0.81).description == "last run: 0.810; now 0.810"
    assert make_sparkline(0.81).description == "last run: 0.810"
    assert [each.text for each in make_sparkline(0.81, None, 0.84).points] == ["0.810 · main@0", "0.840 · main@2"]


def test_a_tiny_change_does_not_look_like_a_drop() -> None:
    (*_, (_, before)), mark = (
        PLACE.findall(make_sparkline(0.9, 0.9, now=0.899).line),
        make_sparkline(0.9, 0.9, now=0.899).mark,
    )
    assert mark is not None
    assert 0 < mark[1] - float(before) < 1


def test_a_page_without_a_history_does_not_mention_it() -> None:
    page = "".join(render(EXAMPLES["green"]())).partition("</style>")[2]
    assert "spark" not in page
    assert "Last runs" not in page


def test_the_page_shows_each_row_and_links_each_run() -> None:
    page = "".join(render(EXAMPLES["failing"]()))
    assert "last 9 runs: 0.970 … 0.985; now 0.890; lowest 0.890, highest 0.995" in page
    assert "last 9 runs: 0.800 … 0.800; now 0.800; the scorer changed 2 times" in page
    assert "last 8 runs: 0.940 … 0.940; now 0.970" in page
    table = page.partition('<table class="runs">')[2].partition("</table>")[0]
    assert re.findall(r"main@\w{7}", table)[:2] == ["main@a1b2c3d", "main@8f0e1d2"]
    assert table.count("https://github.com/o/r/commit/") == 9
    assert "2025-10-08 08:52 UTC" in table


def test_the_result_has_a_value_for_each_run_in_every_row() -> None:
    result = result_of(EXAMPLES["failing"]())
    assert [past["message"] for past in result["history"]][:2] == ["night 1", "night 2"]
    by_name = {row["evaluator"]: row["past"] for row in result["rows"]}
    assert by_name["accuracy"][0] == {"mean": pytest.approx(0.965), "n": 200}
    assert by_name["is-equals"][4] is None
    assert by_name["is-friendly"] == []
    assert result["suites"][0]["past"][-1]["pass_rate"] == pytest.approx(0.935)
    assert result_of(EXAMPLES["green"]())["history"] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_past_runs_are_escaped(text: str) -> None:
    suite = ExampleSuite("demo", [Trial("h", [Score(text or "e", 0.5)])])
    base = make_base(suite, message=text)
    run = with_history_of(make_run(suite), history_after(change_run(base, branch=text)))
    page = "".join(render(view_of(run, base, context=replace(CONTEXT, generated_at=NOW))))
    head = page.partition("<main>")[2].partition('<script type="text/plain"')[0]
    assert "Last runs" in head
    assert "<img" not in head
    assert "<script" not in head
