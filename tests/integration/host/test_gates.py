"""Gates that depend on the base, and the policy itself."""

from __future__ import annotations

import re

import pytest
from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.host.test_bases import keep_run

WORSE = "lambda case: case.input if '1' not in case.input else 'no'"


def run_against_base(
    project: Project, *flags: str, fn: str = WORSE, settings: str = "", base_settings: str = ""
) -> Ran:
    project.write("scoregate.toml", f"min_pass_rate = 0\n{base_settings}")
    project.write("evals/demo.py", suite(good=30))
    project.scoregate("run")
    base = keep_run(project, "base")
    project.write("scoregate.toml", f"min_pass_rate = 0\n{settings or base_settings}")
    project.write("evals/demo.py", suite(good=30, fn=fn))
    return project.scoregate("run", "--baseline", str(base), *flags)


def test_a_significant_drop_beyond_its_limit_fails(project: Project) -> None:
    outcome = run_against_base(project, "--max-drop", "0.2")
    assert outcome.exit_code == 1
    assert "−0.400" in outcome.output
    assert "p = 0.00024" in outcome.output
    assert re.search(r"baseline +now +delta", outcome.output)
    assert not re.search(r"\bPR\b", outcome.output + outcome.comment)


def test_a_drop_within_its_limit_passes(project: Project) -> None:
    assert run_against_base(project, "--max-drop", "is-equals=0.5").exit_code == 0


def test_any_regression_can_fail(project: Project) -> None:
    assert run_against_base(project, "--fail-on-regression").exit_code == 1


def test_noise_is_no_regression(project: Project) -> None:
    """Unless the case runs again on both sides, one of thirty that newly fails is noise."""
    flags = ("--fail-on-regression", "--max-drop", "0.01", "--fail-on-broken-cases", "off")
    outcome = run_against_base(project, *flags, fn="lambda case: case.input if case.input != 'good 7' else 'no'")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["rows"][0]["label"] == "within noise"


def test_a_limit_on_an_unknown_evaluator_is_never_green(project: Project) -> None:
    outcome = run_against_base(project, "--max-drop", "is-equal=0.5")
    assert outcome.exit_code == 3
    assert "is-equal" in outcome.output


def test_a_watched_evaluator_that_changed_is_a_warning_or_a_failure(project: Project) -> None:
    project.write("scoregate.toml", "min_pass_rate = 0\nmax_drop = 0.1\n")
    project.write("evals/demo.py", suite(good=20))
    project.scoregate("run")
    base = str(keep_run(project, "base"))
    project.write("evals/demo.py", suite(good=20).replace("return output\n", "return output.strip()\n"))
    outcome = project.scoregate("run", "--baseline", base)
    assert outcome.exit_code == 0
    assert "its code changed" in outcome.comment
    project.write("scoregate.toml", "min_pass_rate = 0\nmax_drop = 0.1\nseverity = { comparable = 'fail' }\n")
    assert project.scoregate("run", "--baseline", base).exit_code == 1


def test_a_loosened_policy_is_shown_and_can_fail(project: Project) -> None:
    strict, loose = "max_drop = 0.1\n", "max_drop = 0.9\n"
    outcome = run_against_base(project, base_settings=strict, settings=loose)
    assert outcome.exit_code == 0
    assert "max_drop" in outcome.comment
    project.write("scoregate.toml", f"min_pass_rate = 0\npolicy_from = 'base'\n{loose}")
    refusal = project.scoregate("gate", str(outcome.out), "--baseline", str(keep_base(project)))
    assert refusal.exit_code == 1
    assert "set in scoregate.toml of the base" in " ".join(refusal.output.split())


@pytest.mark.parametrize("loose", ["min_effect = 0.9", "alpha = 0.000001", "[evaluators.is-equals]\nmin_effect = 0.9"])
def test_a_change_cannot_loosen_the_definition_of_a_difference(project: Project, loose: str) -> None:
    strict = "fail_on_regression = true\npolicy_from = 'base'\n"
    outcome = run_against_base(project, base_settings=strict, settings=f"fail_on_regression = true\n{loose}\n")
    assert outcome.exit_code == 1, outcome.output
    text = " ".join(outcome.result["policy_changes"])
    assert ("alpha" if "alpha" in loose else "min_effect") in text
    assert "policy_from: base → head (not applied: policy_from = base)" in text


def test_a_loosened_policy_is_shown_if_the_settings_have_thresholds(project: Project) -> None:
    threshold = "[evaluators.is-equals]\nthreshold = { gte = 1 }\n"
    strict, loose = (f"max_drop = {drop}\n{threshold}" for drop in (0.1, 0.9))
    outcome = run_against_base(project, base_settings=strict, settings=loose)
    assert outcome.result["policy_changes"] == ["max_drop.* for all suites: 0.1 → 0.9"]


