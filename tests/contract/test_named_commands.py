"""The commands that messages and pages name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from scoregate.cli.main import cli

ROOT = Path(__file__).parents[2]
FILES = (*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.md"), ROOT / "README.md")
COMMAND = re.compile(r"scoregate (?P<group>[a-z]+) (?P<name>[a-z-]+)")


def list_subcommands() -> Iterator[tuple[str, list[str]]]:
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            yield name, command.list_commands(click.Context(command))


def test_named_subcommands_exist() -> None:
    groups = dict(list_subcommands())
    assert "ls" in groups["dataset"]
    named = {(path, match["group"], match["name"]) for path in FILES for match in COMMAND.finditer(path.read_text())}
    assert {each for each in named if each[1] in groups and each[2] not in groups[each[1]]} == set()
    assert len({each[1] for each in named if each[1] in groups}) > 5
