"""The HTML report as a file: what it contains, what it omits, and how it is compressed."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from lxml import etree
from tests.unit.report.example_views import EXAMPLES, bot
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, make_view, view_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.report.html import charts, render
from scoregate.kernel.report.html.assets import block
from scoregate.kernel.report.html.charts import draw_forest, draw_latencies, draw_scatters
from scoregate.kernel.report.html.text_budget import TextBudget
from scoregate.kernel.report.html.trial import trace_data, trial_data
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.evaluation import Assertion, Threshold
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.confirmations import Confirmation, with_confirmations
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

BLOCK = re.compile(r'<script type="text/plain" id="([a-z]+-\d+)">([A-Za-z0-9+/=\n]*)</script>')
(KEY, SUITE, NAME, KIND, GAIN, NOW, BEFORE) = range(7)
(PLACES, OLD_PLACES, TRIES) = (15, 16, 17)


def read_blocks(text: str) -> dict[str, Any]:
    """The compressed contents of a page by id."""
    return {name: json.loads(gzip.decompress(b64decode(data))) for name, data in BLOCK.findall(text)}


def text_of(view: ReportView) -> str:
    return "".join(render(view))


def read_index(text: str) -> list[list[Any]]:
    found = read_blocks(text)
    return [row for at in range(found["head-0"]["blocks"]) for row in found[f"index-{at}"]]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_one_well_formed_page(example: str) -> None:
    text = text_of(EXAMPLES[example]())
    root = etree.fromstring(text.encode(), etree.HTMLParser(huge_tree=True))
    assert root.xpath("string(//h1)").strip()
    ids = root.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert set(root.xpath("//*[@src or @background or @srcset]")) == set()
    assert all(href.startswith(("#", "https://github.com/")) for href in root.xpath("//@href"))


def test_an_empty_run_has_a_page() -> None:
    assert "could not be measured" in text_of(view_of(make_run()))


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_escaped_in_the_page_and_complete_in_its_data(text: str) -> None:
    trial = Trial(
        "h", [Score(text or "e", 0.1, metadata={text: text}, assertions=(Assertion(text, False, True),))], text
    )
    page = text_of(view_of(make_run(ExampleSuite(text or "demo", [replace(trial, output=text)]), message=text)))
    page.encode()
    shown = BLOCK.sub("", page.partition("<main>")[2].partition("<script>")[0])
    assert "<img" not in shown
    assert "<h1>out" not in shown
    ((content,),) = (found for name, found in read_blocks(page).items() if name.startswith("page"))
    if text.isprintable() and text.strip() and len(text) < 1000:
        assert content["output"] == text
        assert read_index(page)[0][NAME] == " ".join(text.split())[:120]


def test_only_our_own_script_can_run() -> None:
    page = text_of(EXAMPLES["failing"]())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert page.count("<script>") == 1
    assert not re.findall(r"<[^>]+ (?:style|on\w+)=", page.partition("<script>")[0].partition("</style>")[2])


def test_the_worst_change_is_first_and_every_trial_has_a_position() -> None:
    page = text_of(view_of(make_run(bot(range(5, 8), range(20, 22))), make_base(bot(range(1), range(0)))))
    found, listed = read_blocks(page), read_index(page)
    assert [row[KIND] for row in listed[:6]] == [0, 0, 0, 0, 0, 3]
    assert [row[GAIN] for row in listed[:6]] == [-1.0, -1.0, -1.0, -0.5, -0.5, 1.0]
    assert found["head-0"]["suites"][0]["evaluators"] == ["accuracy", "has-all-substrings"]
    assert listed[0][NOW], listed[0][BEFORE] == ([0, 1], [1, 1])
    for row in listed:
        ((page_now, at_now), (page_old, at_old)) = row[PLACES], row[OLD_PLACES]
        now, old = found[f"page-{page_now}"][at_now], found[f"page-{page_old}"][at_old]
        assert [score["score"] for score in now["scores"].values()] == row[NOW]
        assert [score["score"] for score in old["scores"].values()] == row[BEFORE]


def test_repeats_of_a_case_share_a_row() -> None:
    scores = [1.0, 0.0, 1.0]
    trials = [Trial("h", [Score("e", score, None)], repeat=at, output=f"try {at}") for at, score in enumerate(scores)]
    page = text_of(
        view_of(make_run(ExampleSuite("demo", trials)), make_base(ExampleSuite("demo", [Trial("h", [Score("e")])])))
    )
    ((row,), found) = read_index(page), read_blocks(page)
    assert row[NOW] == [0.6667]
    assert row[GAIN] == -0.3333
    places = zip(row[PLACES][::2], row[PLACES][1::2], strict=True)
    assert [found[f"page-{number}"][at]["output"] for number, at in places] == ["try 0", "try 1", "try 2"]


def test_removed_and_new_cases_are_listed() -> None:
    run = make_run(ExampleSuite("demo", [Trial("kept", [Score("e")]), Trial("new", [Score("e")])]))
    base = make_base(ExampleSuite("demo", [Trial("kept", [Score("e")]), Trial("gone", [Score("e")])]))
    assert [(row[NAME], row[KIND]) for row in read_index(text_of(view_of(run, base)))] == [
        ("new", 4),
        ("kept", 5),
        ("gone", 6),
    ]


def test_a_base_of_several_runs_names_the_compared_run() -> None:
    suite = ExampleSuite("demo", [Trial(f"c{at}", [Score("e", at / 2)]) for at in range(3)])
    comparison = compare(make_run(suite), make_base(suite), pool=(make_base(suite), make_base(suite)))
    page = text_of(make_view(comparison, evaluate_gates(comparison, Policy()), CONTEXT))
    assert "in the baseline, the newest of its 3 runs, (x axis)" in page
    assert "compared with the newest of the 3 runs of the baseline" in page
    assert "the newest of" not in text_of(EXAMPLES["green"]())


def test_cases_follow_the_scores_and_plots_follow_the_cases() -> None:
    view = EXAMPLES["failing"]()
    root = etree.fromstring(text_of(view).encode(), etree.HTMLParser(huge_tree=True))
    titles = root.xpath("//main/section/@aria-labelledby")
    assert titles[:3] == ["gates", "changes", "cases"]
    assert {"spending", "history"} <= set(titles[3:])
    links = [link.removeprefix("#") for link in root.xpath("//nav/a/@href")]
    assert [link for link in links if link in titles] == titles


def table_rows(page: str, region: str) -> list[str]:
    root = etree.fromstring(page.encode(), etree.HTMLParser(huge_tree=True))
    headers = root.xpath(f"//div[@aria-label='{region}']//tbody/tr/th")
    return [" ".join("".join(header.itertext()).split()) for header in headers]


def test_of_many_evaluators_the_worst_are_shown_and_the_others_folded() -> None:
    def page_with(count: int) -> str:
        suites = [ExampleSuite(chr(97 + at), [Trial("h", [Score("e", float(at > 1))])]) for at in range(count)]
        return text_of(view_of(make_run(*suites)))

    page = page_with(20)
    shown, folded = table_rows(page, "Table of scorers"), table_rows(page, "Table of the other scorers")
    assert shown == [f"{suite} · e" for suite in "abcdef"]
    assert folded == [f"{suite} · e" for suite in "ghijklmnopqrst"]
    assert "<details><summary>14 scorers more</summary>" in page
    few = page_with(8)
    assert len(table_rows(few, "Table of scorers")) == 8
    assert table_rows(few, "Table of the other scorers") == []


def count_plotted(now: list[list[float]], before: list[list[float]]) -> list[tuple[int, int, int]]:
    """The numbers of cases that are worse, equal and better in each scatter plot, from the scores of repeats."""

    def make_suite(cases: list[list[float]]) -> ExampleSuite:
        trials = ((f"c{at}", score, again) for at, scores in enumerate(cases) for again, score in enumerate(scores))
        return ExampleSuite("s", [Trial(case, [Score("e", score)], repeat=again) for case, score, again in trials])

    view = view_of(make_run(make_suite(now)), make_base(make_suite(before)))
    return [(panel.worse, panel.same, panel.better) for panel in draw_scatters(view.rows, view.paired_suites)]


def test_only_more_than_two_different_scores_are_a_scatter_plot() -> None:
    assert count_plotted([[0], [1], [1]], [[1], [1], [0]]) == []
    assert count_plotted([[0.5]] * 3, [[0.25]] * 3) == []
    assert count_plotted([[0.5], [1], [1]], [[1], [1], [0]]) == [(1, 1, 1)]
    assert count_plotted([[0, 0], [1, 1]], [[1, 1], [1, 1]]) == []
    assert count_plotted([[0, 1], [1, 1]], [[1, 1], [0, 0]]) == [(1, 0, 1)]


def test_equal_changes_have_natural_order() -> None:
    digests = ["f" * 32, "0" * 32]
    hashes = ["case 10", "case 9", "", "b", "case 010a", *digests, "1" * 5000 + "x", "case 2", "²"]
    suite = ExampleSuite("demo", [Trial(case, [Score("e")], name=case) for case in hashes])
    names = [row[NAME] for row in read_index(text_of(view_of(make_run(suite), make_base(suite))))]
    assert names[:3] == [*digests, "(no name)"]
    assert [name for name in names if name.startswith("case")] == ["case 2", "case 9", "case 10", "case 010a"]
    assert len(names) == len(hashes)


def test_an_incomparable_evaluator_moves_no_case() -> None:
    page = text_of(EXAMPLES["failing"]())
    suites = read_blocks(page)["head-0"]["suites"]
    rag = next(at for at, suite in enumerate(suites) if suite["label"] == "rag")
    assert suites[rag]["apart"] == [True]
    assert {row[KIND] for row in read_index(page) if row[SUITE] == rag} == {5}


def test_without_outputs_the_page_has_no_texts_of_cases() -> None:
    run, base = make_run(bot(range(2, 24), range(9))), make_base(bot(range(3), range(9)))
    page = text_of(view_of(run, base, context=replace(CONTEXT, show_outputs=False)))
    content = json.dumps(read_blocks(page)) + page
    assert "store credit" not in content
    assert "opening hours" not in content
    assert "show_outputs is none" in page
    assert "store credit" in json.dumps(read_blocks(text_of(view_of(run, base))))


def test_secrets_are_removed_before_texts_are_compressed() -> None:
    trial = Trial(
        "h", [Score("e", 0.0, metadata={"reason": "hunter2-secret"})], "hunter2-secret", output="a hunter2-secret!"
    )
    context = replace(CONTEXT, redact=lambda text: text.replace("hunter2-secret", "***"))
    page = text_of(view_of(make_run(ExampleSuite("demo", [trial])), context=context))
    assert "hunter2-secret" not in json.dumps(read_blocks(page))
    assert read_blocks(page)["page-0"][0]["output"] == "a ***!"


@pytest.mark.parametrize("length", [4, 5, 8])
def test_compressed_data_with_a_random_secret_stays_valid(length: int) -> None:
    data = {"text": "any text " * 9}
    plain = block("page", 0, data, redact=str)
    secret = BLOCK.findall(plain)[0][1][20 : 20 + length]
    safe = block("page", 0, data, redact=lambda text: text.replace(secret, "***"))
    assert secret not in safe.partition(">")[2]
    assert read_blocks(safe) == {"page-0": data}


def test_a_long_text_is_cut_at_half_of_the_budget_and_marked() -> None:
    room = TextBudget(10_000, str)
    assert room.text("x" * 9000) == ("x" * 5000, 9000)
    assert room.text("y" * 9000) == ("y" * 2500, 9000)
    assert room.text("short") == "short"
    assert room.text({"a": [1, 2]}) == '{"a": [1, 2]}'


def make_noisy_pair(name: str, by: float) -> tuple[ExampleSuite, ExampleSuite]:
    """A suite whose scores changed by ± `by`, and its base."""
    moves = [by if at % 2 else -by for at in range(600)]
    now, before = (
        [Trial(f"c{at}", [Score("e", 0.5 + on * move, None)]) for at, move in enumerate(moves)] for on in (1, 0)
    )
    return ExampleSuite(name, now), ExampleSuite(name, before)


def test_the_axis_fits_ordinary_intervals_and_cuts_only_others() -> None:
    def cuts(*sizes: float) -> list[int]:
        suites = [make_noisy_pair(f"s{at}", by) for at, by in enumerate(sizes)]
        view = view_of(make_run(*(now for now, _ in suites)), make_base(*(before for _, before in suites)))
        return sorted(len(line.cut) for line in draw_forest(view.rows).lines)

    assert cuts(0.05) == [0]
    assert cuts(0.05, 0.1) == [0, 0]
    assert cuts(0.02, 0.02, 0.4) == [0, 0, 2]


def test_ticks_below_a_millisecond_have_unique_labels() -> None:
    suite = ExampleSuite("quick", [Trial(f"c{at}", [Score("e")], duration_ms=0.02 * (at + 1)) for at in range(100)])
    (chart,) = draw_latencies(view_of(make_run(suite)).paired_suites)
    assert [label for _, label in chart.ticks] == ["0.1 ms", "1 ms"]


def test_latency_plots_have_their_own_height() -> None:
    assert f'viewBox="0 0 {charts.LATENCY_WIDTH} {charts.LATENCY_HEIGHT}"' in text_of(EXAMPLES["failing"]())


def test_a_gate_formats_thousands() -> None:
    suite = ExampleSuite("many", [Trial(f"c{at}", [Score("e", float(at > 0), Threshold(gte=1))]) for at in range(2000)])
    assert "1,999 of 2,000 cases" in text_of(view_of(make_run(suite), limits=Limits(min_pass_rate=1.0)))


def test_limits_of_gates_are_drawn() -> None:
    run, base = make_run(bot(range(2, 24), range(9))), make_base(bot(range(3), range(9)))
    page = text_of(view_of(run, base, limits=Limits(min_score={"has-all-substrings": 0.95}, max_drop={"*": 0.05})))
    marks = re.findall(r'class="limit (held|missed)"><title>([^<]*)</title>', page)
    assert sorted(marks) == [
        ("held", "Drop: a drop of at most 0.050"),
        ("missed", "Drop: a drop of at most 0.050"),
        ("missed", "Mean score: ≥ 0.95"),
    ]


@pytest.mark.parametrize(
    "trace",
    [
        None, "text", {"spans": "no list"}, {"spans": [1, None]}, {"spans": []},
    ],
)  # fmt: skip
def test_invalid_traces_are_none(trace: Any) -> None:
    assert trace_data(trace, TextBudget(1000, str)) is None


def test_spans_in_a_parent_cycle_are_skipped() -> None:
    spans = [{"span_id": "a", "parent_id": "b", "name": "a"}, {"span_id": "b", "parent_id": "a", "name": "b"}]
    found = trace_data({"spans": [*spans, {"span_id": "c", "parent_id": "c", "name": "c"}]}, TextBudget(1000, str))
    assert found == {
        "steps": [{"depth": 0, "name": "c", "at": 0.0, "ms": 0.0, "error": None, "attributes": []}],
        "left_out": 2,
    }


def test_both_runs_are_read_once() -> None:
    passes: list[str] = []

    def counted(run: Run, name: str) -> Run:
        cases = list(run.cases)

        def read() -> Iterator[Any]:
            passes.append(name)
            return iter(cases)

        return replace(run, read=read)

    view = view_of(
        counted(make_run(bot(range(3), range(9))), "run"), counted(make_base(bot(range(1), range(9))), "base")
    )
    passes.clear()
    text_of(view)
    assert passes == ["run", "base"]


def test_repeats_are_shown_in_order() -> None:
    trials = [Trial("h", [Score("e", at / 4, None)], repeat=at, output=f"try {at}") for at in (2, 0, 1)]
    page = text_of(view_of(make_run(ExampleSuite("demo", trials))))
    ((row,), found) = read_index(page), read_blocks(page)
    places = zip(row[PLACES][::2], row[PLACES][1::2], strict=True)
    assert [found[f"page-{number}"][at]["repeat"] for number, at in places] == [0, 1, 2]


def test_results_of_reruns_are_shown_beside_a_case() -> None:
    run = make_run(ExampleSuite("demo", [Trial("h", [Score("e", 0.0)])]))
    run = with_confirmations(run, [Confirmation("demo", "h", (True, True))])
    page = text_of(view_of(run, make_base(ExampleSuite("demo", [Trial("h", [Score("e")])]))))
    assert read_index(page)[0][TRIES] == "cleared: 2 of 2 further tries passed"


def test_a_large_table_of_gates_is_cut_and_counted() -> None:
    specs = [ExampleSuite(f"s{at}", [Trial("h", [Score("e", 0.0)])]) for at in range(600)]
    page = text_of(view_of(make_run(*specs)))
    head = page.partition('<script type="text/plain"')[0]
    assert head.count('<tr class="failed">') == 500
    assert "100 gates more in result.json" in head
    assert "100 scorers more in result.json" in head


def test_inputs_and_outputs_of_both_sides_have_one_layout() -> None:
    """A word diff of a text on one line and one on several would mark indents and brackets."""
    short, long = ({"answer": "yes", "sources": [f"page {n}" for n in range(count)]} for count in (1, 30))
    for field in ("output", "input"):
        cases = (CaseResult(0, "c", 0, **{field: value}) for value in (short, long))  # type: ignore[arg-type]
        shown = [str(trial_data(case, TextBudget(10_000, str), show_outputs=True)[field]) for case in cases]
        assert [text.splitlines()[:3] for text in shown] == [["{", '  "answer": "yes",', '  "sources": [']] * 2
