"""One verdict for the whole run, through the command line: small suites, small slices, clusters, and accepted rows."""

from __future__ import annotations

import pytest
from tests.integration.host.conftest import Project, Ran
from tests.integration.host.test_bases import keep_run

REGRESSION = "min_pass_rate = 0\nfail_on_regression = true\n"
SUITES = """from scoregate import evaluate

for number in range({suites}):
    evaluate(
        f"bot {{number}}",
        data=[{{"input": f"question {{at}}", "language": "fr" if at < 9 else "en"}} for at in range({cases})],
        task=lambda question: {answer},
        scorers=[lambda output: output == "right"],
    )
"""


def run_changed(project: Project, answer: str, *, suites: int, cases: int, settings: str = REGRESSION) -> Ran:
    """Run suites that answer every question, and again after a change."""
    project.write("scoregate.toml", settings)
    project.write("evals/eval_bots.py", SUITES.format(suites=suites, cases=cases, answer="'right'"))
    assert project.scoregate("run").exit_code == 0
    base = keep_run(project, "base")
    project.write("evals/eval_bots.py", SUITES.format(suites=suites, cases=cases, answer=answer))
    return project.scoregate("run", "--baseline", str(base))


@pytest.mark.parametrize(
    ("suites", "cases", "exit_code", "text"),
    [(12, 8, 1, "12 of 36 gates failed"), (1, 5, 3, "every case fell, and 5 pairs are too few to be certain")],
)
def test_suites_of_few_cases_that_collapse_are_not_green(
    project: Project, suites: int, cases: int, exit_code: int, text: str
) -> None:
    outcome = run_changed(project, "'wrong'", suites=suites, cases=cases)
    assert outcome.exit_code == exit_code, outcome.output
    assert text in " ".join(outcome.output.split())


def test_small_suites_that_fall_a_little_are_red_together(project: Project) -> None:
    answer = "'wrong' if question in ('question 1', 'question 2') else 'right'"
    outcome = run_changed(project, answer, suites=12, cases=8)
    assert outcome.exit_code == 1, outcome.output
    assert "12 rows with few pairs fell together: −0.250 on average of 96 pairs" in " ".join(outcome.output.split())
    assert {row["label"] for row in outcome.result["rows"]} == {"too few"}


def test_a_gate_that_cannot_fail_is_reported_and_not_passed(project: Project) -> None:
    outcome = run_changed(project, "'right'", suites=1, cases=5)
    assert outcome.exit_code == 0, outcome.output
    assert "can't fail with 5 cases (6 are needed)" in outcome.comment
    assert not [each for each in outcome.result["findings"] if each["rule"] == "regression"]


def test_a_slice_of_nine_cases_that_collapses_is_red(project: Project) -> None:
    settings = 'min_pass_rate = 0\nslices = ["language"]\nmax_slice_drop = { "language=fr" = 0.05 }\n'
    answer = "'wrong' if int(question.split()[1]) < 9 else 'right'"
    outcome = run_changed(project, answer, suites=1, cases=30, settings=settings)
    assert outcome.exit_code == 1, outcome.output
    assert "language=fr: −1.000" in outcome.output
