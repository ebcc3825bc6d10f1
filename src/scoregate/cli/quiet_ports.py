"""Ports for commands that run suites many times, without their progress: what they print is their own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click

from scoregate.cli.run_gate import stop_on_signals
from scoregate.features.steps import load_steps
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.wiring import open_ports
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.recording import Observer

UNMEASURABLE = 3
"""The exit code of a command that could not measure what it was asked for."""


@asynccontextmanager
async def open_quiet_ports(
    root: Path, settings: Settings, scratch: Path, observers: Sequence[Observer] = ()
) -> AsyncIterator[Ports]:
    """The ports until the block ends; signals stop what runs.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
        scratch: an empty folder outside the project, for temporary files.
        observers: get every event while scripts run.
    """
    async with (
        stop_on_signals() as stop,
        open_ports(
            root,
            os.environ,
            settings,
            load_steps,
            scratch=scratch,
            observers=observers,
            print_line=lambda line: click.echo(one_line(line, 500), err=True),
            stop=stop,
        ) as ports,
    ):
        yield ports
