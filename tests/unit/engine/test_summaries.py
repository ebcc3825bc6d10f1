"""The summary of a suite in a terminal, and the texts of its result in a prompt or a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.engine.eval_result import CaseList, EvalResult, copy_result, make_skipped_result
from scoregate.engine.summary import summary
from scoregate.errors import EndpointError
from scoregate.kernel.types.evaluation import Assertion
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.testing.models import Evaluation, Threshold


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    del capsys  # each run prints its summary, too
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCOREGATE_EVENTS", raising=False)


def run(scorers: Any, data: Any = ("a", "b", "c"), task: Any = str, **options: Any) -> EvalResult:
    return evaluate("demo", data=list(data), task=task, scorers=scorers, **options)


def list_lines(result: EvalResult) -> list[str]:
    return summary(result).splitlines()


def is_a(output: str) -> bool:
    return output == "a"


def test_the_first_line_counts_cases_and_trials_and_has_the_means() -> None:
    assert list_lines(run(lambda output: output != ""))[0] == '✓ demo: 3 cases · 3 passed · output != "" 1.000'
    assert list_lines(run(is_a))[0] == "✗ demo: 3 cases · 1 passed · 2 failed · is_a 0.333"
    assert list_lines(run(is_a, ["a"], repeats=2))[0] == "✓ demo: 1 case (2 trials) · 2 passed · is_a 1.000"


def test_failed_cases_follow_with_the_reasons() -> None:
    def judge(output: str) -> Evaluation:
        assertions = [Assertion(name, passed=name == "is short", required=True) for name in ("is short", "is kind")]
        metadata = {"reason": "harsh", "prompt": "Is it kind?"}
        return Evaluation(0.25 if output == "b" else 1.0, Threshold(gte=0.5), metadata, assertions)

    assert list_lines(run([judge, is_a], ["a", "b"]))[1:] == [
        "    failed b: is_a 0, not ≥ 1; judge 0.25, not ≥ 0.5 (reason: harsh, unmet: ['is kind'])"
    ]


def test_a_failed_case_lists_only_what_it_missed() -> None:
    """It may have scores that pass, or that have no threshold."""
    scorers = [is_a, lambda output: output == "b", lambda output: len(output) / 4]
    assert list_lines(run(scorers, ["b"]))[1:] == ["    failed b: is_a 0, not ≥ 1"]


def test_failed_cases_and_cases_with_errors_are_listed() -> None:
    def check(output: str) -> Any:
        if output == "c":
            raise ValueError("no")
        return output == "a"

    lines = list_lines(run(check, concurrency=1))
    assert [line.split(" (at ")[0] for line in lines] == [
        "✗ demo: 3 cases · 1 passed · 1 failed · 1 errored · check 0.500",
        "    failed b: check 0, not ≥ 1",
        "    errored c: check: ValueError: no",
    ]


def test_the_first_line_leaves_out_scorers_without_a_score() -> None:
    def silent(output: str) -> None: ...

    assert list_lines(run([is_a, silent], ["a"])) == ["✓ demo: 1 case · 1 passed · is_a 1.000"]


def test_a_suite_in_which_nothing_was_scored_says_why() -> None:
    for scorers, why in (
        ([], "the suite has no scorers"),
        (lambda output: None, "every scorer returned None"),  # noqa: ARG005
    ):
        assert list_lines(run(scorers, ["a"]))[1:] == [f"    nothing was scored: {why}"]
    assert list_lines(run(is_a, []))[1:] == ["    suite 'demo': the data has no cases"]


def test_a_line_has_at_most_three_hundred_characters() -> None:
    for length, shown in ((300, "x" * 300), (301, f"{'x' * 299}…")):
        problem = ErrorInfo("InvalidSuite", "x" * length)
        assert list_lines(replace(copy_result(run(is_a, ["a"])), errors=(problem,)))[1:] == [f"    {shown}"]


def test_five_texts_of_advice_are_shown() -> None:
    problems = tuple(ErrorInfo("E", f"p{number}", advice=f"Do {number}.") for number in range(6))
    lines = list_lines(replace(copy_result(run(is_a, ["a"])), errors=problems))
    assert [line.strip() for line in lines if "→" in line] == [f"→ Do {number}." for number in range(5)]


def test_eight_rankings_of_variants_are_shown() -> None:
    def checks(output: str) -> dict[str, bool]:
        return {f"s{number}": output == "a" for number in range(9)}

    lines = list_lines(run(checks, ["a", "b"], {"one": str, "two": str}))
    assert len([line for line in lines if line.startswith(("  s", "  checks"))]) == 8


def test_errors_name_the_function_and_the_line(tmp_path: Path) -> None:
    scope: dict[str, Any] = {}
    code = "def task(input):\n    return divide(1, 0)\ndef divide(a, b):\n    return a / b\n"
    (tmp_path / "demo.py").write_text(code, encoding="utf-8")
    exec(compile(code, str(tmp_path / "demo.py"), "exec"), scope)

    def broken(output: str) -> float:
        raise KeyError(output)

    text = list_lines(run([], ["a"], scope["task"]))[1]
    assert text == "    errored a: fn: ZeroDivisionError: division by zero (at demo.py:4: return a / b)"
    assert list_lines(run(broken, ["a"]))[1].startswith("    errored a: broken: KeyError: 'a' (at ")


def test_five_cases_and_each_advice_are_shown_once() -> None:
    def fail(output: str) -> float:
        raise EndpointError(f"no answer to {output}", advice="Start it." if output < "2" else "Try again.")

    _, *lines = list_lines(run(fail, [str(number) for number in range(7)], concurrency=1))
    assert [line.strip() for line in lines if "→" in line] == ["→ Start it.", "→ Try again."]
    assert len([line for line in lines if "errored" in line]) == 5
    assert lines[-1] == "    … and 2 more"
    assert not list_lines(run(fail, [str(number) for number in range(5)]))[-1].startswith("    …")


def test_problems_of_the_suite_come_before_its_cases() -> None:
    problem = ErrorInfo("InvalidSuite", "two cases\nare equal", advice="Give each an id.")
    result = replace(copy_result(run(is_a, ["b"])), errors=(problem,))
    assert list_lines(result)[1:] == [
        "    two cases are equal",
        "      → Give each an id.",
        "    failed b: is_a 0, not ≥ 1",
    ]
    assert repr(result).endswith(", is_a 0.000, 1 error of the suite>")
    assert repr(replace(result, errors=(problem,) * 2)).endswith("2 errors of the suite>")


def test_variants_have_a_summary_each_and_their_ranking() -> None:
    tasks: dict[str, Callable[[str], str]] = {"good": lambda _: "a", "bad": lambda _: "b"}
    result = run(is_a, [str(number) for number in range(20)], tasks)
    lines = list_lines(result)
    assert [line for line in lines if line.startswith(("✓", "✗"))] == [
        "✓ demo [task=good]: 20 cases · 20 passed · is_a 1.000",
        "✗ demo [task=bad]: 20 cases · 20 failed · is_a 0.000",
    ]
    assert lines[-1].startswith("  is_a: good is the best")
    assert result.best is result.by_variant["good"]
    assert list(result.by_variant) == ["good", "bad"]
    same = run(is_a, ["a"], {"one": str, "two": str})
    assert same.best is None


def test_a_result_without_variants_has_no_ranking() -> None:
    result = run(is_a)
    assert (result.rankings, result.best, result.by_variant) == ((), None, {})


def test_a_skipped_suite_is_shown_as_such() -> None:
    skipped = make_skipped_result("demo")
    assert (repr(skipped), skipped.passed, list(skipped.cases)) == ("<EvalResult demo: skipped>", True, [])
    assert repr(run(is_a, [])).startswith("<EvalResult demo: no cases")


def test_the_text_of_a_result_has_eight_scores() -> None:
    def checks(output: str) -> dict[str, float]:
        return {f"s{number}": float(bool(output)) for number in range(10)}

    assert repr(run(checks, ["a"])).count("1.000") == 8


def list_cases(count: int) -> CaseList:
    return CaseList(lambda: (CaseResult(0, f"c{number}") for number in range(count)), count)


def test_a_list_of_cases_is_read_by_index_and_slice() -> None:
    cases = list_cases(5)
    assert [cases[index].hash for index in (0, 4, -1, -5)] == ["c0", "c4", "c4", "c0"]
    assert [case.hash for case in cases[1:3]] == ["c1", "c2"]
    assert (len(cases), repr(cases)) == (5, "<5 trials>")
    for index in (5, -6):
        with pytest.raises(IndexError, match=f"there are 5 trials, and none at {index}"):
            cases[index]


def test_a_list_of_cases_is_an_iterator_once_next_was_called() -> None:
    cases = list_cases(3)
    assert [case.hash for case in cases] == [case.hash for case in cases] == ["c0", "c1", "c2"]
    assert next(cases).hash == "c0"  # type: ignore[call-overload]
    assert [case.hash for case in cases] == ["c1", "c2"]
    assert list(CaseList(None, 0)) == []


def test_a_table_has_at_most_a_hundred_rows() -> None:
    html = run(is_a, [f"<{number}>" for number in range(103)])._repr_html_()
    assert html.count("<tr>") == 101
    assert "<p>… and 3 more</p>" in html
    assert "… and" not in run(is_a, [str(number) for number in range(100)])._repr_html_()


def test_a_table_shows_what_each_case_has() -> None:
    data = [{"input": "a", "expected": "b"}, {"input": "c", "expected": None}]
    html = run(is_a, data, task=lambda input: {"text": input} if input == "c" else input)._repr_html_()  # noqa: A006
    head = "".join(f"<th>{name}</th>" for name in ("", "input", "output", "expected", "is_a", "reasons"))
    assert head in html
    rows = ("failed", "c", "{&#x27;text&#x27;: &#x27;c&#x27;}", "", "0.000", ""), ("passed", "a", "a", "b", "1.000", "")
    for row in rows:
        assert f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" in html, row
    assert html.index(">failed<") < html.index(">passed<")


def test_a_comparison_is_text() -> None:
    def run_with(*good: str) -> EvalResult:
        return run(is_a, task=lambda input: "a" if input in good else "b")  # noqa: A006

    text = str(run_with("b").compare(run_with("a", "c"))).splitlines()
    assert text[0].startswith("is_a: 0.667 → 0.333 (")
    assert sorted(text[1:]) == ["newly failing: a", "newly failing: c", "newly passing: b"]
    assert "is_a: – → 0.333 (new)" in str(run_with("b").compare(run([lambda output: output == "a"])))


def test_a_cell_has_at_most_three_hundred_characters() -> None:
    for length, shown in ((300, "x" * 300), (301, f"{'x' * 299}…")):
        assert f"<td>{shown}</td>" in run(is_a, ["a"], task=lambda _, length=length: "x" * length)._repr_html_()
