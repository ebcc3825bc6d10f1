"""`scoregate init`: write settings, a workflow and a starter suite; existing files stay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import anyio
import click

from scoregate.ci import git
from scoregate.ci.discovery import discover
from scoregate.ci.file_access import create_file
from scoregate.ci.frameworks import FoundFramework, format_settings
from scoregate.ci.plan import DiscoveredSuites
from scoregate.ci.settings.sources import OWN_FILE
from scoregate.cli.options import load_project_settings
from scoregate.cli.other_frameworks import explain_settings, find_settings_table
from scoregate.errors import GitError, UsageError

EXAMPLE_SUITE, WORKFLOW = "evals/eval_hours.py", ".github/workflows/evals.yml"
COMMANDS_WORKFLOW = ".github/workflows/scoregate-commands.yml"
AGENTS_FILE, SKILL_FILE = "AGENTS.md", ".agents/skills/scoregate-evals/SKILL.md"
# The first line of the section in AGENTS.md.
_AGENTS_MARK = "<!-- scoregate -->"
_LIMITS_OF_EXAMPLE = "\n# Limits of one suite"


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@click.option("--commands", is_flag=True, help="Also write a workflow for commands in comments on pull requests.")
@click.option("--agents", is_flag=True, help="Also write a section of AGENTS.md and a skill for coding agents.")
def command(folder: Path, *, commands: bool, agents: bool) -> None:
    """Write settings and a workflow into FOLDER. Existing files stay.

    The settings make suites of the evals of other frameworks, such as promptfoo. Without any suite, an example is
    written, too.
    """
    folder = folder.resolve()
    branch, suites = anyio.run(_inspect, folder) if folder.is_dir() else (None, DiscoveredSuites())
    has_settings = find_settings_table(folder) != (OWN_FILE, "") or (folder / OWN_FILE).exists()
    for name, text in _make_files(branch, suites, with_commands=commands, with_skill=agents):
        exists = os.path.lexists(folder / name)
        if exists or (name == OWN_FILE and has_settings):
            click.echo(f"kept     {name}" if exists else f"left out {name}: pyproject.toml has the settings")
            continue
        _create_file(folder, name, text)
        click.echo(f"written  {name}")
    if agents:
        click.echo(_add_agents_section(folder))
    if has_settings and suites.frameworks:
        click.echo("")
        for line in explain_settings(suites.frameworks, folder):
            click.echo(line)
    click.echo("\nNow run:  scoregate run")
    click.echo(f"Then commit, push, and require the job `evals` in the branch protection of {branch or 'main'}.")


def _create_file(folder: Path, name: str, text: str) -> None:
    """Create a file, whose name is relative to a folder. No link leads out of the folder.

    Raises:
        UsageError: a link leads out of it, or the file can't be written.
    """
    target = folder / name
    try:
        parent = target.parent.resolve()
        if not parent.is_relative_to(folder):
            raise UsageError(
                f"{target} can't be written: {target.parent} is a link to {parent}, outside of {folder}",
                advice="Replace the link by a folder, and repeat the command.",
            )
        parent.mkdir(parents=True, exist_ok=True)
        create_file(parent / target.name, text)
    except (OSError, RuntimeError) as error:  # before Python 3.13, a link to itself is a RuntimeError
        raise UsageError(f"{target} can't be written: {error}", advice="Check links and your rights.") from None


def _add_agents_section(folder: Path) -> str:
    """Add the section about evals to AGENTS.md, unless it has one; returns the line to print.

    Raises:
        UsageError: the file is not a regular file of the folder, or can't be read or written.
    """
    target, section = folder / AGENTS_FILE, _read_template(AGENTS_FILE)
    if not os.path.lexists(target):
        _create_file(folder, AGENTS_FILE, section)
        return f"written  {AGENTS_FILE}"
    try:
        if target.is_symlink() or not target.is_file():
            raise UsageError(f"{target} is not a regular file", advice="Replace it, or add the section by hand.")
        text = target.read_text(encoding="utf-8")
        if _AGENTS_MARK in text:
            return f"kept     {AGENTS_FILE}"
        with target.open("a", encoding="utf-8") as file:
            file.write(("" if text.endswith("\n") or not text else "\n") + ("\n" if text else "") + section)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{target} can't be changed: {error}", advice="Check the file and your rights.") from None
    return f"added to {AGENTS_FILE}"


async def _inspect(folder: Path) -> tuple[str | None, DiscoveredSuites]:
    """The branch that pull requests are merged into, if it is known, and the suites."""
    try:
        ref = await git.default_branch(folder)
        branch = ref.removeprefix("origin/") if ref else await git.branch(folder)
    except GitError:
        branch = None
    return branch, await discover(folder, load_project_settings(folder, {}), environ=os.environ)


def _make_files(
    branch: str | None, suites: DiscoveredSuites, *, with_commands: bool, with_skill: bool
) -> Iterator[tuple[str, str]]:
    """The names of files and their texts."""
    if not suites.sources and not suites.frameworks:
        yield EXAMPLE_SUITE, _read_template("eval_hours.py")
    yield OWN_FILE, _make_settings(suites.frameworks)
    yield from _make_helpers(suites.frameworks)
    workflow = _read_template("workflow.yml")
    yield WORKFLOW, workflow if branch is None else workflow.replace("branches: [main]", f"branches: [{branch}]")
    if with_commands:
        yield COMMANDS_WORKFLOW, _read_template("commands_workflow.yml")
    if with_skill:
        yield SKILL_FILE, _read_template("SKILL.md")


def _make_settings(frameworks: tuple[FoundFramework, ...]) -> str:
    text = _read_template("scoregate.toml")
    if not frameworks:
        return text
    limits = text.partition(_LIMITS_OF_EXAMPLE)[0]
    # `paths` is a key of the top level, which has to come before the tables.
    return "\n".join((limits, *format_settings(frameworks), ""))


def _make_helpers(frameworks: tuple[FoundFramework, ...]) -> Iterator[tuple[str, str]]:
    """The files with which commands report to scoregate."""
    for each in frameworks:
        if each.helper and each.command is not None:
            yield os.path.normpath(Path(each.command.cwd, each.helper)), _read_template(each.helper)


def _read_template(name: str) -> str:
    return (files("scoregate.cli") / "starter" / f"{name}.txt").read_text(encoding="utf-8")
