"""`scoregate plan` without shards: what a run will cost, by suite and in all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import anyio
import click

from scoregate.cli.quiet_ports import open_quiet_ports
from scoregate.cli.run_gate import temporary_folder
from scoregate.features.costs.estimate import PlanEstimate, Probe
from scoregate.features.costs.forecast import Forecast, make_forecast
from scoregate.features.costs.probe import FOLDER, TotalCounter, run_probe
from scoregate.features.costs.suites import SuiteState
from scoregate.features.costs.texts import HEADINGS, build_rows, describe_plan, explain_caches
from scoregate.features.steps import load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.job import open_job_context
from scoregate.kernel.job.pipeline import find_baseline
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.reporting import build_reporting
from scoregate.kernel.job.steps import PlannedRun, change_plan, prepare
from scoregate.kernel.job.wiring import is_developers_run
from scoregate.kernel.judge.archive.lock import lock_folder
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.discovery import discover, find_suites
from scoregate.kernel.run.interpreter import SuiteHost
from scoregate.kernel.run.plan import Plan, make_plan
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.run.variables import read_env_file
from scoregate.kernel.types.records import record

_LONGEST_CELL = 80


@record
class PlannedCost:
    """What `scoregate plan` prints: the estimate and its warnings, and why suites have none."""

    forecast: Forecast
    base_note: str = ""
    notices: tuple[str, ...] = ()

    @property
    def estimate(self) -> PlanEstimate:
        """The estimate; an empty one if the base can't be read."""
        from scoregate.features.costs.section import RunEstimate

        return self.forecast.estimate or PlanEstimate(RunEstimate())


def estimate_project(root: Path, settings: Settings, *, probes: bool) -> PlannedCost:
    """Estimate what a run of a project costs.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
        probes: whether sample cases run of suites without a base.
    """
    return anyio.run(_estimate_with_probe if probes else _estimate, root, settings)


async def _estimate(root: Path, settings: Settings) -> PlannedCost:
    """Estimate without running anything."""
    environ = {**read_env_file(root, settings, os.environ), **os.environ}
    async with open_job_context(root, os.environ, settings, suite_variables=environ) as context:
        suites = await discover(root, settings, environ=environ, skip_missing=context.skips_missing)
        settings = merge_suite_gates(settings, suites.sources)
        reporting = build_reporting(context, load_steps, is_developers_run=is_developers_run(context, find_suites))
        baseline = await find_baseline(settings, reporting)
        with temporary_folder() as scratch:
            redact = Redactor(secret_values(os.environ))
            host = SuiteHost(root, scratch, os.environ, os.environ, redact, print_line=lambda _: None)
            interpreter = await prepare(load_steps, host, settings, suites.sources, dry=True)
        plan = make_plan(suites, settings, interpreter=interpreter, root=root)
        planned = PlannedRun(plan, baseline, settings, context)
        planned = await change_plan(load_steps(planned.facts), planned)
        forecast = await make_forecast(planned.plan, settings, baseline, whole=True)
    return PlannedCost(forecast, baseline.note, tuple(_describe_future(planned.notices)))


async def _estimate_with_probe(root: Path, settings: Settings) -> PlannedCost:
    """Estimate after sample cases of suites without an estimate have run."""
    out = root / settings.out
    with lock_folder(out), temporary_folder() as scratch:
        counter = TotalCounter()
        async with open_quiet_ports(root, settings, scratch, [counter.observe]) as ports:
            suites = await ports.discover(settings)
            settings = merge_suite_gates(settings, suites.sources)
            baseline = await find_baseline(settings, ports.reporting)
            interpreter = await ports.prepare(settings, suites.sources)
            plan = make_plan(suites, settings, interpreter=interpreter, root=root)
            planned = PlannedRun(plan, baseline, settings, ports.reporting.context)
            planned = await change_plan(load_steps(planned.facts), planned)
            forecast = await make_forecast(planned.plan, settings, baseline, whole=True)
            try:
                probe = await _probe(planned.plan, settings, ports, counter, list(_list_unknown(forecast)))
                forecast = await make_forecast(planned.plan, settings, baseline, probe=probe, whole=True)
            finally:
                shutil.rmtree(out / FOLDER, ignore_errors=True)  # it is not a run to compare with
    return PlannedCost(forecast, baseline.note, tuple(_describe_future(planned.notices)))


def _describe_future(notices: Iterable[str]) -> Iterator[str]:
    """The notices of a run which suites it runs, for a run that has not started."""
    for notice in notices:
        planned = notice.replace("All suites ran:", "All suites will run:", 1)
        yield planned.replace(" did not run, because", " will not run, because", 1)


async def _probe(plan: Plan, settings: Settings, ports: Ports, counter: TotalCounter, scripts: Sequence[str]) -> Probe:
    activity = f"running 3 cases of {', '.join(scripts)}" if scripts else "counting cases"
    click.echo(one_line(activity, 500), err=True)
    return await run_probe(plan, settings, ports, counter, scripts)


def _list_unknown(forecast: Forecast) -> Iterator[str]:
    suites = forecast.estimate.suites if forecast.estimate is not None else ()
    yield from dict.fromkeys(each.script for each in suites if each.state is SuiteState.NONE)


def format_table(planned: PlannedCost) -> Iterator[str]:
    """The lines of the table and its notes."""
    rows = [tuple(one_line(cell, _LONGEST_CELL) for cell in row) for row in build_rows(planned.estimate)]
    table = [HEADINGS, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS) - 1)]
    for row in table:
        cells = [
            row[0].ljust(widths[0]),
            *(row[index].rjust(widths[index]) for index in range(1, len(widths))),
            row[-1],
        ]
        yield "  ".join(cells).rstrip()
    if not rows:
        yield "No suites were found."


def list_notes(planned: PlannedCost) -> Iterator[str]:
    """What the table leaves out, and the warnings."""
    if planned.forecast.problem:
        yield planned.forecast.problem
    if planned.estimate.total.unknown:
        note = f" ({planned.base_note})" if planned.base_note and not planned.estimate.total.base else ""
        yield f"No base has some of the suites{note}. `--probe` runs 3 cases of each of them, and estimates from these."
    elif base := planned.estimate.total.base:
        yield f"From each case in {base}, current prices and stored answers. Brackets are 90 % intervals."
    yield from explain_caches(planned.estimate)
    yield from planned.notices
    yield from planned.estimate.notes
    yield from planned.forecast.warnings


def format_json(planned: PlannedCost) -> str:
    """The estimate as JSON; `docs/estimate.schema.json` describes it."""
    notes = tuple(filter(None, (planned.forecast.problem, *planned.notices)))
    data = describe_plan(planned.estimate, planned.forecast.warnings)
    return json.dumps({**data, "notes": [*notes, *data["notes"]]}, indent=2)
