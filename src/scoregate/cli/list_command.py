"""`scoregate list`: which suites would run, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.cli.console import make_console
from scoregate.cli.options import baseline_options, load_project_settings, project_root, selection_options
from scoregate.cli.other_frameworks import explain_settings
from scoregate.cli.run_gate import temporary_folder
from scoregate.cli.verbose import format_notices, format_python, format_skipped, format_source
from scoregate.features.steps import load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.steps import prepare
from scoregate.kernel.job.wiring import is_developers_run
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.discovery import discover, find_suites
from scoregate.kernel.run.interpreter import SuiteHost
from scoregate.kernel.run.plan import DiscoveredSuites, Launch, Plan, make_plan
from scoregate.kernel.run.variables import read_env_file


@click.command("list")
@selection_options
@baseline_options
@click.option(
    "--affected", is_flag=True, default=None, help="Also say which suites the change can affect, each with the reason."
)
@click.option("-v", "--verbose", is_flag=True, help="Also list the files that were skipped, each with the reason.")
def command(verbose: bool, **flags: Any) -> int:
    """List the suites under PATHS that would run, and why each was found. Nothing is run or imported."""
    root = project_root(flags)
    settings = load_project_settings(root, flags)
    suites, plan, reasons = anyio.run(_make_plan, root, settings, bool(flags["affected"]))
    console = make_console()
    lines = [
        format_python(plan.interpreter),
        *plan.interpreter.notes,
        *(f"{format_source(each.source, each.name)}{_format_reason(each, reasons)}" for each in plan.launches),
        *(f"cannot run  {source.error}" for source in plan.broken),
        *(format_skipped(suites) if verbose else format_notices(suites, "scoregate list -v") if suites.sources else ()),
    ]
    for line in lines:
        console.print(Text(one_line(line, 500)))
    for line in _list_retirement_warnings(plan, settings):
        console.print(Text(one_line(f"warning: {line}", 500)))
    if not suites.sources:
        for line in _explain_no_suites(suites, root, flags):
            console.print(Text(line), soft_wrap=True)
        if not verbose:
            for line in (*suites.notices, *suites.explain_missing()):
                console.print(Text(one_line(f"note: {line}", 500)))
    return 0 if plan.launches and not plan.broken else 3


def _list_retirement_warnings(plan: Plan, settings: Settings) -> Iterator[str]:
    """The retired models that settings and files name; `scoregate plan` also knows those of the baseline's calls."""
    from scoregate.features.costs.named_models import list_named_models
    from scoregate.features.costs.retirements import list_retirement_warnings

    yield from list_retirement_warnings(list_named_models(plan, settings, None), datetime.now(UTC).date())


def _format_reason(launch: Launch, reasons: Mapping[str, str]) -> str:
    if launch.name not in reasons:
        return ""
    why = reasons[launch.name]
    return f" - runs: {why}" if why else " - not affected"


def _explain_no_suites(suites: DiscoveredSuites, root: Path, flags: Mapping[str, Any]) -> Iterator[str]:
    if any(flags.get(name) for name in ("paths", "suite", "config")):
        yield "No suites were found with these filters."
    elif suites.frameworks:
        yield "No suites were found. These evals are no suites yet:"
        yield from (f"  {framework.describe()}" for framework in suites.frameworks)
        yield ""
        yield from explain_settings(suites.frameworks, root)
    else:
        yield "No suites were found. `scoregate init` creates one."


async def _make_plan(
    root: Path, settings: Settings, affected: bool
) -> tuple[DiscoveredSuites, Plan, Mapping[str, str]]:
    environ = {**read_env_file(root, settings, os.environ), **os.environ}
    suites = await discover(root, settings, environ=environ)
    with temporary_folder() as scratch:
        redact = Redactor(secret_values(os.environ))
        host = SuiteHost(root, scratch, os.environ, os.environ, redact, print_line=lambda _: None)
        interpreter = await prepare(load_steps, host, settings, suites.sources, dry=True)
    plan = make_plan(suites, settings, interpreter=interpreter, root=root)
    return suites, plan, await _explain_affected(root, settings, plan) if affected else {}


async def _explain_affected(root: Path, settings: Settings, plan: Plan) -> Mapping[str, str]:
    """Why each launch runs, by its name; empty for one that keeps the base's results."""
    from scoregate.features.steps import load_steps
    from scoregate.kernel.job.job import open_job_context
    from scoregate.kernel.job.pipeline import find_baseline
    from scoregate.kernel.job.reporting import build_reporting
    from scoregate.kernel.job.steps import PlannedRun, change_plan

    async with open_job_context(root, os.environ, settings) as context:
        reporting = build_reporting(context, load_steps, is_developers_run=is_developers_run(context, find_suites))
        baseline = await find_baseline(settings, reporting)
        planned = PlannedRun(plan, baseline, settings, context)
        return (await change_plan(load_steps(planned.facts), planned)).reasons
