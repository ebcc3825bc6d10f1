"""`scoregate review`: people judge, on a page of this machine or in a file elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scoregate.ci.archive import read_run
from scoregate.cli.listing import say
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.pages import page_options, show_page
from scoregate.cli.people import speaker
from scoregate.core.record import Run
from scoregate.errors import UsageError
from scoregate.store import open_store

if TYPE_CHECKING:
    from scoregate.review.queue import Queue

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("review")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--by", metavar="NAME", envvar="SCOREGATE_REVIEWER", help="Who judges; default: git's user.name.")
@click.option("--export", "to", type=_FILE, metavar="FILE", help="Write what waits for people elsewhere, and end.")
@click.option("--import", "back", type=_FILE, metavar="FILE", help="Take back a file that they have filled in.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only N scores of judges, drawn at random.")
@page_options
def command(
    run: Path | None, by: str | None, to: Path | None, back: Path | None, sample: int | None, **page: Any
) -> None:
    """Judge what waits for people in RUN (default: the newest), and correct its judges.

    A page on this machine alone shows the battles, blind, and what judges said. Your words go to .scoregate/, and
    `scoregate gate RUN` counts them in. With --sample, scores are drawn at random and you judge before you see what
    the judge said: only such reviews tell how far all scores of a judge can be trusted.
    """
    if to is not None and back is not None:
        raise UsageError("--export and --import cannot be had together")
    if sample is not None and back is not None:
        raise UsageError("--sample and --import cannot be had together", advice="The file says what was drawn.")
    folder = run or _newest(project_root())
    found = read_run(folder)
    queue = _queue(found, sample)
    if to is not None:
        _give_out(queue, to, by or "")
    elif back is not None:
        _take_in(found, queue, back, by=by or "")
    else:
        _serve(queue, _reviewer(by), title=found.message or "", folder=folder, page=page)


def _queue(run: Run, sample: int | None) -> Queue:
    """What there is to judge.

    Raises:
        UsageError: a sample is wanted, and no judge gave a score.
    """
    from scoregate.review.queue import queue_of
    from scoregate.review.sampling import count_scores, sample_of

    if sample is None:
        return queue_of(run)
    queue = sample_of(run, sample)
    if not len(queue.judged):
        raise UsageError("there is nothing to draw from: no evaluator of this run asked a model")
    told = ", ".join(f"{name} {count:,}" for name, count in sorted(count_scores(queue).items()))
    say(f"drawn at random, scores of judges: {told}")
    return queue


def _newest(root: Path) -> Path:
    """Where the last run went, as a person would name it here."""
    folder = root / settings_of(root, {}).out
    here = Path.cwd().resolve()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _serve(queue: Queue, reviewer: str, *, title: str, folder: Path, page: Mapping[str, Any]) -> None:
    from scoregate.review.app import app_of
    from scoregate.review.desk import Desk

    desk = Desk(queue, open_store(), reviewer, title=title, folder=str(folder))
    say(f"{reviewer}: {len(queue.battles)} battles to judge, {len(queue.judged)} scores of judges to look at")
    show_page(partial(app_of, desk), "review", invitation="Judge at this address; Ctrl-C ends it:", **page)


def _give_out(queue: Queue, file: Path, reader: str) -> None:
    from scoregate.review.sheets import to_give_out, written

    battles, scores = to_give_out(queue, open_store(), reader)
    try:
        with file.open("w", encoding="utf-8") as out:
            out.writelines(written(queue, battles, scores))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from None
    say(f"{file}: {len(battles)} battles, {len(scores)} scores of judges")
    say("Fill in `said` (of a battle left, right or tie; of a score the right one), `by`, and `comment` if you like.")
    if withheld := len(queue.judged) - len(scores):
        say(f"{withheld} scores of outputs that fight in these battles are left out until they are judged.")


def _take_in(run: Run, queue: Queue, file: Path, *, by: str) -> None:
    from scoregate.review.exchange import imported, take_in
    from scoregate.review.sampling import sample_of

    try:
        lines = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    taken = take_in(open_store(), imported(lines, queue, sample_of(run), origin=str(file), by=by))
    say(f"{taken.added} added, {taken.changed} changed, {taken.known} known before, {taken.empty} not judged")


def _reviewer(by: str | None) -> str:
    if name := speaker(by).strip():
        return name
    raise UsageError(
        "nobody knows who judges: git has no user.name", advice="Name yourself with --by, or in SCOREGATE_REVIEWER."
    )
