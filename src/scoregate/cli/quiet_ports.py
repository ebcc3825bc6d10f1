"""Ports for commands that run suites many times, without their progress: what they print is their own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from scoregate.cli.run_gate import stop_on_signals, temporary_folder
from scoregate.cli.text_output import print_warning
from scoregate.features.steps import load_steps
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.wiring import open_ports
from scoregate.kernel.judge.settings import Settings

UNMEASURABLE = 3
"""The exit code of a command that could not measure what it was asked for."""


@asynccontextmanager
async def open_quiet_ports(root: Path, settings: Settings) -> AsyncIterator[Ports]:
    """The ports until the block ends; signals stop what runs.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
    """
    with temporary_folder() as scratch:
        async with (
            stop_on_signals() as stop,
            open_ports(
                root,
                os.environ,
                settings,
                load_steps,
                scratch=scratch,
                observers=(),
                print_line=print_warning,
                stop=stop,
            ) as ports,
        ):
            yield ports
