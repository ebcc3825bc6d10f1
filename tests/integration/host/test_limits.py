"""Limits that match nothing in the run: a typo must not disable a gate."""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.integration.host.conftest import Project, Ran, suite

BOTH = ("evals/demo.py", "evals/other.py")


@pytest.fixture
def two(project: Project) -> Project:
    """Suites called demo and other, in a file each."""
    project.write(BOTH[0], suite(good=3))
    project.write(BOTH[1], suite(good=3).replace("id='demo'", "id='other'"))
    return project


def limit_findings(ran: Ran) -> list[str]:
    return [finding["value"] for finding in ran.result["findings"] if finding["rule"] == "limits apply"]


@pytest.mark.parametrize("table", ["demmo", "demo-*"])
def test_limits_of_an_unknown_suite_are_never_green(two: Project, table: str) -> None:
    two.write("scoregate.toml", f'[suites."{table}"]\nmin_score = {{ is-equals = 0.9 }}\n')
    outcome = two.scoregate("run")
    assert outcome.exit_code == 3, outcome.output
    assert limit_findings(outcome) == [f"{table} matches none of the suites that ran: demo, other"]
    assert "scoregate.toml" in outcome.output


def test_limits_of_suites_that_ran_are_green(two: Project) -> None:
    two.write("scoregate.toml", '[suites.demo]\nmin_pass_rate = 0.9\n[suites."oth*"]\nmax_p95_ms = 60000\n')
    assert two.scoregate("run").exit_code == 0


def test_a_table_without_limits_may_name_a_file(two: Project) -> None:
    two.write("scoregate.toml", '[suites."evals/demo.py"]\nneeds = ["HOME"]\n')
    assert two.scoregate("run").exit_code == 0


@pytest.mark.parametrize("part", [("run", BOTH[0]), ("run", "--suite", "demo")])
def test_a_partial_run_may_lack_suites_with_limits(two: Project, part: tuple[str, ...]) -> None:
    two.write("scoregate.toml", "[suites.other]\nmin_score = { is-equals = 0.9 }\n")
    outcome = two.scoregate(*part)
    assert outcome.exit_code == 0, outcome.output


def test_paths_of_the_environment_are_partial_and_those_of_the_file_complete(two: Project) -> None:
    limits = "[suites.other]\nmin_pass_rate = 0.9\n"
    two.write("scoregate.toml", limits)
    assert two.scoregate("run", SCOREGATE_PATHS=BOTH[0]).exit_code == 0
    two.write("scoregate.toml", f"paths = ['{BOTH[0]}']\n{limits}")
    assert two.scoregate("run").exit_code == 3


def test_a_command_may_lack_suites_with_limits(two: Project) -> None:
    two.write("scoregate.toml", "[suites.other]\nmin_pass_rate = 0.9\n")
    outcome = two.scoregate("exec", "--", sys.executable, BOTH[0])
    assert outcome.exit_code == 0, outcome.output


def test_options_apply_to_the_run(two: Project) -> None:
    two.write("scoregate.toml", "max_drop = { of-another-suite = 0.1 }\n")
    assert two.scoregate("run", BOTH[0]).exit_code == 0
    outcome = two.scoregate("run", BOTH[0], "--max-drop", "is-equal=0.1")
    assert outcome.exit_code == 3
    assert limit_findings(outcome) == ["is-equal in max_drop matches no scorer"]


def test_suite_limits_need_an_evaluator_of_the_suite(two: Project) -> None:
    source = (two.root / BOTH[1]).read_text(encoding="utf-8")
    two.write(BOTH[1], source.replace('id = "is-equals"', 'id = "is-alike"'))
    two.write("scoregate.toml", "[suites.demo]\nmin_score = { is-alike = 0.9 }\n")
    for part in (("run",), ("run", BOTH[0])):
        outcome = two.scoregate(*part)
        assert outcome.exit_code == 3, outcome.output
        assert limit_findings(outcome) == ["is-alike in min_score matches no scorer"]


def test_a_crashed_script_hides_its_limits(two: Project) -> None:
    two.write(BOTH[1], "raise SystemExit(5)\n# scoregate.testing\n" + suite())
    two.write("scoregate.toml", "[suites.other]\nmin_pass_rate = 0.9\n")
    outcome = two.scoregate("run")
    assert outcome.exit_code == 3
    assert limit_findings(outcome) == []


def test_matrix_runs_are_measurable_and_merged_runs_have_every_limit(two: Project) -> None:
    two.write("scoregate.toml", "[suites.demo]\nmin_pass_rate = 0.9\n[suites.otter]\nmin_pass_rate = 0.9\n")
    legs = []
    for path in BOTH:
        outcome = two.scoregate("run", path)
        assert outcome.exit_code == 0, outcome.output
        legs.append(shutil.copytree(outcome.out / "run", two.root / "legs" / path.replace("/", "-")))
    merged = two.scoregate("merge", *map(str, legs))
    assert merged.exit_code == 3, merged.output
    assert limit_findings(merged) == ["otter matches none of the suites that ran: demo, other"]
