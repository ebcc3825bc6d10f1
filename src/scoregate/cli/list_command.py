"""`scoregate list`: what would run, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.ci.discovery import discover
from scoregate.ci.install import prepare
from scoregate.ci.plan import Found, Plan, make_plan
from scoregate.ci.report.text import one_line
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import site_of
from scoregate.cli.found_lines import left_lines, python_line, source_line
from scoregate.cli.options import project_root, selection_options, settings_of
from scoregate.cli.scratch import scratch_folder
from scoregate.cli.terminal import terminal


@click.command("list")
@selection_options
def command(**flags: Any) -> int:
    """Show which suites under PATHS would run, and why each was found. Nothing is run or imported."""
    root = project_root(flags)
    settings = settings_of(root, flags)
    found, plan = anyio.run(_planned, root, settings)
    console = terminal()
    console.print(Text(one_line(python_line(plan.interpreter), 500)))
    for line in _lines(found, plan):
        console.print(Text(one_line(line, 500)))
    return 0 if plan.launches and not plan.broken else 3


async def _planned(root: Path, settings: Settings) -> tuple[Found, Plan]:
    found = await discover(root, settings, environ=os.environ)
    with scratch_folder() as scratch:
        site = site_of(root, os.environ, scratch, redact=Redactor(secret_values(os.environ)), say=lambda _: None)
        interpreter = await prepare(site, settings, dry=True)
    return found, make_plan(found, settings, interpreter=interpreter, root=root)


def _lines(found: Found, plan: Plan) -> Iterator[str]:
    yield from (source_line(launch.source, launch.name) for launch in plan.launches)
    yield from (f"cannot run  {source.error}" for source in plan.broken)
    yield from left_lines(found)
    if not found.sources:
        yield "No suites were found. `scoregate init` writes a first one."
