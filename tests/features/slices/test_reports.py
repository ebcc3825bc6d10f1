"""Slices and the texts of newly failing cases in every report: the worst first, bounded, escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator
from rich.console import Console
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, view_of
from tests.unit.report.test_result_json import SCHEMA, closed, result_of

from scoregate.features.slices.view import SliceView
from scoregate.kernel.report import console, html, markdown
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.slots import Place


def bot(
    wrong: range, languages: Sequence[str] = ("fr", "de"), *, count: int = 80, say: str = "At nine."
) -> ExampleSuite:
    """A suite whose cases in `wrong` fail if they are of the first language."""
    trials = [
        _trial(at, languages[at % len(languages)], at in wrong and at % len(languages) == 0, say) for at in range(count)
    ]
    return ExampleSuite("bot", trials)


def _trial(at: int, language: str, is_wrong: bool, say: str) -> Trial:
    body = {"input": f"When do you open on day {at}?", "expected": "At nine.", "language": language}
    output = "At ten, @octocat.\n![i](https://evil.example/i.png)" if is_wrong else say
    return Trial(f"h{at}", [Score("e", float(not is_wrong))], name=f"day {at}", input=body, output=output)


def comment(view: ReportView, budget: int = markdown.BUDGET) -> str:
    return "".join(markdown.render(view, budget=budget))


def terminal(view: ReportView, *, full: bool = False) -> str:
    output = Console(width=120, record=True, force_terminal=False)
    with output.capture() as captured:
        for part in console.render(view, full=full):
            output.print(part)
    return captured.get()


def slices_of(view: ReportView) -> tuple[SliceView, ...]:
    (section,) = view.sections_at(Place.PARTS)
    rows: tuple[SliceView, ...] = section.content["rows"]
    return rows


LIMITS = Limits(min_pass_rate=0.1, more={"max_slice_drop": {"language=fr": 0.05}})


def test_every_report_lists_slices_worst_first() -> None:
    view = view_of(make_run(bot(range(60))), make_base(bot(range(2))), limits=LIMITS, slices=["language"])
    assert [(each.name, each.is_bad, each.compared) for each in slices_of(view)] == [
        ("language=fr", True, True),
        ("language=de", False, True),
    ]
    text = comment(view)
    assert "<summary><b>Slices</b>: 1 of 2 scores <b>worse</b></summary>" in text
    assert re.search(
        r"\| ❌ \| <code>language=fr</code> \| <code>bot</code> · <code>e</code> \| 0.975 \| 0.250 \|", text
    )
    assert "**Slice drop gate failed**" in text
    assert "language=fr" in "".join(html.render(view))
    assert re.search(r"✗\s+language=fr\s+40\s+0.975\s+0.250\s+−0.725 \[", terminal(view))
    assert "language=de" not in terminal(view)
    assert "language=de" in terminal(view, full=True)
    result = result_of(view)
    Draft202012Validator(closed(SCHEMA)).validate(result)
    worst = result["slices"][0]
    assert (worst["field"], worst["value"], worst["n"], worst["limited"], worst["state"]) == (
        *("language", "fr", 40, True),
        "failed",
    )
    assert [row["state"] for row in result["rows"]] == ["worse"]


def test_slices_with_few_pairs_have_no_interval_and_come_last() -> None:
    languages = ["fr", *["de"] * 19]
    view = view_of(make_run(bot(range(60), languages)), make_base(bot(range(0), languages)), slices=["language"])
    assert [(each.value, each.compared, each.view.low) for each in slices_of(view)][1] == ("fr", False, "")
    assert "language=fr" not in comment(view)
    assert "slices: none of 1 score is worse" in terminal(view)


def test_without_a_baseline_slices_have_their_scores() -> None:
    view = view_of(make_run(bot(range(60))), slices=["language"])
    assert "Slices" not in comment(view)
    page = "".join(html.render(view))
    assert '<h2 id="slices">' in page
    assert re.search(r"language=fr.*?0.250", page, re.DOTALL)
    Draft202012Validator(closed(SCHEMA)).validate(result_of(view))


def test_hostile_values_are_escaped_and_ten_thousand_are_counted() -> None:
    hostile = [text for text in HOSTILE if text.strip()]
    view = view_of(
        make_run(bot(range(0), hostile, count=400)), make_base(bot(range(0), hostile, count=400)), slices=["language"]
    )
    text = comment(view)
    assert len(text.encode()) < 65_536
    assert "<img" not in text
    assert "<h1>" not in text
    assert text.count("<!-- scoregate") == 1
    page = "".join(html.render(view))
    assert "<img src=x" not in page
    assert len(page) < 10_000_000
    many = [f"value {at}" for at in range(10_000)]
    view = view_of(
        make_run(bot(range(0), many, count=10_000)), make_base(bot(range(0), many, count=10_000)), slices=["language"]
    )
    assert len(slices_of(view)) == 100
    for report in ("".join(html.render(view)), terminal(view, full=True)):
        assert re.search(r"language.*?9,900\s+values\s+with\s+the\s+fewest\s+cases\s+left\s+out", report, re.DOTALL)
    assert result_of(view)["slices_left_out"] == [{"suite": "bot", "field": "language", "values": 9_900, "limited": 0}]


def test_ten_newly_failing_cases_have_input_expected_output_and_the_difference() -> None:
    view = view_of(make_run(bot(range(60))), make_base(bot(range(0))), limits=LIMITS)
    text = comment(view)
    assert text.count("<details><summary><code>day ") == 10
    first = text[text.index("<details><summary><code>day ") :]
    block = first[: first.index("</details>")]
    parts = ["Input:", "When do you open on day", "Expected:", "At nine.", "Output, compared", "```diff", "- At nine."]
    places = [block.index(part) for part in (*parts, "+ At ten, @octocat.")]
    assert places == sorted(places)
    hidden = view_of(make_run(bot(range(60))), make_base(bot(range(0))), context=replace(CONTEXT, show_outputs=False))
    assert "When do you open" not in comment(hidden)
    assert "At ten" not in comment(hidden)


def test_a_difference_late_in_a_long_output_is_shown() -> None:
    long = "This sentence is the same in both. " * 500
    now = [
        Trial("h", [Score("e", 0.0)], output=f"{long}The end is new.", input={"input": "q", "expected": "x" * 5_000})
    ]
    before = [Trial("h", [Score("e", 1.0)], output=f"{long}The end is old.")]
    view = view_of(make_run(ExampleSuite("bot", now)), make_base(ExampleSuite("bot", before)))
    [case] = view.notable.failing
    assert case.shown.diff[-2:] == ("- The end is old.", "+ The end is new.")
    assert (len(case.shown.diff) <= 5, len(case.shown.expected)) == (True, 600)


def test_the_comment_drops_detail_step_by_step() -> None:
    wide = "\n".join(f"line {at} of a long answer" * 4 for at in range(60))

    def trials(end: str, score: float) -> list[Any]:
        text = wide.replace("long", end)
        return [Trial(f"h{at}", [Score("e", score)], output=text, input={"input": wide}) for at in range(30)]

    view = view_of(
        make_run(ExampleSuite("bot", trials("new", 0.0))), make_base(ExampleSuite("bot", trials("old", 1.0)))
    )
    sizes = [len(comment(view, budget).encode()) for budget in (1_000_000, 60_000, 30_000, 10_000, 3_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size <= budget for size, budget in zip(sizes[1:4], (60_000, 30_000, 10_000), strict=True))
    [block] = re.findall(r"```diff\n(.*?)```", comment(view), re.DOTALL)[:1]
    assert [line[:7] for line in block.splitlines() if "line 0 " in line or "…" in line] == [
        *("- line ", "- … 52 ", "+ line ", "+ … 52 "),
    ]


def test_a_field_without_cases_is_a_notice() -> None:
    view = view_of(make_run(bot(range(60))), make_base(bot(range(2))), slices=["language", "langage"])
    assert [notice for notice in view.notices if "slices:" in notice] == [
        "slices: no case has a value in langage, neither as a field nor in its metadata."
    ]
    assert not [each for each in view_of(make_run(bot(range(60))), slices=["language"]).notices if "slices:" in each]
