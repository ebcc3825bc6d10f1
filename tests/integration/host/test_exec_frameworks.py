"""Suites inside a larger test framework."""

from __future__ import annotations

import sys

import pytest
from tests.integration.host.conftest import PYTEST_ENVIRONMENT, Project, Ran, suite


def run_pytest(project: Project) -> Ran:
    command = (sys.executable, "-m", "pytest", "-q", "evals")
    return project.scoregate("exec", "--", *command, **PYTEST_ENVIRONMENT)


def make_test_source(**options: str) -> str:
    body, _, call = suite(bad=int(options.pop("bad", "0")), **options).rpartition("run_test_suite(id=")
    return f"{body}\n\ndef test_demo():\n    run_test_suite(id={call}"


def test_suites_in_tests_are_recorded(project: Project) -> None:
    project.write("evals/test_demo.py", make_test_source())
    outcome = run_pytest(project)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 3}


def test_a_plain_test_that_fails_is_never_green(project: Project) -> None:
    project.write("evals/test_demo.py", make_test_source() + "\n\ndef test_plain():\n    assert 1 == 2\n")
    outcome = run_pytest(project)
    assert outcome.exit_code == 3
    assert outcome.run["scripts"][0]["exit_code"] == 1
    assert outcome.statuses == {"passed": 3}


def test_a_failed_assertion_fails_the_gate(project: Project) -> None:
    project.write("evals/test_demo.py", make_test_source(bad="1", assert_test="True"))
    assert run_pytest(project).exit_code == 1


@pytest.mark.parametrize("body", ["def test_plain():\n    assert True\n", ""])
def test_tests_without_a_suite_measure_nothing(project: Project, body: str) -> None:
    project.write("evals/test_demo.py", body)
    assert run_pytest(project).exit_code == 3
