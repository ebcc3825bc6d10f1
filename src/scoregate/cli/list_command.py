"""`scoregate list`: which suites would run, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.ci.discovery import discover
from scoregate.ci.env_file import read_env_file
from scoregate.ci.plan import DiscoveredSuites, Plan, make_plan
from scoregate.ci.preparation import prepare_suites
from scoregate.ci.report.text import one_line
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import make_venv_spec
from scoregate.cli.options import load_project_settings, project_root, selection_options
from scoregate.cli.other_frameworks import explain_settings
from scoregate.cli.output import make_console
from scoregate.cli.run_gate import temporary_folder
from scoregate.cli.verbose import format_notices, format_python, format_skipped, format_source


@click.command("list")
@selection_options
@click.option("-v", "--verbose", is_flag=True, help="Also list the files that were skipped, each with the reason.")
def command(verbose: bool, **flags: Any) -> int:
    """List the suites under PATHS that would run, and why each was found. Nothing is run or imported."""
    root = project_root(flags)
    settings = load_project_settings(root, flags)
    suites, plan = anyio.run(_make_plan, root, settings)
    console = make_console()
    lines = [
        format_python(plan.interpreter),
        *plan.interpreter.notes,
        *(format_source(launch.source, launch.name) for launch in plan.launches),
        *(f"cannot run  {source.error}" for source in plan.broken),
        *(format_skipped(suites) if verbose else format_notices(suites, "scoregate list -v") if suites.sources else ()),
    ]
    for line in lines:
        console.print(Text(one_line(line, 500)))
    if not suites.sources:
        for line in _explain_no_suites(suites, root, flags):
            console.print(Text(line), soft_wrap=True)
        if not verbose:
            for line in (*suites.notices, *suites.explain_missing()):
                console.print(Text(one_line(f"note: {line}", 500)))
    return 0 if plan.launches and not plan.broken else 3


def _explain_no_suites(suites: DiscoveredSuites, root: Path, flags: Mapping[str, Any]) -> Iterator[str]:
    if any(flags.get(name) for name in ("paths", "suite", "config")):
        yield "No suites were found with these filters."
    elif suites.frameworks:
        yield "No suites were found. These evals are no suites yet:"
        yield from (f"  {found.describe()}" for found in suites.frameworks)
        yield ""
        yield from explain_settings(suites.frameworks, root)
    else:
        yield "No suites were found. `scoregate init` creates one."


async def _make_plan(root: Path, settings: Settings) -> tuple[DiscoveredSuites, Plan]:
    environ = {**read_env_file(root, settings, os.environ), **os.environ}
    suites = await discover(root, settings, environ=environ)
    with temporary_folder() as scratch:
        redact = Redactor(secret_values(os.environ))
        spec = make_venv_spec(root, os.environ, scratch, redact=redact, print_line=lambda _: None)
        interpreter = await prepare_suites(spec, settings, suites.sources, dry=True)
    return suites, make_plan(suites, settings, interpreter=interpreter, root=root)
