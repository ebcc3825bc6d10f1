"""The cases that `--last-failed` runs again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run

from scoregate.kernel.judge.archive import RUN_FOLDER, RunWriter
from scoregate.kernel.run.partial_run import find_last_failures
from scoregate.kernel.types.event_values import ErrorInfo


@pytest.mark.parametrize("failing", [0, 1])
def test_a_case_that_fails_in_one_variant_runs_again(tmp_path: Path, failing: int) -> None:
    """Variants share the id of their suite and its cases."""
    variants = [
        ExampleSuite(f"t={index}", [Trial("a", [Score("e")]), Trial("b", [Score("e", float(index != failing))])])
        for index in range(2)
    ]
    made = make_run(*variants)
    run = replace(made, suites=tuple(replace(each, id="bot", script="evals/bot.py") for each in made.suites))
    with RunWriter(tmp_path / RUN_FOLDER) as writer:
        for case in run.cases:
            writer.add(case)
        writer.finish(run)
    assert find_last_failures(tmp_path) == {"evals/bot.py": {"bot": ["b"]}}


@pytest.mark.parametrize("failing", [0, 1])
def test_a_variant_with_an_error_of_its_own_runs_again(tmp_path: Path, failing: int) -> None:
    errors = (ErrorInfo("InvalidSuite", "no cases"),)
    made = make_run(*(ExampleSuite(f"t={index}", (), errors=errors if index == failing else ()) for index in range(2)))
    run = replace(made, suites=tuple(replace(each, id="bot", script="evals/bot.py") for each in made.suites))
    with RunWriter(tmp_path / RUN_FOLDER) as writer:
        writer.finish(run)
    assert find_last_failures(tmp_path) == {"evals/bot.py": {"bot": []}}
