"""`scoregate run`: run suites, compare, gate and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import click

from scoregate.cli.case_options import CaseFlags, case_options, split_nodes, with_selected_cases
from scoregate.cli.options import (
    affected_option,
    approved_option,
    baseline_options,
    combine_options,
    gate_options,
    list_declared_options,
    load_gate_settings,
    model_options,
    out_option,
    output_options,
    project_root,
    publish_options,
    running_options,
    selection_options,
    working_folder,
)
from scoregate.cli.output import OutputOptions
from scoregate.cli.run_gate import ResumeOptions, run_project
from scoregate.cli.skipped_run import end_if_skipped
from scoregate.errors import UsageError
from scoregate.kernel.judge.archive import INTERRUPTED, RUN_FILE, RUN_FOLDER
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import runs_elsewhere

_OTHERS = "Other options"
RUN_GROUPS: Mapping[str, Sequence[str]] = {
    "Common options": (
        "--baseline", "-k", "--last-failed", "--repeats", "--max-cases", "--model", "--cache", "--max-cost", "--watch",
        "--verbose",
    ),
    "Suites and cases": (
        "--suite", "--config", "--affected", "--sample", "--seed", "--failed-first", "-x", "--max-failures", "--resume",
        "--force", "--working-directory",
    ),
    "Gates": (
        "--min-pass-rate", "--max-drop", "--fail-on-regression", "--fail-on-broken-cases", "--max-error-rate",
        "--confirm", "--policy-from",
    ),
    "Reports": ("--out", "--message", "--show-outputs", "--json", "--quiet"),
    "Processes": (
        "--max-suites", "--timeout", "--env-file", "--python", "--python-version", "--install", "--install-groups",
        "--shard", "--partition", "--executor", "--scheduler", "--retries",
    ),
    "Calls of models": ("--max-tokens", "--gateway", "--cassettes"),
    "Pull requests": (
        "--base-branch", "--comment", "--annotations", "--check-run", "--key", "--github-token", "--approved",
        "--allow-skip",
    ),
}  # fmt: skip
"""Each option of `scoregate run` by one of its names. What is in no group follows under another title."""


class RunCommand(click.Command):
    """`scoregate run`, whose help has groups of options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by their groups."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        named = {name: each for each in options for name in each.opts}
        groups = {title: [named[name] for name in names] for title, names in RUN_GROUPS.items()}
        groups[_OTHERS] = [each for each in options if each not in chain(*groups.values())]
        for title, members in groups.items():
            with formatter.section(title):
                formatter.write_dl([record for each in members if (record := each.get_help_record(ctx)) is not None])


@click.command("run", cls=RunCommand)
@selection_options
@baseline_options
@out_option
@click.option(
    "--max-suites", type=int, metavar="N", help="Number of scripts that run at a time; default: number of cores."
)
@affected_option
@combine_options(*list_declared_options("place"))
@running_options
@case_options
@click.option("--python", metavar="PATH", help="Python interpreter for the suites.")
@click.option("--python-version", metavar="X.Y", help="Python version of the environment that --install creates.")
@click.option(
    "--install",
    metavar="auto|none|KEYWORD|COMMAND",
    help="Create an environment for the suites; auto: from the project's files, in the GitHub Action only. Keywords: "
    "uv-sync, poetry, pdm, pipenv, requirements, project, node.",
)
@click.option(
    "--install-groups",
    multiple=True,
    metavar="NAME",
    help="Dependency group or extra that --install adds (repeatable).",
)
@model_options
@gate_options
@publish_options
@approved_option
@combine_options(*list_declared_options("skip"))
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[RUN]",
    help="Reuse the results of RUN (default: the last one) if it did not finish and the code is unchanged. If the code "
    "changed, nothing runs.",
)
@click.option("--force", is_flag=True, help="With --resume: measure everything again if the code changed.")
@click.option("--watch", is_flag=True, help="Run again what a changed file affects, until Ctrl+C.")
@click.option(
    "--shard",
    metavar="K/N",
    help="Run only shard K of N and judge nothing; the exit code is 0 if the shard is complete. `scoregate merge` "
    "judges all shards.",
)
@click.option(
    "--partition",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The partition that `scoregate plan` wrote; without it, --shard computes it.",
)
@output_options
def command(
    options: OutputOptions,
    *,
    resume: str | None,
    force: bool,
    watch: bool,
    shard: str | None,
    partition: Path | None,
    **flags: Any,
) -> int:
    """Run the suites under PATHS, compare them with a baseline, apply the gates and write reports.

    Default for PATHS: the folder evals/, and files named eval_*.py, *_eval.py, *.eval.py and *.testset.toml that git
    does not ignore. FILE::SUITE and FILE::SUITE::CASE run a part of a file.
    """
    cases = CaseFlags(**{each.name: flags.pop(each.name) for each in fields(CaseFlags)})
    if resume and not is_run(Path(resume)):  # a path of suites after the option without a value
        resume, flags["paths"] = "", (resume, *flags["paths"])
    if force and resume is None:
        raise UsageError("--force needs --resume")
    flags["paths"], nodes = split_nodes(flags["paths"])
    root = project_root(flags)

    def load() -> Settings:
        settings = load_gate_settings(root, flags)
        return with_selected_cases(settings, root, cases, nodes, cwd=working_folder(root, flags))

    if shard is None and partition is not None:
        raise UsageError("--partition needs --shard", advice="Name the shard to run: --shard 1/8 --partition FILE.")
    if shard is not None:
        if watch:
            raise UsageError("--shard and --watch exclude each other")
        from scoregate.cli.shard import parse_shard, run_project_shard

        if runs_elsewhere(settings := load()):
            raise UsageError("--shard and --executor exclude each other")
        request = parse_shard(shard, partition)
        return 0 if end_if_skipped(root, settings) else run_project_shard(settings, root, options, request)
    if not watch:
        settings = load()
        return (
            0
            if end_if_skipped(root, settings)
            else run_project(settings, root, options, resume=_make_resume(resume, force=force))
        )
    from scoregate.cli.watch import check_watch, watch_project

    check_watch(options, resume=resume is not None)
    if runs_elsewhere(load()):
        raise UsageError("--watch and --executor exclude each other")
    # The watcher knows itself which files a script used.
    return watch_project(lambda: load().model_copy(update={"affected": False}), root, options)


def _make_resume(run: str | None, *, force: bool) -> ResumeOptions | None:
    return None if run is None else ResumeOptions(Path(run) if run else None, force)


def is_run(path: Path) -> bool:
    """Whether a path holds a run: its folder, the folder of reports, or one of its files."""
    return path.name == RUN_FILE or any((path / name).exists() for name in (RUN_FILE, RUN_FOLDER, INTERRUPTED))
