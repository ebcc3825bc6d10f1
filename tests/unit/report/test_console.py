"""The terminal shows the verdict in any width, with or without colours, and no text controls it."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType
from tests.unit.report.example_views import EXAMPLES
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run, view_of

from scoregate.cli.console import SafeLog
from scoregate.kernel.report import console
from scoregate.kernel.report.notices import describe_ungated
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.policy import Limits


def print_view(view: ReportView, width: int = 120, *, color: bool = False, full: bool = False) -> str:
    return print_into(io.StringIO(), console.render(view, full=full, see="report.html"), width, color=color)


def print_into(
    out: io.StringIO, parts: Iterable[RenderableType], width: int, *, color: bool = False, log: bool = False
) -> str:
    """The output of a job with `log`."""
    file = SafeLog(out) if log else out
    into = Console(file=file, width=width, force_terminal=color, color_system="truecolor" if color else None)
    for part in parts:
        into.print(part)
    return out.getvalue()


def test_a_failing_run_names_failures_and_ends_with_the_verdict() -> None:
    lines = print_view(EXAMPLES["failing"](), 140).splitlines()
    first = next(line for line in lines if "has-all-substrings" in line)
    assert first.startswith("✗")
    assert "0.985  0.890  −0.095" in first
    assert "worse (corrected p < 0.0001); 22 of 200 below" in first
    noise = next(line for line in lines if "is-equals" in line)
    assert "  ~  " in noise
    assert "✗ Pass rate of support-bot: 165 of 200 cases (82.5%), required: ≥ 90.0% (set in pyproject.toml)" in lines
    assert lines[-1].startswith("✗ scoregate: 3 of 9 gates failed · 165 of 200 pass (82.5%) · 26 newly failing")


def test_a_gate_that_passes_within_noise_is_marked() -> None:
    suite = ExampleSuite("demo", [Trial(f"h{at}", [Score("e", float(at > 2))]) for at in range(26)])
    lines = print_view(view_of(make_run(suite), limits=Limits(min_pass_rate=0.85)), 140).splitlines()
    expected = (
        "? within noise of its limit: Pass rate of demo: 23 of 26 cases (88.5%), ±12.5% at 26 cases, required: ≥ 85.0%"
    )
    assert expected in lines


def test_a_row_without_a_score_has_a_reason() -> None:
    suite = ExampleSuite("demo", [Trial("h", [Score("e")])], (EvaluatorInfo("e"), EvaluatorInfo("silent")))
    line = next(line for line in print_view(view_of(make_run(suite))).splitlines() if "silent" in line)
    assert line.split("  ")[-1] == "no case has a score"


def test_failing_cases_have_reasons() -> None:
    lines = print_view(EXAMPLES["failing"]()).splitlines()
    assert lines.count('    has-all-substrings  1 → 0  needs ≥ 1  missing_substrings: ["store credit"]') == 10
    assert "26 newly failing cases, the largest drops first:" in lines
    assert "… 16 more: see report.html" in lines


def test_narrow_terminals_show_reasons_below_scores() -> None:
    lines = print_view(EXAMPLES["failing"](), 60).splitlines()
    at = lines.index("    has-all-substrings  1 → 0  needs ≥ 1")
    assert lines[at + 1] == '      missing_substrings: ["store credit"]'


def test_details_list_every_failing_case_once_worst_first() -> None:
    trials = [Trial(f"h{at}", [Score("e", at / 100)], name=f"case {at}") for at in range(60)]
    trials[7] = Trial("h7", [Score("e", 0.07, metadata={"reason": "why " * 300})], name="case 7")
    view = view_of(make_run(ExampleSuite("demo", trials)))
    names = [line.split()[2] for line in print_view(view, full=True).splitlines() if line.startswith("✗ case")]
    assert [int(number) for number in names] == list(range(60))
    assert print_view(view, full=True).count("why") == 300
    assert print_view(view).count("why") < 60


def test_details_show_where_errors_were_raised() -> None:
    view = EXAMPLES["unmeasurable"]()
    assert "    Traceback: …" in print_view(view, full=True).splitlines()
    assert "    first in case 1:" in print_view(view, full=True).splitlines()
    assert "Traceback" not in print_view(view)


def test_the_default_shows_one_screen_of_failing_cases() -> None:
    misses = [Score(f"evaluator {at}", 0.1, metadata={"reason": "because of this and that " * 5}) for at in range(8)]
    view = view_of(make_run(ExampleSuite("demo", [Trial(f"h{at}", misses) for at in range(30)])))
    lines = print_view(view, 80).splitlines()
    assert len(lines) < 90
    assert any("evaluators more" in line for line in lines)
    assert any(line.startswith("… 2") and "report.html" in line for line in lines)


@pytest.mark.parametrize("example", EXAMPLES)
def test_brief_output_has_only_failures(example: str) -> None:
    view = EXAMPLES[example]()
    lines = print_into(io.StringIO(), console.render_brief(view), 140).splitlines()
    assert "scoregate: " in " ".join(lines[-2:])
    assert "suite · scorer" not in "".join(lines)
    if view.verdict.conclusion == "passed":
        assert len(lines) <= 2 + len(view.verdict.warnings) + len(view.near) + bool(describe_ungated(view.verdict))
    else:
        assert len(lines) > 1


def test_suites_in_which_nothing_can_fail_are_named_in_each_verdict() -> None:
    free = ExampleSuite("free", [Trial("h", [Score("e", 0.1, threshold=None)])])
    bad = ExampleSuite("bad", [Trial("h", [Score("e", 0.1)])])
    note = "note: free: nothing here can fail."
    assert note in print_view(view_of(make_run(free, bad)))
    unfinished = ExampleSuite("free", [Trial("h", [Score("e", 0.1, threshold=None)])], finished=False)
    assert note not in print_view(view_of(make_run(unfinished, bad)))
    brief = [
        print_into(io.StringIO(), console.render_brief(view_of(run)), 140) for run in (make_run(free), make_run(bad))
    ]
    assert [note in text for text in brief] == [True, False]


def test_wide_characters_and_their_columns_fit_the_width() -> None:
    trials = [
        Trial(f"h{at}", [Score("日本語の評価器", 0.1, metadata={"理由": "回答が不完全" * 20})]) for at in range(3)
    ]
    for width in (40, 80, 120):
        lines = print_view(view_of(make_run(ExampleSuite("日本語のスイート" * 4, trials, ()))), width).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert [line for line in lines if line != line.rstrip()] == []


def test_without_a_base_no_row_is_new() -> None:
    text = print_view(EXAMPLES["first"]())
    assert "note: There is no baseline yet" in text
    assert "new (" not in text
    assert text.splitlines()[-1].startswith("✓ scoregate: 3 gates passed")


def test_errors_are_counted_with_advice() -> None:
    lines = print_view(EXAMPLES["unmeasurable"]()).splitlines()
    error = lines.index('! support-bot · accuracy: RateLimitError: 429: slow down (in 40 trials, first in "case 1")')
    assert lines[error + 1] == "    Lower the concurrency."
    assert "! scoregate: could not be measured: 4 problems" in " ".join(lines)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("width", [20, 40, 80, 109, 110, 200])
def test_output_fits_any_width(example: str, width: int) -> None:
    lines = print_view(EXAMPLES[example](), width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 4000 / width + 60


def test_a_message_titles_the_run() -> None:
    run = make_run(ExampleSuite("demo", [Trial("h", [Score("e", 1.0)])]), message="nightly")
    assert "scoregate: nightly · " in print_view(view_of(run))


def test_colours_are_only_for_terminals() -> None:
    assert "\x1b[" in print_view(EXAMPLES["failing"](), color=True)
    assert "\x1b" not in print_view(EXAMPLES["failing"]())


def test_a_name_is_shown_unchanged_for_searches() -> None:
    trial = Trial("h", [Score("e", 0.1)], name="tests/test_a.py::test_b[##[0]]")
    lines = print_view(view_of(make_run(ExampleSuite("pytest", [trial])))).splitlines()
    assert "✗ tests/test_a.py::test_b[##[0]]  pytest" in lines


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("width", [30, 80, 150])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_controls_the_terminal_or_the_runner(text: str, width: int, full: bool) -> None:
    error = ErrorInfo(text, text, text, text)
    trials = [
        Trial(
            "h1",
            [Score(text or "e", 0.1, metadata={text: text})],
            name=text,
            output=text,
            labels={"tone": text, f"is {text}": "odd"},
        ),
        Trial("h2", [Score("e", error=error)], name=text),
    ]
    view = view_of(make_run(ExampleSuite(text or "demo", trials, errors=(error,)), message=text))
    shown = print_into(io.StringIO(), console.render(view, full=full), width, log=True)
    assert "\x1b" not in shown
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert len(shown) < 30_000
    if text.startswith("[bold red]") and width == 150:
        assert "[bold red]markup[/]" in shown


def test_trials_of_repeated_cases_are_not_called_cases() -> None:
    trials = [Trial(case, [Score("e", 0.0)], repeat=at) for case in "ab" for at in range(4)]
    view = view_of(make_run(ExampleSuite("demo", trials)), limits=Limits(min_pass_rate=1.0))
    assert "8 of 8 trials below threshold" in " ".join(print_view(view).split())
