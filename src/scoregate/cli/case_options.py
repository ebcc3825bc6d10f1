"""The options of `scoregate run` that select cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from scoregate.cli.options import combine_options
from scoregate.errors import UsageError
from scoregate.kernel.host.runner import in_ci
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.sources import COMMAND_LINE
from scoregate.kernel.types.records import record
from scoregate.kernel.types.selection import CaseSelection, Node

case_options: Callable[[Any], Any] = combine_options(
    click.option(
        "-k",
        "keyword",
        metavar="EXPR",
        default="",
        help="Run only cases whose suite, variant, name or tags match, such as 'hours and not weekend'.",
    ),
    click.option("--last-failed", "--lf", is_flag=True, help="Run only the cases that failed when they ran last."),
    click.option("--failed-first", "--ff", is_flag=True, help="Run the cases that failed last before the others."),
    click.option("-x", "stop_at_first", is_flag=True, help="Stop at the first failing case."),
    click.option("--max-failures", type=click.IntRange(min=1), metavar="N", help="Stop at N failing cases."),
    click.option(
        "--sample",
        type=click.IntRange(min=1),
        metavar="N",
        help="Run a random sample of N cases of each suite; every set of tags has its share.",
    ),
    click.option("--seed", type=int, metavar="S", help="Seed of --sample (default: 0)."),
)


@record
class CaseFlags:
    """The values of the options."""

    keyword: str = ""
    last_failed: bool = False
    failed_first: bool = False
    stop_at_first: bool = False
    max_failures: int | None = None
    sample: int | None = None
    seed: int | None = None


def split_nodes(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[Node, ...]]:
    """Split arguments such as `evals/x.py::suite::case` into paths and the parts of them that run.

    Args:
        paths: the arguments. One that exists as a file is only a path.

    Returns:
        The paths, each once; and for each argument its node, if any of them names a part of a file.

    Raises:
        UsageError: a suite or case has no name.
    """
    nodes = []
    for argument in paths:
        # The name of a file may have `::` itself.
        path, *names = [argument] if Path(argument).exists() else argument.split("::", 2)
        if not path or not all(names):
            raise UsageError(
                f"{argument!r:.200} names no part of a file", advice="Write FILE::SUITE or FILE::SUITE::CASE."
            )
        nodes.append(Node(path, *names))
    has_parts = any(node.suite for node in nodes)
    return tuple(dict.fromkeys(node.path for node in nodes)), tuple(nodes) if has_parts else ()


def with_selected_cases(
    settings: Settings, root: Path, flags: CaseFlags, nodes: Sequence[Node], *, cwd: Path
) -> Settings:
    """The settings with the cases that the command line selects.

    Args:
        settings: the settings of the project.
        root: the folder of the project.
        flags: the values of the options.
        nodes: the named parts of files.
        cwd: the paths of nodes are relative to it.

    Raises:
        UsageError: the expression of -k isn't valid, or a seed has no sample.
    """
    if flags.seed is not None and flags.sample is None:
        raise UsageError("--seed has no effect without --sample", advice="Add --sample N, the size of the sample.")
    if flags.keyword:
        from scoregate.kernel.types.selection import parse_keywords

        parse_keywords(flags.keyword)
    failures, notices = None, settings.notices
    is_local = not in_ci(os.environ)
    if flags.last_failed or flags.failed_first:
        from scoregate.features.exemptions.entries import read_tree_exemptions
        from scoregate.kernel.compare.quarantine import find_quarantined_cases
        from scoregate.kernel.judge.archive import RUN_FOLDER
        from scoregate.kernel.run.partial_run import find_last_failures

        # On a pull request, the entries of the base count, which are not known yet.
        quarantine = read_tree_exemptions(root).active_quarantine if is_local else ()
        failures = find_last_failures(
            root / settings.out, lambda run: {key for key, _ in find_quarantined_cases(run, quarantine)}
        )
        if not failures:
            has_run = (root / settings.out / RUN_FOLDER).is_dir()
            why = "No failing case is known in" if has_run else "There is no earlier run in"
            notices = (*notices, f"{why} {settings.out}, so all cases run.")
    sets_max_cases = settings.origin("max_cases") == "--max-cases" and is_local
    selection = CaseSelection(
        flags.keyword.strip(),
        tuple(node._replace(path=_relative_path(node.path, cwd, root)) for node in nodes),
        failed=failures if flags.last_failed and failures else None,
        first=failures if flags.failed_first and failures else {},
        sample=flags.sample,
        seed=flags.seed or 0,
        max_failures=1 if flags.stop_at_first else flags.max_failures,
        max_cases=settings.max_cases if sets_max_cases else None,
        paths=settings.paths if is_local and not nodes and settings.origin("paths") == COMMAND_LINE else (),
    )
    return settings.model_copy(update={"selection": selection, "notices": notices})


def _relative_path(path: str, cwd: Path, root: Path) -> str:
    return Path(os.path.relpath(cwd / path, root)).as_posix()
