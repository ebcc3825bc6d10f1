"""`scoregate power`: what it would take to see a drop."""

from __future__ import annotations

from pathlib import Path

import click

from scoregate.cli.listing import show_table
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.stored import rejudged
from scoregate.core.power import Need, needs


@click.command("power")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Measures how much pairs differ; default: the base that RUN was compared with.",
)
@click.option(
    "--drop",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="Of the mean score, to be detected four times in five if this were the only row.",
)
def command(run: Path, baseline: Path | None, drop: float) -> int:
    """Show how many cases, or repeats, it takes to detect a drop in one evaluator, from the variance in RUN."""
    root = project_root()
    comparison = rejudged(run, baseline, settings_of(root, {}), root=root).comparison
    headings = ("suite", "evaluator", "cases", "repeats", "detects now", f"for {drop:g}: cases", "or repeats", "from")
    show_table(headings, map(_cells, needs(comparison, drop)), numbers=range(2, 7))
    return 0


def _cells(need: Need) -> tuple[str, ...]:
    return (
        need.suite,
        need.evaluator,
        f"{need.n:,}",
        f"{need.repeats:.3g}",
        f"±{need.detectable:.3f}",
        f"{need.cases:,}",
        "–" if need.more_repeats is None else f"{need.more_repeats:,}",
        need.source,
    )
