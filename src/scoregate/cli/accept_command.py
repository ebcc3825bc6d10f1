"""`scoregate accept`: accept the regressions of the last run until a date."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from scoregate.cli.options import project_root
from scoregate.cli.review_records import reviewer_name
from scoregate.cli.stored_runs import Change, find_stored_sides, load_suite_settings
from scoregate.cli.text_output import print_line
from scoregate.errors import UsageError
from scoregate.features.exemptions.entries import read_tree_exemptions
from scoregate.features.exemptions.entries.files import LONGEST_TEXT
from scoregate.features.exemptions.entries.propose import find_worse_rows, make_entries
from scoregate.features.exemptions.entries.write import append_accepted
from scoregate.features.steps import load_steps
from scoregate.kernel.judge.archive import latest_run
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.types.exemptions import EXEMPTIONS
from scoregate.kernel.types.slots import NO_SLOTS


@click.command("accept")
@click.argument("suite", required=False, default="*", metavar="[SUITE]")
@click.argument("evaluator", required=False, default="*", metavar="[SCORER]")
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    metavar="DATE",
    help="Last day on which the entry counts, such as 2026-12-31.",
)
@click.option("--reason", required=True, metavar="TEXT", help="Why the regression is accepted.")
@click.option("--by", metavar="NAME", help="Who accepts it; default: git's user.name.")
@click.option("--issue", default="", metavar="ISSUE", help="Issue about the regression.")
@click.option(
    "--at-most",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="DROP",
    help="Largest accepted drop of a mean score; default: the drop of the run, rounded up to 0.01.",
)
@click.option("--run", type=click.Path(path_type=Path), metavar="RUN", help="Run to read; default: the last run.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Baseline run; default: the one that RUN was compared with.",
)
def command(
    suite: str,
    evaluator: str,
    until: datetime,
    reason: str,
    by: str | None,
    issue: str,
    *,
    at_most: float | None,
    run: Path | None,
    baseline: Path | None,
) -> None:
    """Accept the scores of the last run that are worse: write an entry for each to .scoregate/accepted.toml.

    SUITE and SCORER are globs; default: all. Reports show accepted scores with the reason, and gates let drops up to
    the accepted one pass until the date.
    """
    root = project_root()
    exemptions = read_tree_exemptions(root)
    last_day = until.date().isoformat()
    if last_day < exemptions.today:
        raise UsageError(f"--until {last_day} is over", advice=f"Name a day from {exemptions.today} (UTC) on.")
    settings = load_suite_settings(root, {})
    folder = latest_run(run or root / settings.out)
    change = Change(baseline, NO_SLOTS.put(EXEMPTIONS, exemptions))
    comparison = judge(find_stored_sides(folder, root, settings, change), load_steps).comparison
    rows = find_worse_rows(comparison, suite, evaluator)
    entries = make_entries(
        comparison,
        rows,
        until=last_day,
        reason=_check_text("--reason", reason),
        by=_check_text("--by", reviewer_name(by)),
        issue=" ".join(issue.split()),
        at_most=at_most,
    )
    for row, entry in zip(rows, append_accepted(root, dict.fromkeys(entries)), strict=False):
        print_line(f"{entry.place}: {row.suite} · {row.evaluator}: a drop of up to {entry.at_most:g} is accepted")
    print_line("Commit the file. In its own pull request, the entry needs the label `scoregate: accept`.")


def _check_text(option: str, text: str) -> str:
    shown = " ".join(text.split())
    if not shown or len(shown) > LONGEST_TEXT:
        raise UsageError(f"{option} must have 1 to {LONGEST_TEXT} characters", advice="Say it in one sentence.")
    return shown
