"""The tables of variants in the page, the comment, the terminal and the JSON: bounded, escaped, never misleading."""

from __future__ import annotations

import io

import pytest
from lxml import etree
from rich.console import Console
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, make_view

from scoregate.features.variants.step import STEP
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report import console, html, markdown, result_json
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.slots import Place

TOLD = {
    "a": [1.0] * 60,
    "b": [1.0] * 58 + [0.0] * 2,
    "c": [1.0] * 20 + [0.0] * 40,
    "broken": [1.0] * 40 + [ERROR] * 20,
}


def view_of(variants: dict[str, list[float]], suite: str = "hours") -> ReportView:
    specs = (ExampleSuite(scored(*scores), id=suite, params={"task": name}) for name, scores in variants.items())
    run = run_of(*specs)
    sides = ComparedSides(run, Baseline(None), Settings())
    comparison = STEP.after_compare(compare(run, None), sides, lambda _, __: compare(run, None))
    return make_view(comparison, evaluate_gates(comparison, Policy()), CONTEXT)


def terminal(view: ReportView, *, full: bool = False, width: int = 120) -> str:
    printed = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    for part in console.render(view, full=full, see="report.html"):
        printed.print(part)
    return printed.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def page(view: ReportView) -> etree._Element:
    return etree.fromstring("".join(html.render(view)).encode(), etree.HTMLParser(huge_tree=True))


def comment(view: ReportView) -> str:
    return "".join(markdown.render(view))


def test_every_report_has_the_ranking() -> None:
    view = view_of(TOLD)
    sentence = (
        "a and b can't be distinguished at 60 cases. It takes about 470 cases to detect a difference of 0.05. "
        "If they are equally good, the leader's score is about 0.0097 too high."
    )
    lines = terminal(view).splitlines()
    at = lines.index("variants of hours · e")
    assert [line.split()[:4] for line in lines[at + 1 : at + 6]] == [
        ["rank", "variant", "score", "from"],
        ["✓", "1–2", "a", "1.000"],
        ["✓", "1–2", "b", "0.967"],
        ["↓", "3", "c", "0.333"],
        ["!", "–", "broken", "1.000"],
    ]
    assert lines[at + 5].endswith("not comparable (20 of 60 cases have no score, 20 errors)")
    assert " ".join(line.strip() for line in lines[at + 6 : at + 8]) == sentence
    root = page(view)
    rows = root.xpath("//table[contains(@class, 'variants')]/tbody/tr")
    assert ["".join(row.xpath("th//text()")).strip() for row in rows] == ["a", "b", "c", "broken"]
    assert root.xpath("//section[@aria-labelledby='variants']/p[1]/text()") == [sentence]
    assert root.xpath("//nav/a[@href='#variants']/text()") == ["Variants"]
    text = comment(view)
    assert f"<summary><b>Variants</b>: <code>hours</code> · <code>e</code>: {sentence}</summary>" in text
    assert "| 🔻 | <code>c</code> | 3 | 0.333 | −0.667" in text
    (ranking,) = result_json.to_data(view)["variants"]
    assert (ranking["best"], ranking["candidates"], ranking["sentence"]) == (None, ["a", "b"], sentence)
    assert [row["state"] for row in ranking["rows"]] == [
        "may be the best",
        "may be the best",
        "worse",
        "not comparable",
    ]


def test_a_run_without_variants_does_not_name_them() -> None:
    comparison = compare(run_of(ExampleSuite(scored(*[1.0] * 20), params={"k": 1})), None)
    view = make_view(comparison, evaluate_gates(comparison, Policy()), CONTEXT)
    assert [each.content for each in view.sections_at(Place.RANKINGS)] == [()]
    assert result_json.to_data(view)["variants"] == []
    for text in (comment(view), terminal(view, full=True), "".join(page(view).xpath("//main//text()"))):
        assert "ariants" not in text


def test_few_cases_have_a_table_without_ranks() -> None:
    view = view_of({"a": [0.0] * 9, "b": [1.0] * 9})
    reason = "Not ranked: only 9 cases have a score in each variant, and ranks need 10."
    assert reason in comment(view)
    assert "| | Variant | Score | Verdict |" in comment(view)
    assert "rank" not in terminal(view).split("variants of")[1].split("Not ranked")[0].replace("not ranked", "")
    assert reason in terminal(view)
    assert reason in "".join(page(view).itertext())


def test_forty_variants_are_bounded() -> None:
    view = view_of({f"v{at}": [float((at + case) % 3 > 0) for case in range(60)] for at in range(40)})
    lines = terminal(view).split("variants of")[1]
    assert lines.count("may be the best") == 12 + 1
    assert "… 28 more variants: see report.html" in lines
    assert "and 35 more may be the best: 60 cases can't decide." in lines
    assert terminal(view, full=True).split("variants of")[1].count("may be the best") == 40 + 1
    narrow = terminal(view, width=44).split("variants of")[1]
    assert max(map(len, narrow.splitlines())) <= 44
    assert "| | Variant |" not in comment(view)
    assert "35 more may be the best" in comment(view)
    assert len(page(view).xpath("//details//table[contains(@class, 'variants')]/tbody/tr")) == 40


@pytest.mark.parametrize("text", HOSTILE)
def test_a_variant_can_have_any_name(text: str) -> None:
    names = {text: [1.0] * 20, f"{text}2"[:100] * 5: [0.0] * 20}
    view = view_of(names, suite=f"s{text}")
    root = page(view)
    assert root.xpath("//section[@aria-labelledby='variants']//*[self::script or self::img or self::h1]") == []
    names_shown = root.xpath("//table[contains(@class, 'variants')]//th[@scope='row']")
    assert all(len("".join(name.itertext())) <= 60 for name in names_shown)
    for shown in (comment(view), terminal(view, full=True)):
        assert "\x1b]" not in shown
        assert "\u202e" not in shown
    part = comment(view).partition("<details><summary><b>Variants</b>")[2].partition("</details>")[0]
    assert len(part) < 4_000
    assert "<img" not in part
    assert "<script" not in part
    "".join(result_json.render(view)).encode()
