"""`scoregate dataset add-traces`: exported traces as rows of a dataset that wait for review."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scoregate.cli.output import make_redactor
from scoregate.cli.text_output import print_line
from scoregate.errors import MissingExtra, UsageError
from scoregate.store import open_store
from scoregate.store.candidates import add_candidates, count_waiting

if TYPE_CHECKING:
    from scoregate.trace_files.rows import CollectedRows, RowOptions

PERSONAL_DATA = ("email", "iban", "credit_card", "ip", "phone", "national_id")
_ALL = "personal"
_MOST_PROBLEMS = 20
_LONGEST_NAME = 200


def describe_waiting(count: int) -> str:
    """How many rows wait for review."""
    return f"{count:,} row waits for review" if count == 1 else f"{count:,} rows wait for review"


@click.command("add-traces")
@click.argument("dataset")
@click.option(
    "--from",
    "sources",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    metavar="FILE|DIR",
    help="Exported traces: a file, or a folder with files (repeatable).",
)
@click.option(
    "--where",
    metavar="EXPR",
    help="Only traces that fit, such as 'error or duration_s > 10', \"tags = vip and not input ~ 'test'\".",
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="At most N rows, drawn at random.")
@click.option("--seed", default="0", show_default=True, metavar="TEXT", help="The same seed draws the same rows.")
@click.option(
    "--similarity",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    metavar="RATIO",
    help="Least similarity of inputs that are merged; 1 merges equal inputs only.",
)
@click.option(
    "--redact",
    "kinds",
    type=click.Choice((_ALL, *PERSONAL_DATA)),
    multiple=True,
    help=f"Replace personal data of this kind, {_ALL}: of all kinds (repeatable). Secrets are always replaced.",
)
@click.option(
    "--output-as",
    "output",
    default="recorded_output",
    show_default=True,
    metavar="COLUMN",
    help="Column for the recorded output, such as `expected`.",
)
@click.option("--skip-bad", is_flag=True, help="Add the other traces if records can't be read.")
def command(
    dataset: str,
    sources: Sequence[Path],
    where: str | None,
    sample: int | None,
    seed: str,
    similarity: float,
    kinds: Sequence[str],
    output: str,
    *,
    skip_bad: bool,
) -> None:
    """Add exported traces as rows that wait for review before they become rows of DATASET.

    Reads OTLP (JSON, JSON lines, protobuf; the conventions for generative AI and OpenInference) and exports of
    Langfuse, LangSmith, Phoenix and Braintrust (JSON, JSON lines, CSV, Parquet), also gzipped. A row has the columns
    `input`, `recorded_output`, `trajectory` and `source`. Near duplicates are merged. If a record can't be read,
    nothing is added. `scoregate review --dataset DATASET` shows the rows; those that are kept become a version.
    """
    from scoregate.datasets.candidates import check_columns, find_dataset, list_known_rows
    from scoregate.trace_files.files import list_files
    from scoregate.trace_files.filter import parse_condition
    from scoregate.trace_files.rows import INPUT, SOURCE, TRAJECTORY, KnownRows, RowOptions, collect_rows

    _check_names(dataset, output, (INPUT, SOURCE, TRAJECTORY))
    options = RowOptions(redact=_make_redactor(kinds), output=output, similarity=similarity, sample=sample, seed=seed)
    if where is not None:
        options = _replace_condition(options, parse_condition(where))
    store = open_store()
    check_columns(find_dataset(store, dataset), (INPUT, output, TRAJECTORY, SOURCE))
    listings = [list_files(_shorten(source)) for source in sources]
    files = list(dict.fromkeys(path for paths, _ in listings for path in paths))
    result = collect_rows(files, KnownRows(*list_known_rows(store, dataset)), options)
    _report_problems(result.problems, skip_bad=skip_bad, is_all=not result.traces)
    if result.candidates:
        add_candidates(store, dataset, result.candidates)
    others = sum(count for _, count in listings)
    _print_counts(dataset, len(files), others, result)
    if waiting := count_waiting(store, dataset):
        print_line(f"{dataset}: {describe_waiting(waiting)}: scoregate review --dataset {shlex.quote(dataset)}")


def _check_names(dataset: str, output: str, columns: Sequence[str]) -> None:
    from scoregate.datasets.files import READERS

    if not dataset.strip() or len(dataset) > _LONGEST_NAME:
        raise UsageError(f"a dataset needs a name of at most {_LONGEST_NAME} characters, not {dataset!r:.60}")
    if dataset.lower().endswith(tuple(READERS)):
        raise UsageError(
            f"a dataset can't be called {dataset!r:.60}: in a suite, data={dataset!r:.60} is a file",
            advice=f"Choose a name that does not end in {', '.join(READERS)}.",
        )
    if not output.strip() or output in columns:
        raise UsageError(f"--output-as {output!r:.60}: name a column other than {', '.join(columns)}")


def _replace_condition(options: RowOptions, condition: Callable[..., bool]) -> RowOptions:
    from dataclasses import replace

    return replace(options, condition=condition)


def _make_redactor(kinds: Sequence[str]) -> Callable[[str], str]:
    """The function that removes the secrets of the environment, texts in the form of tokens, and personal data.

    Raises:
        MissingExtra: the package for personal data is not installed.
    """
    remove_secrets = make_redactor()
    if not kinds:
        return remove_secrets
    from scoregate.scorers.pii import mask_personal_data

    wanted = PERSONAL_DATA if _ALL in kinds else tuple(dict.fromkeys(kinds))
    try:
        mask_personal_data("", wanted)  # fails without the package, before any file is read
    except MissingExtra as error:
        raise MissingExtra(
            "--redact needs the package python-stdnum, which is not installed", advice=error.advice
        ) from None
    return lambda text: mask_personal_data(remove_secrets(text), wanted)


def _shorten(source: Path) -> Path:
    """The path relative to the working directory, if it is below: the store is committed, and others read it."""
    cwd = Path.cwd()
    return source.relative_to(cwd) if source.is_relative_to(cwd) else source


def _report_problems(problems: Sequence[tuple[str, str]], *, skip_bad: bool, is_all: bool) -> None:
    if not problems:
        return
    redact = make_redactor()
    lines = [redact(f"{place}: {problem}") for place, problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        lines.append(f"and {len(problems) - _MOST_PROBLEMS:,} more")
    if not skip_bad:
        raise UsageError("\n".join(lines), advice="Nothing was added. Correct the files, or use --skip-bad.")
    if is_all:
        raise UsageError("\n".join(["no trace can be read:", *lines]), advice="Nothing was added. Correct the files.")
    for line in lines:
        print_line(f"skipped: {line}")


def _print_counts(dataset: str, files: int, others: int, result: CollectedRows) -> None:
    counts = (
        (result.merged, "merged into one of them"),
        (result.known, "known already"),
        (result.filtered, "filtered out by --where"),
        (result.left_by_sample, "left out by --sample"),
        (result.without_input, "without an input"),
    )
    new = len(result.candidates)
    parts = [
        f"{new:,} new {'row' if new == 1 else 'rows'}",
        *(f"{count:,} {title}" for count, title in counts if count),
    ]
    traces = f"{result.traces:,} {'trace' if result.traces == 1 else 'traces'}"
    print_line(f"{dataset}: {traces} in {files:,} {'file' if files == 1 else 'files'}: {', '.join(parts)}")
    notes = (
        (len(result.problems), "record that can't be read", "records that can't be read"),
        (result.repeated, "record that repeats another one", "records that repeat another one"),
        (others, "other file in the folder, which was not read", "other files in the folders, which were not read"),
    )
    for count, one, several in notes:
        if count:
            print_line(f"{dataset}: {count:,} {one if count == 1 else several}")
    if result.is_exact:
        print_line("note: only equal inputs were merged: rapidfuzz is not installed (pip install 'scoregate[scorers]')")
