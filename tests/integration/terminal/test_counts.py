"""Counts of cases and trials, the run that commands use by default, and complete help texts."""

from __future__ import annotations

import click
import pytest
from tests.integration.host.conftest import Project, suite

from scoregate.cli.main import cli
from scoregate.kernel.types.runs import number_format


def test_repeats_are_trials_and_not_cases(project: Project) -> None:
    project.write("evals/eval_demo.py", suite(good=2, bad=1))
    outcome = project.scoregate("run", "--baseline", "none", "--repeats", "3")
    assert "demo: 3 cases × 3, 6 passed, 3 failed" in outcome.output
    assert "✗ Pass rate of demo: 6 of 9 trials (66.7%)" in outcome.output
    assert "· 3 cases × 3 · 6 of 9 pass" in outcome.output
    assert "\n1 failing case:\n" in outcome.output
    assert outcome.output.count("✗ bad 0  demo") == 1
    once = project.scoregate("run", "--baseline", "none")
    assert "demo: 3 cases, 2 passed" in once.output
    assert "2 of 3 cases (66.7%)" in once.output
    assert "×" not in once.output


def test_numbers_of_trials() -> None:
    cases = {(1, 1): "1 case", (30, 30): "30 cases", (30, 90): "30 cases × 3", (1, 5): "1 case × 5"}
    cases |= {(3, 7): "7 trials of 3 cases", (0, 4): "4 cases"}
    assert {value: number_format.trials(*value) for value in cases} == cases


def test_commands_use_the_last_run_by_default(project: Project) -> None:
    project.write("evals/eval_demo.py", suite(good=2, bad=1))
    missing = project.scoregate("gate")
    assert missing.exit_code == 2
    assert "scoregate-out does not exist" in missing.output
    assert project.scoregate("run", "--baseline", "none").exit_code == 1
    for name, expected in (("gate", 1), ("report", 0), ("power", 0)):
        by_default, named = project.scoregate(name), project.scoregate(name, "scoregate-out")
        assert by_default.exit_code == named.exit_code == expected, by_default.output
        assert by_default.output == named.output
    compared = project.scoregate("compare", "--baseline", "scoregate-out")
    assert compared.exit_code == 0
    assert "0 newly failing" in compared.output


def test_help_texts_of_subcommands_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    context = click.Context(cli)
    groups = 0
    for name in cli.list_commands(context):
        group = cli.get_command(context, name)
        if isinstance(group, click.Group):
            groups += 1
            lines = group.get_help(click.Context(group, info_name=name)).partition("Commands:")[2]
            assert "..." not in lines, name
            assert " ".join(lines.split()).count(".") >= len(group.commands), name
    assert groups == 9


def test_compare_takes_one_run_and_names_the_option_for_the_other(project: Project) -> None:
    outcome = project.scoregate("compare", "before", "after")
    assert outcome.exit_code == 2
    assert "`scoregate compare after --baseline before`" in outcome.output
