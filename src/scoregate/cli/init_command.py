"""`scoregate init`: write a starter suite, settings and a workflow; existing files stay."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import anyio
import click

from scoregate.ci import git
from scoregate.ci.discovery import discover
from scoregate.cli.options import load_project_settings
from scoregate.errors import GitError

EXAMPLE_SUITE, WORKFLOW = "evals/eval_greeting.py", ".github/workflows/evals.yml"
STARTER = {EXAMPLE_SUITE: "eval_greeting.py.txt", "scoregate.toml": "scoregate.toml.txt", WORKFLOW: "workflow.yml.txt"}


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def command(folder: Path) -> None:
    """Write settings, a workflow and, without other suites, an example suite into FOLDER. Existing files stay."""
    templates = files("scoregate.cli") / "starter"
    branch, has_suites = anyio.run(_inspect, folder.resolve()) if folder.is_dir() else (None, False)
    for name, template in STARTER.items():
        target = folder / name
        if target.exists():
            click.echo(f"kept     {name}")
            continue
        if name == EXAMPLE_SUITE and has_suites:
            continue
        text = (templates / template).read_text(encoding="utf-8")
        if name == WORKFLOW and branch is not None:
            text = text.replace("branches: [main]", f"branches: [{branch}]")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        click.echo(f"written  {name}")
    click.echo("\nNow run:  scoregate run")


async def _inspect(folder: Path) -> tuple[str | None, bool]:
    """The branch that pull requests are merged into, if it is known, and whether there are suites."""
    try:
        ref = await git.default_branch(folder)
        branch = ref.removeprefix("origin/") if ref else await git.branch(folder)
    except GitError:
        branch = None
    suites = await discover(folder, load_project_settings(folder, {}), environ=os.environ)
    return branch, bool(suites.sources)
