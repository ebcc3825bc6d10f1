"""`scoregate compare`: compare two finished runs, or the variants of one."""

from __future__ import annotations

import json
from pathlib import Path

import click

from scoregate.cli.options import output_options, project_root
from scoregate.cli.output import Output, OutputOptions, make_redactor, open_output, print_result, write_document
from scoregate.cli.stored_runs import NO_BASELINE, Change, find_stored_sides, load_suite_settings
from scoregate.errors import UsageError
from scoregate.features.exemptions.entries import read_tree_exemptions
from scoregate.features.steps import load_steps
from scoregate.features.variants.terminal import render_variants
from scoregate.features.variants.view import build_variant_tables, variant_data
from scoregate.kernel.compare.variants import DIFFERENCE, rank_suites
from scoregate.kernel.job.baseline.previous import find_earlier_run
from scoregate.kernel.judge.archive import latest_run
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.policy import choose_policy
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.console_text import TrimmedLines
from scoregate.kernel.report.result_json import to_json_value
from scoregate.kernel.types.exemptions import EXEMPTIONS, Exemptions
from scoregate.kernel.types.slots import NO_SLOTS


@click.command("compare")
@click.argument("runs", nargs=-1, metavar="[RUN]", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Baseline run to compare with; default: the run of all suites before RUN.",
)
@click.option(
    "--variants",
    is_flag=True,
    help="Compare the variants of RUN instead: several tasks, or the combinations of a grid search.",
)
@click.option(
    "--difference",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="D",
    help=f"With --variants: the difference of mean scores to count the needed cases for [default: {DIFFERENCE:g}].",
)
@output_options
def command(
    runs: tuple[Path, ...], baseline: Path | None, *, variants: bool, difference: float | None, options: OutputOptions
) -> int:
    """Show how every score of RUN changed from another run, or rank its variants. The exit code is 0 in any case.

    Default for RUN: the last run of the project, in the folder of the setting `out`. Two runs in folders:
    `scoregate compare AFTER --baseline BEFORE`.
    """
    if len(runs) > 1:
        raise UsageError(
            f"RUN is one run, and {len(runs)} are named",
            advice=f"Name the earlier one with --baseline: `scoregate compare {runs[1]} --baseline {runs[0]}`.",
        )
    run = next(iter(runs), None)
    if variants and baseline is not None:
        raise UsageError(
            "--variants and --baseline exclude each other", advice="--variants compares the variants of RUN alone."
        )
    if difference is not None and not variants:
        raise UsageError("--difference needs --variants", advice="`scoregate power --drop D` is for two runs.")
    with open_output(options) as output:
        root = project_root()
        settings = load_suite_settings(root, {})
        folder = latest_run(run or root / settings.out)
        if variants:
            _print_variants(folder, root, settings, difference or DIFFERENCE, output)
        else:
            baseline = baseline or find_earlier_run(root / settings.out, folder)
            if baseline is None:
                raise UsageError(
                    "there is no earlier run to compare with",
                    advice="Name one with --baseline RUN, or use --variants for the variants of RUN.",
                )
            change = Change(baseline, NO_SLOTS.put(EXEMPTIONS, read_tree_exemptions(root)))
            print_result(judge(find_stored_sides(folder, root, settings, change), load_steps), None, output)
    return 0


def _print_variants(folder: Path, root: Path, settings: Settings, difference: float, output: Output) -> None:
    """Print the rankings of the variants of a run, or write them as JSON."""
    change = Change(NO_BASELINE, NO_SLOTS.put(EXEMPTIONS, Exemptions()))
    comparison = judge(find_stored_sides(folder, root, settings, change), load_steps).comparison
    policy = choose_policy(settings, None).policy
    rankings = rank_suites(comparison.run.suites, policy.criteria_of, difference=difference)
    tables = tuple(build_variant_tables(rankings))
    if not tables:
        raise UsageError(
            f"the run in {folder} has no variants with scores",
            advice="Give `evaluate` several tasks, task={'a': f, 'b': g}, or `run_test_suite` grid_search_params.",
        )
    redact = make_redactor()
    console, full = output.console, output.options.verbose
    with console.capture() as printed:
        for part in render_variants(tables, full=full, rest="" if full else ": see -v"):
            console.print(TrimmedLines(part))
    console.out(redact(printed.get()), end="", highlight=False)
    if output.document is not None:
        data = {"run": comparison.run.id, "variants": [variant_data(table) for table in tables]}
        write_document([redact(json.dumps(to_json_value(data), ensure_ascii=False, indent=2) + "\n")], output.document)
