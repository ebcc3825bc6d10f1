"""`scoregate list`: which suites would run, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.ci.discovery import discover
from scoregate.ci.plan import DiscoveredSuites, Plan, make_plan
from scoregate.ci.preparation import prepare_suites
from scoregate.ci.report.text import one_line
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import make_venv_spec
from scoregate.cli.options import load_project_settings, project_root, selection_options
from scoregate.cli.output import make_console
from scoregate.cli.run_gate import temporary_folder
from scoregate.cli.verbose import format_python, format_skipped, format_source


@click.command("list")
@selection_options
def command(**flags: Any) -> int:
    """List the suites under PATHS that would run, and why each was found. Nothing is run or imported."""
    root = project_root(flags)
    settings = load_project_settings(root, flags)
    suites, plan = anyio.run(_make_plan, root, settings)
    lines = [
        format_python(plan.interpreter),
        *plan.interpreter.notes,
        *(format_source(launch.source, launch.name) for launch in plan.launches),
        *(f"cannot run  {source.error}" for source in plan.broken),
        *format_skipped(suites),
        *([] if suites.sources else [_explain_no_suites(flags)]),
    ]
    console = make_console()
    for line in lines:
        console.print(Text(one_line(line, 500)))
    return 0 if plan.launches and not plan.broken else 3


def _explain_no_suites(flags: Mapping[str, Any]) -> str:
    if any(flags.get(name) for name in ("paths", "suite", "config")):
        return "No suites were found with these filters."
    return "No suites were found. `scoregate init` creates one."


async def _make_plan(root: Path, settings: Settings) -> tuple[DiscoveredSuites, Plan]:
    suites = await discover(root, settings, environ=os.environ)
    with temporary_folder() as scratch:
        redact = Redactor(secret_values(os.environ))
        spec = make_venv_spec(root, os.environ, scratch, redact=redact, print_line=lambda _: None)
        interpreter = await prepare_suites(spec, settings, suites.sources, dry=True)
    return suites, make_plan(suites, settings, interpreter=interpreter, root=root)
