"""`scoregate run --shard`: run one part of a partition and print whether it is complete."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import anyio
from rich.text import Text

from scoregate.cli.output import Output, OutputOptions, make_redactor, open_output, write_document
from scoregate.cli.output_folder import lock_output
from scoregate.cli.run_gate import open_run, stop_on_signals
from scoregate.errors import RecordError, UsageError
from scoregate.features.steps import load_steps
from scoregate.kernel.job.shards.partition_file import read_partition
from scoregate.kernel.job.shards.shard_run import ShardRequest, ShardResult, run_shard
from scoregate.kernel.judge.archive import RUN_FILE, RUN_FOLDER, latest_run, read_head, run_folder
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.sharding.partition import MOST_SHARDS
from scoregate.kernel.types.slots import NO_SLOTS, Slots

_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")
_MOST_PROBLEMS = 20


def parse_shard(text: str, partition: Path | None) -> ShardRequest:
    """Parse the options.

    Args:
        text: the number of the shard and the number of shards, such as 3/8.
        partition: the file of the partition.

    Raises:
        UsageError: they are not valid, or the partition has another number of shards.
    """
    match = _SHARD.fullmatch(text.strip())
    number, of = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= of <= MOST_SHARDS:
        raise UsageError(
            f"--shard {text!r:.40} is not valid", advice=f"Write K/N, such as 3/8; N is at most {MOST_SHARDS:,}."
        )
    known = None if partition is None else read_partition(partition)
    if known is not None and len(known.shards) != of:
        raise UsageError(
            f"--shard {number}/{of}: {partition} has {number_format.count(len(known.shards), 'shard')}",
            advice="Use the number of shards that `scoregate plan` printed.",
        )
    return ShardRequest(number, of, known)


def run_project_shard(settings: Settings, root: Path, options: OutputOptions, request: ShardRequest) -> int:
    """Run one shard of a project and return the exit code.

    Args:
        settings: the settings of the project.
        root: the folder of the project.
        options: how much is printed.
        request: the shard.
    """
    with lock_output(root / settings.out, root), open_output(options) as output:
        result = anyio.run(_run_until_signal, settings, root, output, request)
        _print_shard(result, request, settings.out, output)
    return result.exit_code


async def _run_until_signal(settings: Settings, root: Path, output: Output, request: ShardRequest) -> ShardResult:
    def make_requests(out: Path) -> Slots:
        """The finished results of the last run of this shard are reused."""
        from scoregate.kernel.job.resume_request import REQUEST, ResumeRequest

        with suppress(RecordError):
            folder = run_folder(latest_run(out))
            shard = read_head(folder / RUN_FILE).scope.shard
            if shard is not None and (shard.number, shard.of) == (request.number, request.of):
                return NO_SLOTS.put(REQUEST, ResumeRequest(folder))
        return NO_SLOTS

    async with (
        stop_on_signals() as stop,
        open_run(settings, root, output, stop=stop, make_requests=make_requests) as (own_settings, ports),
    ):
        return await run_shard(own_settings, ports, root / settings.out, request, load_steps)


def _print_shard(result: ShardResult, request: ShardRequest, out: str, output: Output) -> None:
    run, redact = result.run, make_redactor()
    cases = sum(suite.columns.case_count for suite in run.suites)
    state = "interrupted" if result.interrupted else "not complete" if result.problems else "complete"
    counts = f"{number_format.count(cases, 'case')} in {number_format.count(len(run.suites), 'suite')}"
    again = "; it was complete before, so nothing ran" if result.is_reused else ""
    lines = [f"Shard {request.number} of {request.of}: {state}, {counts}{again}"]
    lines += [f"  {problem}" for problem in result.problems[:_MOST_PROBLEMS]]
    lines.append(f"Run: {out}/{RUN_FOLDER}. Judge all shards: scoregate merge FOLDER...")
    for line in lines:
        output.console.print(Text(redact(line)), soft_wrap=True)
    if output.document is not None and run.scope.shard is not None:
        document = {
            "shard": request.number,
            "of": request.of,
            "id": run.scope.shard.id,
            "partition": run.scope.shard.partition,
            "complete": not (result.problems or result.interrupted),
            "reused": result.is_reused,
            "suites": len(run.suites),
            "cases": cases,
            "problems": [redact(problem) for problem in result.problems],
            "run": f"{out}/{RUN_FOLDER}",
        }
        write_document([json.dumps(document, indent=2) + "\n"], output.document)
