"""`scoregate plan`: what a run will cost, and how to divide its suites among shards, each of which is one job."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import anyio
import click

from scoregate.cli.case_options import CaseFlags, case_options, split_nodes, with_selected_cases
from scoregate.cli.options import (
    affected_option,
    baseline_options,
    load_gate_settings,
    model_options,
    out_option,
    project_root,
    running_options,
    selection_options,
    working_folder,
)
from scoregate.cli.output import make_redactor
from scoregate.errors import RecordError, UsageError
from scoregate.features.costs.forecast import Forecast, check_budget, make_forecast
from scoregate.features.steps import load_steps
from scoregate.kernel.host import git
from scoregate.kernel.job.job import open_job_context
from scoregate.kernel.job.pipeline import find_baseline
from scoregate.kernel.job.reporting import build_reporting
from scoregate.kernel.job.shards.partition_file import PARTITION_FILE, dump_partition
from scoregate.kernel.job.shards.sharding import digest_code, divide_plan
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.discovery import discover
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import make_plan
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.run.variables import read_env_file
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.sharding.packing import MOST_MATRIX_JOBS
from scoregate.kernel.types.sharding.partition import MOST_SHARDS, Partition, list_work

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(s|m|h|)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_MOST_SHOWN = 6


@click.command("plan")
@selection_options
@baseline_options
@out_option
@running_options
@case_options
@model_options
@affected_option
@click.option(
    "--probe", is_flag=True, help="Run 3 sample cases of each suite that no base has, to estimate what the others cost."
)
@click.option("--shards", metavar="auto|N", help="Number of shards; auto: as many as --target needs.")
@click.option("--target", metavar="TIME", help="How long a shard may take, such as 90s; by default 10m.")
@click.option("--no-split", is_flag=True, help="Divide files and suites, but not the cases of a suite.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="text: a table; json: the estimate, or the partition; github: outputs of a step, such as the matrix; in a "
    "step, they are set.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the partition to this file, too; by default, `--format github` writes partition.json into --out.",
)
def command(
    probe: bool,
    shards: str | None,
    target: str | None,
    no_split: bool,
    form: str,
    output: Path | None,
    **flags: Any,
) -> int:
    """Estimate what a run of the suites under PATHS costs, from each case in the baseline. Nothing is run.

    With --shards, --target, --no-split, --output or --format github, divide the suites among shards, by the durations
    of the baseline, the longest first. Each shard is a job that calls `scoregate run --shard K/N`; `scoregate merge`
    judges them together.
    """
    divides = bool(shards or target or no_split or output or form == "github")
    if probe and divides:
        raise UsageError("--probe and the options of shards exclude each other")
    number, target_s = _parse_shards(shards or "auto", form), _parse_duration(target or "10m")
    cases = CaseFlags(**{each.name: flags.pop(each.name) for each in fields(CaseFlags)})
    flags["paths"], nodes = split_nodes(flags["paths"])
    root = project_root(flags)
    settings = with_selected_cases(load_gate_settings(root, flags), root, cases, nodes, cwd=working_folder(root, flags))
    if not divides:
        return _print_estimate(root, settings, form, probes=probe)
    partition, note, forecast = anyio.run(_divide, root, settings, number, target_s, not no_split)
    _print_forecast(forecast, settings)
    path = output or (root / settings.out / PARTITION_FILE if form == "github" else None)
    if path is not None:
        _write(path, dump_partition(partition))
        if form == "github":
            _set_outputs({**_list_outputs(partition), "partition-path": _below_workspace(path)})
    for line in _list_shards(partition) if form != "json" else _dump(partition):
        click.echo(line, err=form == "github")  # outside of a step, stdout has the outputs
    if form == "text" or note:
        click.echo(one_line(note or "Durations are those of the baseline, one script at a time.", 500), err=True)
    return 0


def _print_estimate(root: Path, settings: Settings, form: str, *, probes: bool) -> int:
    """Show what a run will use.

    Raises:
        RunRefused: it exceeds the budget, so `scoregate run` would refuse, too.
    """
    from scoregate.cli.plan_estimate import estimate_project, format_json, format_table, list_notes

    planned = estimate_project(root, settings, probes=probes)
    redact = make_redactor()
    if form == "json":
        click.echo(redact(format_json(planned)))
    else:
        for line in format_table(planned):
            click.echo(redact(line))
        for note in list_notes(planned):
            click.echo(redact(one_line(note, 500)), err=True)
    if not probes:  # a run has no probe, so it starts
        check_budget(planned.forecast.total, settings)
    return 0


def _parse_shards(text: str, form: str) -> int | None:
    if text == "auto":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_SHARDS):
        raise UsageError(
            f"--shards {text!r:.40} is not valid", advice=f"Write auto, or a number from 1 to {MOST_SHARDS:,}."
        )
    if form == "github" and int(text) > MOST_MATRIX_JOBS:
        raise UsageError(f"--shards {text} --format github: a matrix of GitHub has at most {MOST_MATRIX_JOBS} jobs")
    return int(text)


def _parse_duration(text: str) -> float:
    match = _DURATION.fullmatch(text.strip())
    if match is None or not (seconds := float(match[1]) * _SECONDS[match[2]]):
        raise UsageError(
            f"--target {text!r:.40} is not a duration", advice="Write seconds, minutes or hours: 90s, 10m, 1h."
        )
    return seconds


async def _divide(
    root: Path, settings: Settings, shards: int | None, target_s: float, splits: bool
) -> tuple[Partition, str, Forecast]:
    """The partition, a note if durations are not known, and what all shards will use."""
    environ = {**read_env_file(root, settings, os.environ), **os.environ}
    async with open_job_context(root, os.environ, settings, suite_variables=environ) as context:
        suites = await discover(root, settings, environ=environ, skip_missing=context.skips_missing)
        settings = merge_suite_gates(settings, suites.sources)
        baseline = await find_baseline(settings, build_reporting(context, load_steps))
        plan = make_plan(suites, settings, interpreter=Interpreter(("python",), "only names are read"), root=root)
        forecast = await make_forecast(plan, settings, baseline)
    tree = await git.read_work_tree(root)
    code = await digest_code(plan, tree)
    partition = divide_plan(
        plan, baseline.run, settings, tree, code=code, shards=shards, target_s=target_s, splits=splits
    )
    if any(shard.seconds for shard in partition.shards):
        return partition, "", forecast
    why = f" ({baseline.note})" if baseline.note else ""
    size = "so there is one shard; name a number with --shards N" if shards is None else "so files count equally"
    return partition, f"No baseline has durations of these suites{why}, {size}.", forecast


def _print_forecast(forecast: Forecast, settings: Settings) -> None:
    """Show what all shards will use.

    Raises:
        RunRefused: it exceeds the budget, so no shard should start.
    """
    redact = make_redactor()
    for notice in forecast.notices:
        click.echo(redact(one_line(notice, 500)), err=True)
    if (total := forecast.shards_total) is not None:
        from scoregate.features.costs.texts import format_estimate

        click.echo(redact(f"{format_estimate(total)}, for all shards"), err=True)
        check_budget(total, settings)


def _write(path: Path, text: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    except OSError as error:
        raise RecordError(f"the partition can't be written to {path}: {error.strerror}") from None


def _list_shards(partition: Partition) -> Iterator[str]:
    for shard in partition.shards:
        names = [one_line(name, 80) for name in list_work(shard.assignments)]
        more = f", … and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
        took = f" about {number_format.duration(shard.seconds)}" if shard.seconds else ""
        yield f"{shard.number}/{len(partition.shards)}{took}: {', '.join(names[:_MOST_SHOWN]) or 'nothing'}{more}"
    yield f"fingerprint: {partition.fingerprint}"


def _dump(partition: Partition) -> Iterator[str]:
    yield dump_partition(partition).decode().rstrip("\n")


def _list_outputs(partition: Partition) -> dict[str, str]:
    """The outputs of a step; a job runs the matrix with `fromJSON`."""
    jobs = [
        {"shard": f"{shard.number}/{len(partition.shards)}", "number": shard.number, "seconds": round(shard.seconds)}
        for shard in partition.shards
    ]
    matrix = json.dumps({"include": jobs}, separators=(",", ":"))
    return {"matrix": matrix, "shards": str(len(jobs)), "fingerprint": partition.fingerprint}


def _below_workspace(path: Path) -> str:
    return os.path.relpath(path, os.environ.get("GITHUB_WORKSPACE") or None)


def _set_outputs(outputs: Mapping[str, str]) -> None:
    """Set the outputs of the step, or print them outside of a step."""
    text = "".join(f"{name}={value}\n" for name, value in outputs.items())
    if not (name := os.environ.get("GITHUB_OUTPUT", "")):
        click.echo(text, nl=False)
        return
    try:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise RecordError(f"the outputs of the step can't be written: {error.strerror}") from None
