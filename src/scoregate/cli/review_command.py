"""`scoregate review`: people judge, on a page of this machine."""

from __future__ import annotations

from pathlib import Path

import click

from scoregate.ci.archive import read_run
from scoregate.cli.listing import say
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.people import speaker
from scoregate.core.record import Run
from scoregate.errors import UsageError
from scoregate.store import open_store


@click.command("review")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--by", metavar="NAME", envvar="SCOREGATE_REVIEWER", help="Who judges; default: git's user.name.")
def command(run: Path | None, by: str | None) -> None:
    """Judge what waits for people in RUN (default: the newest), and correct its judges.

    A page on this machine alone shows the battles, blind, and what judges said. Your words go to .scoregate/, and
    `scoregate gate RUN` counts them in.
    """
    from scoregate.review.desk import Desk
    from scoregate.review.queue import queue_of
    from scoregate.review.serving import serve

    found = _run(run)
    desk = Desk(queue_of(found), open_store(), _reviewer(by), title=found.message or "")
    waiting, judged = len(desk.queue.battles), len(desk.queue.judged)
    say(f"{waiting} battles wait for people, {judged} scores of judges can be corrected, by {desk.reviewer}")
    say("Judge at this address; Ctrl-C ends it:")
    serve(desk, say)


def _run(path: Path | None) -> Run:
    return read_run(path or Path(settings_of(project_root(), {}).out))


def _reviewer(by: str | None) -> str:
    if name := speaker(by).strip():
        return name
    raise UsageError(
        "nobody knows who judges: git has no user.name", advice="Name yourself with --by, or in SCOREGATE_REVIEWER."
    )
