"""`scoregate history`: import runs, and ask for trends, cases, flaky cases and costs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import anyio
import click

from scoregate.cli.history_formats import AnswerTarget, Column, write_rows
from scoregate.cli.history_options import RunChoice, answer_options, run_options
from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.text_output import CommandGroup, print_line, print_warning
from scoregate.errors import UsageError
from scoregate.features.history.folders import ImportResult, import_folders, list_run_folders
from scoregate.features.history.location import embedded_path, open_history, shared_address
from scoregate.features.history.names import check_case, check_suite
from scoregate.features.history.project import find_project_name
from scoregate.features.history.queries import (
    COST_GROUPS,
    CaseScore,
    CostRow,
    FlakyCase,
    TrendPoint,
    load_case,
    load_costs,
    load_flaky,
    load_trend,
    load_trends,
)
from scoregate.features.history.rows import RunSource
from scoregate.features.history.stores import HistoryStore
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

_MOST_RUNS = 100
STORED_KINDS = ("artifacts", "branch")


@record
class OpenProject:
    """A project with its open history.

    Args:
        root: its folder.
        settings: its settings.
        name: its name in the history.
        store: the history.
    """

    root: Path
    settings: Settings
    name: str
    store: HistoryStore


@contextmanager
def open_project(project: str | None, *, updates: bool = True) -> Iterator[OpenProject]:
    """Open the history of the current project until the block ends.

    Args:
        project: the name of the project in the history; None for its own.
        updates: whether runs in the output folder that the embedded history lacks are imported first.
    """
    root = project_root()
    settings = load_project_settings(root, {})
    name = project or anyio.run(find_project_name, root, os.environ)
    store = open_history(root, os.environ)
    try:
        if updates and project is None and not shared_address(os.environ):
            with suppress(UsageError):  # there are no runs yet
                import_folders(store, list_run_folders(root / settings.out), RunSource(name))
        yield OpenProject(root, settings, name, store)
    finally:
        store.close()


@click.group("history", cls=CommandGroup)
def command() -> None:
    """Ask earlier runs for trends, flaky cases and costs.

    Runs are read into a database: a file in .scoregate-cache, or the PostgreSQL of SCOREGATE_HISTORY.
    """


@command.command("import")
@click.argument("runs", nargs=-1, metavar="[RUN...|artifacts|branch]", type=click.Path(path_type=Path))
@click.option("--project", metavar="NAME", help="Project that the runs belong to; default: this repository.")
@click.option("--key", metavar="NAME", help="Use of scoregate whose runs are imported (default: workflow-job).")
@click.option("--rebuild", is_flag=True, help="First delete the history in .scoregate-cache.")
def import_command(runs: tuple[Path, ...], project: str | None, key: str | None, *, rebuild: bool) -> None:
    """Import runs: those in folders, by default in the output folder, or in GitHub's jobs those that CI stored.

    artifacts are those of the base branch, branch is the data branch. A run that is known already is skipped.
    """
    if rebuild:
        _delete_embedded()
    with open_project(project, updates=False) as opened:
        if len(runs) == 1 and (kind := str(runs[0])) in STORED_KINDS:
            result = anyio.run(_import_stored, opened, kind, key)
        else:
            paths = runs or (opened.root / opened.settings.out,)
            folders = [folder for path in paths for folder in list_run_folders(path)]
            result = import_folders(opened.store, folders, RunSource(opened.name, key or ""))
        _print_import(result, opened)


async def _import_stored(opened: OpenProject, kind: str, key: str | None) -> ImportResult:
    from scoregate.features.history.job_runs import import_stored_runs
    from scoregate.kernel.job.github.context import open_connection

    settings = opened.settings if key is None else opened.settings.model_copy(update={"key": key})
    async with open_connection(settings, os.environ) as connection:
        return await import_stored_runs(opened.store, opened.name, connection, kind, settings.base_branch)


def _delete_embedded() -> None:
    from scoregate.features.history.embedded import delete_file

    if shared_address(os.environ):
        raise UsageError("--rebuild deletes only the history in .scoregate-cache, and SCOREGATE_HISTORY is set")
    delete_file(embedded_path(project_root()))


def _print_import(result: ImportResult, opened: OpenProject) -> None:
    for problem in result.problems:
        print_warning(f"warning: {problem}")
    added, known = number_format.count(result.added, "run"), f"{result.known:,} known already"
    print_line(f"{opened.store.location}: {added} added to {opened.name}, {known}")


@command.command("upgrade")
def upgrade() -> None:
    """Make the tables of the PostgreSQL of SCOREGATE_HISTORY, or update those of an earlier version."""
    if not shared_address(os.environ):
        raise UsageError("SCOREGATE_HISTORY is not set", advice="The history in .scoregate-cache needs no upgrade.")
    store = open_history(project_root(), os.environ, migrates=True)
    store.close()
    print_line(f"{store.location}: its tables are those that this version needs")


@command.command("trend")
@click.argument("suite")
@click.argument("evaluator", metavar="SCORER")
@run_options
@answer_options
def trend(suite: str, evaluator: str, choice: RunChoice, target: AnswerTarget) -> None:
    """Show the mean score of SCORER in SUITE for each run, with changes of judges and models."""
    with open_project(choice.project) as opened:
        chosen = choice.find(opened.store, opened.name)
        check_suite(opened.store, chosen, suite, evaluator)
        points = load_trend(opened.store, suite, evaluator, chosen)
    write_rows(TrendPoint, points, _TREND, target, nothing="No run since then has scores of it.")


def _format_commit(commit: str | None, branch: str | None) -> str:
    return "@".join(filter(None, (branch, (commit or "")[:7])))


def _format_passed(passed: int, judged: int) -> str:
    return f"{passed:,} of {judged:,}" if judged else number_format.NONE


def _format_interval(low: float | None, high: float | None) -> str:
    return number_format.NONE if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


_TREND: Sequence[Column] = (
    Column("when", lambda row: number_format.moment(row.finished)),
    Column("commit", lambda row: _format_commit(row.commit, row.branch)),
    Column("mean", lambda row: number_format.score(row.mean), is_number=True),
    Column("95% interval", lambda row: _format_interval(row.low, row.high)),
    Column("n", lambda row: str(row.n), is_number=True),
    Column("passed", lambda row: _format_passed(row.passed, row.passed + row.failed), is_number=True),
    Column("errors", lambda row: str(row.errored), is_number=True),
    Column("changed", lambda row: ", ".join(row.changes)),
)


@command.command("case")
@click.argument("case_hash", metavar="HASH")
@run_options
@answer_options
def case(case_hash: str, choice: RunChoice, target: AnswerTarget) -> None:
    """Show every score of the case with this HASH, or with a hash that starts so."""
    with open_project(choice.project) as opened:
        chosen = choice.find(opened.store, opened.name)
        check_case(opened.store, chosen, case_hash)
        scores = load_case(opened.store, case_hash, chosen)
    write_rows(CaseScore, scores, _CASE, target, nothing="These runs have no scores of it.")


_RESULTS = {True: "passed", False: "failed", None: ""}
_CASE: Sequence[Column] = (
    Column("suite", lambda row: row.suite),
    Column("case", lambda row: row.name or row.case),
    Column("scorer", lambda row: row.evaluator),
    Column("when", lambda row: number_format.moment(row.finished)),
    Column("commit", lambda row: _format_commit(row.commit, row.branch)),
    Column("score", lambda row: number_format.score(row.score), is_number=True),
    Column("result", lambda row: _RESULTS[row.passed]),
    Column("changed", lambda row: ", ".join(row.changes)),
)


@command.command("flaky")
@click.option("--suite", metavar="LABEL", help="Only this suite.")
@click.option(
    "--runs",
    type=click.IntRange(2, 10_000),
    default=_MOST_RUNS,
    show_default=True,
    metavar="N",
    help="Only the last N runs.",
)
@run_options
@answer_options
def flaky(suite: str | None, runs: int, choice: RunChoice, target: AnswerTarget) -> None:
    """List the cases that pass and fail in turn, without a change of the case or of the scorer's fingerprint."""
    with open_project(choice.project) as opened:
        chosen = replace(choice.find(opened.store, opened.name), runs=runs)
        if suite is not None:
            check_suite(opened.store, chosen, suite)
        cases = load_flaky(opened.store, chosen, suite=suite)
    write_rows(FlakyCase, cases, _FLAKY, target, nothing="No case flips.")


