"""`scoregate list`: what would run, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import anyio
import click
from rich.text import Text

from scoregate.ci.flow import plan_suites
from scoregate.ci.plan import Found, Plan, Source
from scoregate.ci.report.text import one_line
from scoregate.ci.wiring import build_ports
from scoregate.cli.options import project_root, selection_options, settings_of
from scoregate.cli.scratch import scratch_folder
from scoregate.cli.terminal import terminal


@click.command("list")
@selection_options
def command(**flags: Any) -> int:
    """Show which suites under PATHS would run, and why each was found. Nothing is run or imported."""
    root = project_root(flags)
    settings = settings_of(root, flags)
    with scratch_folder() as scratch:
        ports = build_ports(root, os.environ, settings, scratch=scratch)
        found, plan = anyio.run(plan_suites, settings, ports)
    console = terminal()
    console.print(Text(one_line(f"Python: {' '.join(plan.interpreter.argv)}  ({plan.interpreter.why})", 500)))
    for line in _lines(found, plan):
        console.print(Text(one_line(line, 500)))
    return 0 if plan.launches and not plan.broken else 3


def _lines(found: Found, plan: Plan) -> Iterator[str]:
    yield from (
        f"{launch.name}:{launch.source.line}  {_ids(launch.source)}  {launch.source.why}" for launch in plan.launches
    )
    yield from (f"cannot run  {source.error}" for source in plan.broken)
    yield from (f"skipped  {skipped.path}  {skipped.why}" for skipped in found.skipped)
    yield from (f"note: {notice}" for notice in found.notices)
    if not found.sources:
        yield "No suites were found. `scoregate init` writes a first one."


def _ids(source: Source) -> str:
    if source.suite_ids is None:
        return f"[{source.kind}]"
    return f"[{source.kind}] {', '.join(source.suite_ids)}"