def test_a_gate_refuses_settings_that_scores_of_the_run_were_not_read_with(project: Project) -> None:
    project.write("evals/demo.py", suite(good=12))
    project.scoregate("run")
    for table, exit_code in (
        ("is-equals]\nthreshold = { gt = 1 }", 2),
        ("is-equals]\nmin_effect = 0.5", 0),
        ("other]\nthreshold = { gt = 1 }", 3),
    ):
        project.write("scoregate.toml", f"[evaluators.{table}\n")
        outcome = project.scoregate("gate", "scoregate-out")
        assert outcome.exit_code == exit_code, outcome.output
        is_refused = "were read with other settings of is-equals in [evaluators]" in outcome.output
        assert is_refused == (exit_code == 2)
    project.write("scoregate.toml", "[suites.demo]\ncluster = 'n'\n")
    outcome = project.scoregate("gate", "scoregate-out")
    assert outcome.exit_code == 2, outcome.output
    assert "were found with another `cluster` for demo" in outcome.output
    project.write("scoregate.toml", "[evaluators.is-equals]\nthreshold = { gt = 1 }\n")
    assert "which still apply to them" in project.scoregate("report").output
    assert project.scoregate("run").exit_code == 1


def test_a_rerun_base_uses_its_own_policy(project: Project) -> None:
    project.write("scoregate.toml", "min_pass_rate = 0.9\npolicy_from = 'base'\n")
    project.write("evals/demo.py", suite(good=30))
    project.commit("base")
    project.git("checkout", "-qb", "change")
    project.write("scoregate.toml", "min_pass_rate = 0\n")
    project.write("evals/demo.py", suite(good=30, fn=WORSE))
    project.commit("loosen")
    outcome = project.scoregate("run", "--baseline", "rerun", "--max-drop", "is-equals=0.5")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.result["policy_changes"] == [
        f"{change} (not applied: policy_from = base)"
        for change in ("min_pass_rate for all suites: 0.9 → 0", "policy_from: base → head")
    ]


def keep_base(project: Project) -> str:
    return f"{project.root.parent / project.root.name}-base"


def test_a_required_base_that_is_missing_is_unmeasurable(project: Project) -> None:
    project.write("scoregate.toml", "require_baseline = true\n")
    project.write("evals/demo.py", suite())
    assert project.scoregate("run").exit_code == 3


def test_latency_has_its_own_limits(project: Project) -> None:
    project.write("evals/demo.py", suite("import time", fn="lambda case: time.sleep(0.05) or case.input"))
    project.write("scoregate.toml", "max_p95_ms = 10\n")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 1
    assert "p95 latency" in outcome.output


SLICED = """
from scoregate import evaluate

ROWS = [{"id": f"q{n}", "input": f"question {n}", "language": ("fr", "de")[n % 2]} for n in range(40)]

def answer(input, language):
    return "no" if BAD and language == "fr" else "yes"

evaluate("hours", data=ROWS, task=answer, scorers=[lambda output: output == "yes"])
"""


def test_a_slice_fails_a_run_only_if_a_limit_names_it(project: Project) -> None:
    project.write("scoregate.toml", "min_pass_rate = 0\nslices = ['language']\n")
    project.write("evals/eval_hours.py", "BAD = False\n" + SLICED)
    project.scoregate("run")
    base = str(keep_run(project, "base"))
    project.write("evals/eval_hours.py", "BAD = True\n" + SLICED)
    outcome = project.scoregate("run", "--baseline", base)
    assert outcome.exit_code == 0, outcome.output
    assert [(each["value"], each["label"], each["n"]) for each in outcome.result["slices"]] == [
        *(("fr", "worse", 20), ("de", "unchanged", 20)),
    ]
    assert "<code>language=fr</code>" in outcome.comment
    for limit, exit_code in (("language=fr", 1), ("language=de", 0), ("language=es", 3), ("topic=tax", 3)):
        project.write("scoregate.toml", f"min_pass_rate = 0\nmax_slice_drop = {{ '{limit}' = 0.1 }}\n")
        outcome = project.scoregate("gate", "scoregate-out", "--baseline", base)
        assert outcome.exit_code == exit_code, (limit, outcome.output)
    project.write("scoregate.toml", "max_slice_drop = { language = 0.1 }\n")
    assert project.scoregate("gate", "scoregate-out").exit_code == 2