_FLAKY: Sequence[Column] = (
    Column("suite", lambda row: row.suite),
    Column("case", lambda row: row.name or row.case),
    Column("hash", lambda row: row.case),
    Column("scorer", lambda row: row.evaluator),
    Column("passed", lambda row: f"{row.passed} of {row.trials}", is_number=True),
    Column("flips", lambda row: f"{row.flips} of {row.pairs}", is_number=True),
    Column("at one commit", lambda row: str(row.same_commit), is_number=True),
    Column("rate", lambda row: number_format.percent(row.rate), is_number=True),
    Column("95% interval", lambda row: f"[{number_format.percent(row.low)}, {number_format.percent(row.high)}]"),
)


@command.command("page")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File; default: history.html in the output folder.",
)
@run_options
def page(output: Path | None, choice: RunChoice) -> None:
    """Write a page with the trends of all scorers over months, flaky cases and costs: one file, to open offline."""
    from scoregate.features.history.page import HistoryData, render_trends

    with open_project(choice.project) as opened:
        store = opened.store
        chosen = choice.find(store, opened.name)
        recent = replace(chosen, runs=_MOST_RUNS)
        costs = (load_costs(store, "model", chosen), load_costs(store, "month", chosen))
        trends = load_trends(store, chosen)
        data = HistoryData(opened.name, time.time(), trends, load_flaky(store, recent), *costs)
        file = output or opened.root / opened.settings.out / "history.html"
    try:
        if output is None:
            file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as out:
            out.writelines(Redactor(secret_values(os.environ)).stream(render_trends(data)))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    print_line(str(file))


@command.command("cost")
@click.option(
    "--by", type=click.Choice(COST_GROUPS), default="model", show_default=True, help="What costs are summed by."
)
@run_options
@answer_options
def cost(by: str, choice: RunChoice, target: AnswerTarget) -> None:
    """Show what model calls cost."""
    with open_project(choice.project) as opened:
        costs = load_costs(opened.store, by, choice.find(opened.store, opened.name))
    columns = (Column(by, lambda row: row.group.strip() or number_format.NONE), *_COST)
    write_rows(CostRow, costs, columns, target, nothing="No run used a model.")


_COST: Sequence[Column] = (
    Column("runs", lambda row: f"{row.runs:,}", is_number=True),
    Column("calls", lambda row: f"{row.calls:,}", is_number=True),
    Column("input tokens", lambda row: f"{row.input_tokens:,}", is_number=True),
    Column("output tokens", lambda row: f"{row.output_tokens:,}", is_number=True),
    Column(
        "cost", lambda row: number_format.NONE if row.cost is None else number_format.cost(row.cost), is_number=True
    ),
    Column("without price", lambda row: f"{row.unpriced:,}", is_number=True),
)
