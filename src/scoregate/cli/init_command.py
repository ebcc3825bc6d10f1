"""`scoregate init`: write settings, a workflow and a starter suite; existing files stay."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import anyio
import click

from scoregate import __version__
from scoregate.cli.options import load_project_settings
from scoregate.cli.other_frameworks import explain_settings, find_settings_table
from scoregate.errors import GitError, UsageError
from scoregate.kernel.host import git
from scoregate.kernel.host.file_access import create_file
from scoregate.kernel.judge.settings.limit_fields import LIMITS
from scoregate.kernel.judge.settings.sources import OWN_FILE
from scoregate.kernel.run.discovery import discover
from scoregate.kernel.run.frameworks import FoundFramework, format_settings
from scoregate.kernel.run.plan import DiscoveredSuites

EXAMPLE_SUITE, WORKFLOW = "evals/eval_hours.py", ".github/workflows/evals.yml"
COMMANDS_WORKFLOW = ".github/workflows/scoregate-commands.yml"
MUTATE_WORKFLOW = ".github/workflows/scoregate-mutate.yml"
AGENTS_FILE, SKILL_FILE = "AGENTS.md", ".agents/skills/scoregate-evals/SKILL.md"
# The first line of the section in AGENTS.md.
_AGENTS_MARK = "<!-- scoregate -->"
_LIMITS_OF_EXAMPLE = "\n# Limits of one suite"
_EXAMPLE_KEY = "          OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}"
_EXAMPLE_DATA = re.compile(r"data=\[.*\],")
_CASES = {
    ".csv": "id,input,expected,tags\nopen,When do you open?,9,hours\nclose,And close?,17,hours\n",
    ".yaml": "# yaml-language-server: $schema=SCHEMA\n"
    '- id: open\n  input: When do you open?\n  expected: "9"\n  tags: [hours]\n'
    '- id: close\n  input: And close?\n  expected: "17"\n  tags: [hours]\n',
    ".json": '{\n  "$schema": "SCHEMA",\n  "examples": [\n'
    '    {"id": "open", "input": "When do you open?", "expected": "9", "tags": ["hours"]},\n'
    '    {"id": "close", "input": "And close?", "expected": "17", "tags": ["hours"]}\n  ]\n}\n',
}
_REPOSITORY, _TAG = "scoregate/scoregate", "v1"
_OWN_ACTION = f"{_REPOSITORY}@{_TAG}"


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@click.option(
    "--cases", metavar="FILE", help="Also write a file of cases: .csv with its header, .yaml or .json with its schema."
)
@click.option("--commands", is_flag=True, help="Also write a workflow for commands in comments on pull requests.")
@click.option(
    "--mutate", is_flag=True, help="Also write a weekly workflow: would the evals notice a deleted instruction?"
)
@click.option("--agents", is_flag=True, help="Also write a section of AGENTS.md and a skill for coding agents.")
def command(folder: Path, *, cases: str | None, commands: bool, mutate: bool, agents: bool) -> None:
    """Write settings and a workflow into FOLDER. Existing files stay.

    The settings make suites of the evals of other frameworks, such as promptfoo. Without any suite, an example is
    written, too.
    """
    folder = folder.resolve()
    branch, suites = anyio.run(_inspect, folder) if folder.is_dir() else (None, DiscoveredSuites())
    has_settings = find_settings_table(folder) != (OWN_FILE, "") or (folder / OWN_FILE).exists()
    written = set[str]()
    own = list(_make_files(folder, branch, suites, with_commands=commands, with_mutation=mutate, with_skill=agents))
    for name, text in _add_cases(cases, own) if cases else own:
        exists = os.path.lexists(folder / name)  # a link to nothing stays, too
        if exists or (name == OWN_FILE and has_settings):
            click.echo(f"kept     {name}" if exists else f"left out {name}: pyproject.toml has the settings")
            continue
        _create_file(folder, name, text)
        written.add(name)
        click.echo(f"written  {name}")
    if agents:
        click.echo(_add_agents_section(folder))
    for line in _explain_cases(cases, written) if cases else ():
        click.echo(line)
    for line in _explain(folder, suites.frameworks, written, has_settings=has_settings):
        click.echo(line)
    click.echo("\nNow run:  scoregate run")
    click.echo(f"Then commit, push, and require the job `evals` in the branch protection of {branch or 'main'}.")


def _explain(
    folder: Path, frameworks: tuple[FoundFramework, ...], written: set[str], *, has_settings: bool
) -> Iterator[str]:
    """What is left to do by hand."""
    # Settings that were just written have all that settings can do.
    unwritten = [each for each in frameworks if has_settings or (each.command is None and not each.suite_paths)]
    lines = list(explain_settings(unwritten, folder))
    yield from ("", *lines) if lines and lines[0] else lines
    if has_settings and not _has_relative_gate(folder):
        yield "\nThe settings have no gate on changes, so no drop fails a run. Add:  fail_on_regression = true"
    if written & {WORKFLOW, COMMANDS_WORKFLOW, MUTATE_WORKFLOW} and not _find_own_commit():
        yield ""
        yield f"The workflow names the action by a tag, which can move: {_OWN_ACTION}"
        yield f"To pin it, replace {_TAG} by the commit that this prints:"
        yield f"  git ls-remote https://github.com/{_REPOSITORY} {_TAG}"


def _has_relative_gate(folder: Path) -> bool:
    policy = load_project_settings(folder, {}).policy()
    return any(limit.is_relative and limit.is_set_for_any(policy) for limit in LIMITS)


def _explain_cases(path: str, written: set[str]) -> Iterator[str]:
    """What a file of cases still needs: a suite that reads it, and the package for YAML."""
    if EXAMPLE_SUITE not in written:
        yield f"\nA suite reads the cases with data={json.dumps(path)}"
    if path.lower().endswith((".yaml", ".yml")) and find_spec("yaml") is None:
        yield "\nYAML needs a package. Run:  pip install pyyaml"


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
    folder: Path,
    branch: str | None,
    suites: DiscoveredSuites,
    *,
    with_commands: bool,
    with_mutation: bool,
    with_skill: bool,
) -> Iterator[tuple[str, str]]:
    """The names of files and their texts."""
    from scoregate.features.costs.named_models import find_key_secrets

    # Something has to run: the first run would end with exit code 3.
    needs_example = not suites.sources and not any(each.command or each.suite_paths for each in suites.frameworks)
    if needs_example:
        yield EXAMPLE_SUITE, _read_template("eval_hours.py")
    yield OWN_FILE, _make_settings(() if needs_example else suites.frameworks)
    yield from _make_helpers(suites.frameworks)
    keys = "\n".join(
        f"          {name}: ${{{{ secrets.{secret} }}}}" for name, secret in find_key_secrets(folder).items()
    )
    workflow = _make_workflow("workflow.yml", keys)
    yield WORKFLOW, workflow if branch is None else workflow.replace("branches: [main]", f"branches: [{branch}]")
    if with_commands:
        yield COMMANDS_WORKFLOW, _make_workflow("commands_workflow.yml", keys)
    if with_mutation:
        yield MUTATE_WORKFLOW, _make_workflow("mutate_workflow.yml", keys)
    if with_skill:
        yield SKILL_FILE, _read_template("SKILL.md")


def _add_cases(path: str, made: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """A file of cases with what its editor needs, which the example reads, and the other files.

    Raises:
        UsageError: the path leads out of the folder, or no such file can have cases.
    """
    from scoregate.datasets.case_schema import make_case_schema

    place = PurePosixPath(os.path.normpath(path).replace(os.sep, "/"))
    kind = place.suffix.lower().replace(".yml", ".yaml")
    if kind not in _CASES or place.is_absolute() or place.parts[0] == "..":
        raise UsageError(f"--cases names a file in the folder that ends in {', '.join(_CASES)}, not {path!r:.100}")
    schema = f"{place.stem}.schema.json"
    yield str(place), _CASES[kind].replace("SCHEMA", schema)
    if kind != ".csv":
        yield str(place.with_name(schema)), json.dumps(make_case_schema(None), indent=2) + "\n"
    data = f"data={json.dumps(str(place))},"
    for name, text in made:
        yield name, _EXAMPLE_DATA.sub(lambda _: data, text) if name == EXAMPLE_SUITE else text


def _make_workflow(template: str, keys: str) -> str:
    workflow = _read_template(template)
    if keys:
        workflow = workflow.replace(_EXAMPLE_KEY, keys)
    commit = _find_own_commit()
    return workflow.replace(_OWN_ACTION, f"{_REPOSITORY}@{commit} # {__version__}") if commit else workflow


def _find_own_commit() -> str:
    """The commit of the repository that scoregate was installed from; empty if it is from a package index."""
    # By PEP 610, a package from an index has no direct_url.json.
    direct_url = json.loads(distribution("scoregate").read_text("direct_url.json") or "{}")
    is_own = re.fullmatch(rf"https://github\.com/{_REPOSITORY}(\.git)?/?", str(direct_url.get("url", "")))
    commit = str(direct_url.get("vcs_info", {}).get("commit_id", ""))
    return commit if is_own and re.fullmatch("[0-9a-f]{40}", commit) else ""


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
