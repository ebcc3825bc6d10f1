"""The comment has the verdict first, fits, and escapes everything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import Environment
from tests.runs import change_run
from tests.unit.report.example_views import EXAMPLES, bot
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report import markdown
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.markdown import DETAIL_LEVELS, marker, marker_prefix
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.policy import Limits

GOLDENS = Path(__file__).parents[2] / "goldens"


def comment(view: ReportView, budget: int = markdown.BUDGET) -> str:
    [text] = markdown.render(view, budget=budget)
    return text


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_equals_the_golden(example: str) -> None:
    golden = GOLDENS / f"comment-{example}.md"
    text = comment(EXAMPLES[example]())
    if os.environ.get("SCOREGATE_WRITE_GOLDENS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def test_the_first_line_is_the_marker_and_the_second_the_verdict() -> None:
    lines = comment(EXAMPLES["failing"]()).splitlines()
    assert lines[0] == f"<!-- scoregate:v1 key=evals sha={CONTEXT.commit} run=1234567.1 -->"
    assert lines[0].startswith(marker_prefix("evals"))
    assert lines[1] == "## ❌ scoregate: 3 of 9 gates failed"


@pytest.mark.parametrize("key", ["a b", "--> x", "a--b", "ä", "", "a/b-c"])
def test_no_key_ends_the_marker(key: str) -> None:
    line = marker(ReportContext(key=key, commit="abc"))
    assert line.startswith(marker_prefix(key))
    assert re.fullmatch(r"<!-- scoregate:v1 key=[^ <>]+ sha=abc run=none -->", line)
    assert "--" not in line.removeprefix("<!--").removesuffix("-->")


def test_a_green_run_is_three_lines_and_folded_tables() -> None:
    lines = [line for line in comment(EXAMPLES["green"]()).splitlines()[1:] if line]
    depth, shown = 0, []
    for line in lines:
        depth += line.count("<details")
        if not depth:
            shown.append(line)
        depth -= line.count("</details>")
    assert [line[:12] for line in shown] == ["## ✅ scorega", "**Pass rate ", "<sub>Baselin"], shown


def test_a_green_run_with_a_significant_drop_shows_the_table() -> None:
    def green(forgets: int) -> str:
        run, base = make_run(bot(range(forgets), range(0))), make_base(bot(range(2), range(0)))
        return comment(view_of(run, base, limits=Limits(min_pass_rate=0)))

    assert "<summary>2 scorers compared with the baseline</summary>" in green(2)
    assert "<summary>2 scorers" not in green(30)
    assert "| 🔻 | <code>support-bot</code> · <code>has-all-substrings</code>" in green(30)


@pytest.mark.parametrize(("pull_request", "name"), [(True, "PR"), (False, "Now")])
def test_only_pull_requests_have_a_pr_column(pull_request: bool, name: str) -> None:
    run, base = make_run(bot(range(30), range(0))), make_base(bot(range(2), range(0)))
    text = comment(view_of(run, base, context=replace(CONTEXT, pull_request=pull_request)))
    assert f" | Baseline | {name} | Δ" in text
    assert f"| Baseline → {name} |" in text
    assert not re.search(r"\bPR\b", text) or pull_request


def test_the_first_run_has_an_explanation() -> None:
    text = comment(EXAMPLES["first"]())
    assert "There is no baseline yet (no run of main is stored)" in text
    assert "The next run on main creates one." in text


def test_a_message_titles_the_run() -> None:
    text = comment(
        view_of(make_run(ExampleSuite("demo", [Trial("h", [Score("e", 1.0)])]), message="nightly, *new* prompt"))
    )
    assert " scoregate: nightly, &#42;new&#42; prompt · " in text.splitlines()[1]


def test_the_pass_rate_drop_is_of_common_cases() -> None:
    base = ExampleSuite("demo", [Trial(f"h{at}", [Score("e")]) for at in range(10)])
    run = ExampleSuite("demo", [Trial(f"h{at}", [Score("e", float(at > 0))]) for at in range(20)])
    assert "**Pass rate 95.0%** (−10.0 pp vs <code>main@a1b2c3d</code>, which alone may be chance)" in comment(
        view_of(make_run(run), make_base(base))
    )


def test_a_baseline_without_a_commit_is_not_named_by_its_id() -> None:
    suite = ExampleSuite("demo", [Trial(f"h{at}", [Score("e", float(at > 0))]) for at in range(10)])
    text = comment(view_of(make_run(suite), change_run(make_base(suite), commit=None)))
    assert "**Pass rate 90.0%** (±0 vs the baseline)" in text


def test_a_row_without_a_score_has_a_reason() -> None:
    suite = ExampleSuite("demo", [Trial("h", [Score("e")])], (EvaluatorInfo("e"), EvaluatorInfo("silent")))
    assert "| ⚠️ | <code>demo</code> · <code>silent</code> | – | no case has a score |" in comment(
        view_of(make_run(suite))
    )


def test_hidden_outputs_are_omitted() -> None:
    run, base = make_run(bot(range(2, 24), range(0))), make_base(bot(range(3), range(0)))
    assert "store credit within" in comment(view_of(run, base))
    assert "store credit within" not in comment(view_of(run, base, context=replace(CONTEXT, show_outputs=False)))


def make_large_view() -> ReportView:
    """A run that does not fit: many suites, long names, long outputs, and everything fails."""
    names = [f"a suite with a long name for the table, number {at}" for at in range(150)]

    def make_suite(name: str, score: float) -> ExampleSuite:
        trials = [Trial(f"h{at}", [Score(f"e{e}", score) for e in range(8)], output="long " * 900) for at in range(3)]
        return ExampleSuite(name, trials)

    return view_of(
        make_run(*(make_suite(name, 0.1) for name in names)), make_base(*(make_suite(name, 1.0) for name in names))
    )


def test_less_room_drops_whole_parts() -> None:
    view = make_large_view()
    seen = []
    for budget in (10**9, 250_000, 60_000, 30_000, 16_000, 1_500):
        text = comment(view, budget)
        assert len(text.encode()) <= budget
        assert text.count("<details") == text.count("</details>")
        assert text.count("```") % 2 == 0
        assert text.startswith("<!-- scoregate:v1 ")
        assert text.endswith("updated on every push</sub>\n")
        assert "## ❌ scoregate: 150 of 300 gates failed" in text
        seen.append(len(text))
    assert seen == sorted(seen, reverse=True)
    assert "more in the <a" in comment(view)


def test_rows_that_do_not_fit_are_left_out_one_by_one() -> None:
    def make_suites(score: float) -> Iterator[ExampleSuite]:
        for at in range(100):
            yield ExampleSuite(f"suite {at}", [Trial(f"h{case}", [Score("e", score)]) for case in range(8)])

    view = view_of(make_run(*make_suites(0.1)), make_base(*make_suites(1.0)))
    shown = []
    for budget in (14_000, 14_400, 14_800):
        text = comment(view, budget)
        assert budget - 400 < len(text.encode()) <= budget
        rows = text.count("</code> · <code>e</code> | 1.000 |")
        assert f"{100 - rows} scorers more in the" in text
        shown.append(rows)
    assert 0 < shown[0] < shown[1] < shown[2] < 100


def test_the_last_level_is_small_for_any_text() -> None:
    error = ErrorInfo(HOSTILE[0], "x" * 10_000, "", "y" * 10_000)
    specs = [
        ExampleSuite(f"{'&' * 500}{at}", [Trial("h", [Score("e" * 500, 0.1)])], errors=(error,)) for at in range(80)
    ]
    assert len(comment(view_of(make_run(*specs)), 0).encode()) < 16_000
    assert DETAIL_LEVELS[-1].cases == DETAIL_LEVELS[-1].rows == DETAIL_LEVELS[-1].suites == 0


def test_the_template_escapes_everything() -> None:
    environment: Environment = markdown.load_environment()
    own = {"code", "fence", "first_lines", "icon", "link"}
    assert set(environment.filters) == {*own, "commas", "count", "length", "short"}
    folder = Path(markdown.__file__).with_name("templates")
    assert not [path for path in folder.iterdir() if re.search(r" ~ |autoescape|\|\s*safe", path.read_text("utf-8"))]
    with pytest.raises(TypeError, match="cannot print"):
        environment.from_string("{{ x }}").render(x=None)
    assert environment.from_string("{{ x }}").render(x="<b>*a*") == "&lt;b&gt;&#42;a&#42;"


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_no_text_changes_the_structure_of_the_comment(text: str) -> None:
    cmarkgfm = pytest.importorskip("cmarkgfm")

    def make_suite(word: str, score: float) -> ExampleSuite:
        error = ErrorInfo(word, word, word, word)
        scores = [Score(word or "e", score, metadata={word: word}), Score("judge", error=error)]
        output, labels = word if score else f"before {word}", {"tone": word}
        trials = [Trial("h", scores, name=word, output=output, labels=labels)]
        return ExampleSuite("demo", trials, errors=(error,))

    def tags(word: str) -> list[str]:
        run, base = make_run(make_suite(word, 0.0), notices=(word,), message=word), make_base(make_suite(word, 1.0))
        text = comment(view_of(run, base, note=word))
        assert text.count("<!--") == 1
        text = text.replace("<span>$</span>", "$")
        html = cmarkgfm.github_flavored_markdown_to_html(text, options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)
        return [tag for tag in re.findall(r"<[^>]*>", html) if "scoregate:v1" not in tag]

    assert tags(text) == tags("harmless")


def test_cases_are_counted_and_not_their_repeats() -> None:
    def suite(scores: dict[str, float]) -> ExampleSuite:
        trials = [Trial(case, [Score("e", each)], repeat=at) for case, each in scores.items() for at in range(4)]
        return ExampleSuite("demo", trials)

    run, base = make_run(suite({"a": 0.0, "b": 0.0, "c": 1.0})), make_base(suite(dict.fromkeys("abc", 1.0)))
    limits = Limits(min_pass_rate=1.0)
    assert "**2 cases below threshold**" in comment(view_of(run, base, limits=limits))
    alone = view_of(run, limits=limits)
    assert "| 8 of 12 trials |" in comment(alone)
