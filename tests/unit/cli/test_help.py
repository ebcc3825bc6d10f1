"""The help: commands and options in groups."""

from __future__ import annotations

import re

import click
from click.testing import CliRunner

from scoregate.cli.main import COMMAND_GROUPS, cli
from scoregate.cli.run_command import RUN_GROUPS, command


def test_the_help_of_run_has_each_option_once_and_the_common_ones_first() -> None:
    text = CliRunner().invoke(cli, ["run", "--help"]).output
    titles = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    assert titles == [*RUN_GROUPS, "Other options"]
    common = text.partition("Common options:")[2].partition("Suites and cases:")[0]
    assert re.findall(r"^  (?:-\w, )?(-[\w-]+)", common, re.MULTILINE) == list(RUN_GROUPS["Common options"])
    names = [name for each in command.params if isinstance(each, click.Option) for name in each.opts]
    shown = re.findall(r"^  (?:-\w, )?(-[\w-]+)", text, re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(shown) - {"--help"} <= set(names)
    assert len(shown) == sum(isinstance(each, click.Option) for each in command.params) + 1


def test_every_name_in_a_group_is_an_option_of_run() -> None:
    names = {name for each in command.params for name in each.opts}
    assert {name for group in RUN_GROUPS.values() for name in group} <= names


def test_the_help_lists_all_commands_in_groups() -> None:
    text = CliRunner().invoke(cli, ["--help"]).output
    assert re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)[1:] == list(COMMAND_GROUPS)
    assert "plan        estimate what a run will cost" in text
