"""`scoregate power`: how many cases it takes to detect a drop."""

from __future__ import annotations

from pathlib import Path

import click

from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.stored_runs import Change, find_stored_sides
from scoregate.cli.text_output import print_table
from scoregate.features.steps import load_steps
from scoregate.kernel.compare.power import required_sizes
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.types.exemptions import EXEMPTIONS, Exemptions
from scoregate.kernel.types.slots import NO_SLOTS


@click.command("power")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Baseline run, to measure how much pairs differ; default: the one that RUN was compared with.",
)
@click.option(
    "--drop",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.05,
    show_default=True,
    help="Drop of a mean score to detect with 80% power, if this were the only row.",
)
def command(run: Path | None, baseline: Path | None, drop: float) -> int:
    """Estimate how many cases or repeats it takes to detect a drop of a scorer, from the variance in RUN.

    Default for RUN: the last run of the project, in the folder of the setting `out`.
    """
    root = project_root()
    settings = load_project_settings(root, {})
    change = Change(baseline, NO_SLOTS.put(EXEMPTIONS, Exemptions()))
    comparison = judge(find_stored_sides(run or root / settings.out, root, settings, change), load_steps).comparison
    headings = ("suite", "scorer", "cases", "repeats", "detects now", f"for {drop:g}: cases", "or repeats", "from")
    rows = [
        (
            size.suite,
            size.evaluator,
            f"{size.n:,}",
            f"{size.repeats:.3g}",
            f"±{size.detectable:.3f}",
            f"{size.cases:,}",
            "–" if size.more_repeats is None else f"{size.more_repeats:,}",
            size.source,
        )
        for size in required_sizes(comparison, drop)
    ]
    print_table(headings, rows, numbers=range(2, 7))
    return 0
