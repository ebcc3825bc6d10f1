"""The whole story as a command tells it: what runs, what is seen meanwhile, what is printed at its end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from scoregate.ci.archive import RUN_FOLDER, latest_run, marked_in_progress, recover
from scoregate.ci.discovery import Find, find_all
from scoregate.ci.flow import Outcome, gate
from scoregate.ci.identity import in_ci
from scoregate.ci.live import told_live
from scoregate.ci.recording import Observer
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import open_ports
from scoregate.cli.closing import close
from scoregate.cli.out_folder import hold_out
from scoregate.cli.progress import progress
from scoregate.cli.scratch import scratch_folder
from scoregate.cli.stopping import stoppable
from scoregate.cli.telling import telling
from scoregate.cli.voice import Stage, Voice, stage
from scoregate.cli.watching import printed, ticking


def tell_story(settings: Settings, root: Path, voice: Voice, *, find: Find = find_all, resumes: bool = False) -> int:
    """Run what `find` finds in a project, compare, judge, report; returns the exit code.

    Args:
        resumes: whether to go on from the last run, if that did not finish.
    """
    with hold_out(root / settings.out, root), stage(voice) as ours:
        recovered = tuple(each.notice for each in recover(root / settings.out))
        settings = settings.model_copy(update={"notices": (*settings.notices, *recovered)})
        outcome = anyio.run(_gate, settings, root, ours, find, latest_run(root / settings.out) if resumes else None)
        close(outcome, root / settings.out, ours)
    return outcome.exit_code


async def _gate(settings: Settings, root: Path, ours: Stage, find: Find, resumed: Path | None) -> Outcome:
    with scratch_folder() as scratch, progress(ours) as watch:
        async with (
            stoppable() as stop,
            _told_live(settings, root) as following,
            ticking(watch.tick),
            open_ports(
                root,
                os.environ,
                settings,
                scratch=scratch,
                observers=[watch.observe, *following],
                say=lambda line: watch.say(printed(line)),
                stop=stop,
                find=find,
                resumed=resumed,
            ) as ports,
        ):
            with marked_in_progress(root / settings.out / RUN_FOLDER):
                return await gate(settings, telling(ports, watch.say) if ours.voice.verbose else ports)


@asynccontextmanager
async def _told_live(settings: Settings, root: Path) -> AsyncIterator[list[Observer]]:
    """For `scoregate view`: who can look at it is at this machine, and no job is."""
    if in_ci(os.environ):
        yield []
        return
    message = settings.message and Redactor(secret_values(os.environ)).text(settings.message)
    async with told_live(root / settings.out, message) as following:
        yield [following]
