"""`scoregate review`: people review battles and scores, on a local page or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.review_records import missing_reviewer, reviewer_name
from scoregate.cli.review_rows import review_rows
from scoregate.cli.text_output import print_line
from scoregate.cli.web_pages import page_options, show_page
from scoregate.errors import UsageError
from scoregate.kernel.judge.archive import read_run
from scoregate.kernel.run.server_packages import require_server_packages
from scoregate.kernel.types.runs.run import Run
from scoregate.store import open_store

if TYPE_CHECKING:
    from scoregate.web.review_queue import Queue

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("review")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--by", metavar="NAME", envvar="SCOREGATE_REVIEWER", help="Name of the reviewer; default: git's user.name."
)
@click.option(
    "--export", "to", type=_FILE, metavar="FILE", help="Write the open reviews to a file, for people elsewhere."
)
@click.option("--import", "back", type=_FILE, metavar="FILE", help="Import a file that was filled in.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Review only N scores of judges, drawn at random.")
@click.option(
    "--dataset", metavar="NAME", help="Review the rows that `dataset add-traces` added, instead of a run; keep or drop."
)
@page_options
def command(
    run: Path | None,
    by: str | None,
    to: Path | None,
    back: Path | None,
    sample: int | None,
    dataset: str | None,
    **page: Any,
) -> None:
    """Review the battles of RUN and correct the scores of its judges.

    Default for RUN: the last run. The page is reachable from this machine only. It shows battles without telling which
    output is new, and scores of judges with their reasons. Reviews are stored in .scoregate/ and count in
    `scoregate gate RUN`. With --sample, scores are drawn at random, and you review before you see the judge's score:
    only such reviews show how reliable all scores of a judge are. With --dataset, rows from traces are reviewed; those
    that are kept become a version of the dataset.
    """
    if to is not None and back is not None:
        raise UsageError("--export and --import exclude each other", advice="Use only one of them.")
    if sample is not None and back is not None:
        raise UsageError("--sample and --import exclude each other", advice="The file contains its sample.")
    if dataset is not None:
        if run is not None or sample is not None:
            raise UsageError("--dataset excludes RUN and --sample", advice="Use only one of them.")
        review_rows(dataset, by=by, to=to, back=back, page=page)
        return
    folder = run
    if folder is None:
        root, cwd = project_root(), Path.cwd().resolve()
        out = root / load_project_settings(root, {}).out
        folder = out.relative_to(cwd) if out.is_relative_to(cwd) else out
    finished = read_run(folder)
    queue = _load_queue(finished, sample)
    if to is not None:
        _export(queue, to, by or "")
    elif back is not None:
        _import(finished, queue, back, by=by or "")
    elif reviewer := reviewer_name(by).strip():
        _serve(queue, reviewer, title=finished.code.message or "", folder=folder, page=page)
    else:
        raise missing_reviewer()


def _load_queue(run: Run, sample: int | None) -> Queue:
    """Load what there is to review.

    Raises:
        UsageError: a sample is requested, but no judge gave a score.
    """
    from scoregate.web.review_queue import build_queue, count_scores, draw_sample

    if sample is None:
        return build_queue(run)
    queue = draw_sample(run, sample)
    if not len(queue.judged):
        raise UsageError("there is nothing to sample: no scorer of this run called a model")
    counts = ", ".join(
        f"{name} {failing + passing:,} ({failing:,} fail, {passing:,} pass)"
        for name, (failing, passing) in sorted(count_scores(queue).items())
    )
    print_line(f"random sample of judges' scores: {counts}")
    return queue


def _serve(queue: Queue, reviewer: str, *, title: str, folder: Path, page: Mapping[str, Any]) -> None:
    require_server_packages("scoregate review")
    from scoregate.web.review_app import build_review_app
    from scoregate.web.review_session import ReviewSession

    session = ReviewSession(queue, open_store(), reviewer, title=title, folder=str(folder))
    print_line(f"{reviewer}: {len(queue.battles)} battles and {len(queue.judged)} scores of judges to review")
    show_page(
        partial(build_review_app, session),
        "review",
        invitation="Review at this address (Ctrl-C stops the server):",
        **page,
    )


def _export(queue: Queue, file: Path, reader: str) -> None:
    from scoregate.web.review_export import format_lines, select_for_export

    battles, scores = select_for_export(queue, open_store(), reader)
    try:
        with file.open("w", encoding="utf-8") as out:
            out.writelines(format_lines(queue, battles, scores))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    print_line(f"{file}: {len(battles)} battles, {len(scores)} scores of judges")
    print_line(
        "Fill in `decision` (battles: left, right or tie; scores: the right score), `by` and, if you like, `comment`."
    )
    if withheld := len(queue.judged) - len(scores):
        print_line(f"{withheld} scores are skipped until the battles of their outputs are reviewed.")


def _import(run: Run, queue: Queue, file: Path, *, by: str) -> None:
    from scoregate.web.review_export import parse_lines, save_import
    from scoregate.web.review_queue import draw_sample

    try:
        lines = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    result = save_import(open_store(), parse_lines(lines, queue, draw_sample(run), origin=str(file), by=by))
    print_line(f"{result.added} added, {result.changed} changed, {result.known} unchanged, {result.empty} not reviewed")
