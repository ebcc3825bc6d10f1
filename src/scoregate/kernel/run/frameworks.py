"""Evals of other frameworks in a project, and the settings that make suites of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from scoregate.kernel.judge.settings import Command
from scoregate.kernel.types.records import record

_GUIDES = "https://scoregate.github.io/scoregate"
_MOST_PATHS = 3
_MOST_FOUND = 5
_LONGEST_SETTING = 300


@record
class FoundFramework:
    """Evals of one framework.

    Args:
        name: the name of the framework.
        paths: the files in which it was found, relative to the root.
        command: runs them; None if they need changes first, which the guide describes.
        helper: the file with which the command reports to scoregate, relative to its folder; empty if it needs none.
        guide: the page of the documentation about the framework.
        suite_paths: for suites of scoregate in other than the default places, the folders to search.
    """

    name: str
    paths: tuple[str, ...]
    command: Command | None = None
    helper: str = ""
    guide: str = "guides/imports"
    suite_paths: tuple[str, ...] = ()

    def describe(self) -> str:
        """`promptfoo in web/promptfooconfig.yaml`."""
        more = len(self.paths) - _MOST_PATHS
        shown = ", ".join(self.paths[:_MOST_PATHS])
        return f"{self.name} in {shown} and {more} more" if more > 0 else f"{self.name} in {shown}"


def format_settings(frameworks: Iterable[FoundFramework], *, table: str = "") -> Iterator[str]:
    """The lines of TOML that make suites of what was found.

    Args:
        frameworks: what was found.
        table: the table of the settings in the file; empty for the top level, as in scoregate.toml.
    """
    blocks = list[list[str]]()
    for each in frameworks:
        if each.suite_paths:
            blocks.insert(0, [f"paths = {_to_toml(each.suite_paths)}"])
        if each.command is not None:
            lines = (f"{key} = {_to_toml(value)}" for key, value in _command_values(each.command).items())
            blocks.append([f"[[{table}.commands]]" if table else "[[commands]]", *lines])
    for number, block in enumerate(blocks):
        yield from ("", *block) if number else block


def describe_frameworks(frameworks: Sequence[FoundFramework], *, has_settings: bool = False) -> Iterator[str]:
    """One sentence on what was found, and one on the settings that make suites of it.

    Args:
        frameworks: the evals that are no suites yet.
        has_settings: whether the project has settings, which `scoregate init` leaves alone.
    """
    if not frameworks:
        return
    more = len(frameworks) - _MOST_FOUND
    names = "; ".join(each.describe() for each in frameworks[:_MOST_FOUND])
    yield f"There are evals that are no suites yet: {names}{f'; and {more} more' if more > 0 else ''}."
    setting = _to_one_line(frameworks[0]) if len(frameworks) == 1 else ""
    if setting and len(setting) <= _LONGEST_SETTING and has_settings:
        yield f"This line in the settings makes a suite of them: {setting}"
    elif has_settings:
        yield "`scoregate list` shows the settings that make suites of them."
    elif setting and len(setting) <= _LONGEST_SETTING:
        yield f"This line in scoregate.toml makes a suite of them, and `scoregate init` writes it: {setting}"
    else:
        yield "`scoregate init` writes the settings that make suites of them, and `scoregate list` shows these lines."


def _to_one_line(framework: FoundFramework) -> str:
    if framework.suite_paths:
        return f"paths = {_to_toml(framework.suite_paths)}"
    if framework.command is None:
        return ""
    values = (f"{key} = {_to_toml(value)}" for key, value in _command_values(framework.command).items())
    return f"commands = [{{ {', '.join(values)} }}]"


def guide_url(framework: FoundFramework) -> str:
    """The address of the page about the framework."""
    return f"{_GUIDES}/{framework.guide}/"


def _command_values(command: Command) -> dict[str, object]:
    """The keys that are set, in the order of the settings."""
    return command.model_dump(mode="json", exclude_defaults=True)


def _to_toml(value: object) -> str:
    """A text or a list of texts. Basic strings of TOML have the escapes of JSON."""
    return json.dumps(value, ensure_ascii=False)
