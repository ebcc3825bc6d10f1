"""Variables from a file, from the setting to the suite."""

from __future__ import annotations

import gzip

from tests.integration.host.conftest import Project, suite

SHOWS = """
import os
print("shows", os.environ.get("PLAIN"), os.environ.get("TAKEN"), os.environ.get("BOT_API_KEY"), flush=True)
"""
ENV = "# comment\nPLAIN = 'two words'\nexport TAKEN=file\nBOT_API_KEY=very-secret-value-1\nCOPY=${HOME}\n\n"


def write(project: Project, text: str = ENV) -> None:
    project.write("evals/demo.py", suite(SHOWS))
    project.write(".env", text)


def test_suites_get_the_variables_of_the_file(project: Project) -> None:
    write(project)
    without = project.scoregate("run", TAKEN="environment")
    assert "shows None environment None" in without.output
    for arguments in (("--env-file", ".env"), ()):
        if not arguments:
            project.write("scoregate.toml", 'env_file = ".env"\n')
        outcome = project.scoregate("run", *arguments, TAKEN="environment")
        assert outcome.exit_code == 0, outcome.output
        assert "shows two words environment ***" in outcome.output
        assert "very-secret-value-1" not in outcome.output
        record = gzip.decompress((outcome.out / "run" / "cases.jsonl.gz").read_bytes())
        assert b"very-secret-value-1" not in record


def test_the_file_may_set_required_variables(project: Project) -> None:
    write(project)
    project.write("scoregate.toml", '[suites."*"]\nneeds = ["BOT_API_KEY"]\n')
    assert "BOT_API_KEY is not set" in project.scoregate("run").output
    assert project.scoregate("run", "--env-file", ".env").exit_code == 0
    project.write("scoregate.toml", 'env_file = ".env"\n[suites."*"]\nneeds = ["BOT_API_KEY"]\n')
    assert project.scoregate("list").exit_code == 0


def test_an_invalid_file_is_an_error_with_its_line(project: Project) -> None:
    problems = {
        "A=1\n\n\nB 'x\n": ".env:4: this line can't be read",
        "A=1\n1B=2\n": ".env:2: this line can't be read",
        "A=1\nSCOREGATE_MAX_CASES=1\n": ".env:2: SCOREGATE_MAX_CASES is a setting",
        'AUTOBLOCKS_FILTERS_TEST_SUITES=["x"]\n': ".env:1: AUTOBLOCKS_FILTERS_TEST_SUITES is a setting",
        "A=a\0b\n": "null character",
        "A=" + "x" * (1 << 20): "more than 1 MB",
    }
    for text, problem in problems.items():
        write(project, text)
        outcome = project.scoregate("run", "--env-file", ".env")
        assert outcome.exit_code == 2, outcome.output
        assert problem in " ".join(outcome.output.split()), outcome.output
    outcome = project.scoregate("run", "--env-file", "missing.env")
    assert outcome.exit_code == 2
    assert "missing.env" in outcome.output
    assert "does not exist" in " ".join(outcome.output.split())
    project.write("scoregate.toml", 'env_file = "missing.env"\n')  # as in CI, where developers' files are missing
    assert project.scoregate("run").exit_code == 0
    write(project, "SCOREGATE_MODEL_API_KEY=a-key-of-a-model\n")
    assert project.scoregate("run", "--env-file", ".env").exit_code == 0
