"""What `overrides` and `verdicts` share: the reviewer's name, selecting, listing, import and export."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import anyio
import click

from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.text_output import format_day, print_json, print_line, print_table
from scoregate.errors import RecordError, UsageError
from scoregate.kernel.host import git
from scoregate.kernel.judge.archive import RUN_FILE, RUN_FOLDER, read_head
from scoregate.kernel.types.evaluation import EvaluationOverride
from scoregate.kernel.types.event_values import Choice, EvaluatorInfo
from scoregate.store import JUDGES, OVERRIDES, Override, Store, open_store
from scoregate.store.kinds import Kind
from scoregate.store.review_records import ReviewRecord, age_key, remove_items, upsert
from scoregate.store.review_tables import export_items, import_items, is_table

S = TypeVar("S", bound=ReviewRecord)


def reviewer_name(by: str | None) -> str:
    """The name of the reviewer: the one given, else git's user.name."""
    return by if by is not None else anyio.run(git.user_name, Path.cwd()) or ""


def missing_reviewer() -> UsageError:
    """The error for a review without a reviewer's name."""
    advice = "Name yourself with --by or SCOREGATE_REVIEWER."
    return UsageError("no reviewer name: git user.name is not set", advice=advice)


def select_reviews(store: Store, kind: Kind[S], glob: str | None) -> list[tuple[str, list[S]]]:
    """Select the evaluators whose ids match, each with its reviews, the oldest first.

    Raises:
        UsageError: there are reviews, but none match the pattern.
        StoreError: the reviews can't be read.
    """
    names = [key[0] for key in store.list_keys(kind)]
    selected = [name for name in names if glob is None or fnmatchcase(name, glob)]
    if names and not selected:
        raise UsageError(f"no {kind.name} for a scorer {glob!r}", advice=f"There are some for {', '.join(names)}.")
    return [(name, sorted(store.read(kind, (name,)), key=age_key)) for name in selected]


def print_reviews(
    by_evaluator: Sequence[tuple[str, list[S]]],
    columns: dict[str, Callable[[S], str]],
    *,
    what: str,
    as_json: bool,
    numbers: Collection[str] = (),
) -> None:
    """Print reviews as a table, with the columns `numbers` right-aligned, or as JSON with every field."""
    reviews = [(name, item) for name, items in by_evaluator for item in items]
    if as_json:
        print_json({"evaluator": name, **item.model_dump(mode="json")} for name, item in reviews)
        return
    headings = ("scorer", "id", *columns, "by", "when")
    rows = (
        (name, item.id, *(read(item) for read in columns.values()), item.by, format_day(item.created_at))
        for name, item in reviews
    )
    places = [place for place, heading in enumerate(headings) if heading in numbers]
    print_table(headings, rows, numbers=places, nothing=f"There are no {what}.")


_REMOVE_HELP = (
    "Remove the reviews of SCORER with these IDs, all or none. `list` shows the IDs; a unique prefix is enough."
)


def import_command(
    kind: Kind[S],
    columns: str,
    *,
    check: Callable[[str, Sequence[S]], None] | None = None,
) -> click.Command:
    """Create the command `import`.

    Args:
        kind: the kind of review.
        columns: the columns and keys, for the help.
        check: raises an error if a review is not valid for its evaluator.
    """

    @click.command(
        "import",
        help=f"""Import reviews from FILE (.jsonl, .csv; - for JSON lines on stdin), all, or none if one is invalid.

        Columns or keys: {columns}.""",
    )
    @click.argument("evaluator", metavar="SCORER")
    @click.argument("file")
    def command(evaluator: str, file: str) -> None:
        table = _is_table_file(file)
        items = import_items(_read_file(file), kind, origin="standard input" if file == "-" else file, table=table)
        if check is not None:
            check(evaluator, items)
        store = open_store()
        result = upsert(store, kind, (evaluator,), items)
        where = store.location(kind, (evaluator,))
        print_line(f"{result.added} added, {result.changed} changed, {result.unchanged} unchanged, in {where}")

    return command


def remove_command(kind: Kind[S]) -> click.Command:
    """Create the command `remove`."""

    @click.command("remove", help=_REMOVE_HELP)
    @click.argument("evaluator", metavar="SCORER")
    @click.argument("ids", nargs=-1, required=True, metavar="ID...")
    def command(evaluator: str, ids: tuple[str, ...]) -> None:
        store = open_store()
        removed = remove_items(store, kind, (evaluator,), ids)
        print_line(f"{len(removed)} removed from {store.location(kind, (evaluator,))}")

    return command


def export_command(kind: Kind[S]) -> click.Command:
    """Create the command `export`."""

    @click.command("export")
    @click.argument("evaluator", metavar="SCORER")
    @click.argument("file", default="-")
    def command(evaluator: str, file: str) -> None:
        """Write the reviews of SCORER to FILE (.jsonl or .csv); default: JSON lines to stdout."""
        table, store = _is_table_file(file), open_store()
        items = sorted(store.read(kind, (evaluator,)), key=age_key)
        if not items:
            raise UsageError(f"there are no {kind.name} for {evaluator!r} in {store.location(kind, (evaluator,))}")
        data = export_items(items, kind, table=table)
        if file == "-":
            click.echo(data, nl=False)
            return
        try:
            Path(file).write_bytes(data)
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror}") from None
        print_line(f"{file}: {kind.name}: {len(items)}")

    return command


def _is_table_file(file: str) -> bool:
    return file != "-" and is_table(file)


def _read_file(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


_MAX_PROBLEMS = 20
_LIKENESS = 0.8


def check_evaluator_name(evaluator: str, store: Store) -> None:
    """Check that the name of an evaluator isn't misspelled. A name that is like no known one is accepted.

    Raises:
        UsageError: a similar name is known from the last run, the judges or the reviews, but not this one.
    """
    suites = _load_last_evaluators()
    known = {name for evaluators in suites for name in evaluators}
    known |= {key[0] for key in (*store.list_keys(OVERRIDES), *store.list_keys(JUDGES))}
    if evaluator not in known and (near := get_close_matches(evaluator, sorted(known), 1, _LIKENESS)):
        raise UsageError(
            f"there is no scorer {evaluator!r:.200}; did you mean {near[0]!r:.200}?",
            advice="Correct the name, or add --new if it is a new scorer.",
        )


def check_overrides(evaluator: str, overrides: Sequence[EvaluationOverride | Override]) -> None:
    """Check that corrected scores are among the choices of a judge. A correction of a score that the judge can no
    longer give gets a note only, since it belongs to an earlier judge.

    Raises:
        UsageError: a corrected score is not among the choices.
    """
    from scoregate.web.review_items import chosen_score, format_choices, is_choice

    choices = _known_choices(evaluator)
    if not choices:
        return
    wrong = []
    for number, each in enumerate(overrides, 1):
        if is_choice(each.original_score, choices):
            try:
                chosen_score(each.override_score, each.original_score, choices, evaluator=evaluator)
            except UsageError as error:
                wrong.append(f"number {number}: {error.message}" if len(overrides) > 1 else error.message)
    if wrong:
        more = [f"and {len(wrong) - _MAX_PROBLEMS} more"] if len(wrong) > _MAX_PROBLEMS else []
        raise UsageError("\n".join([*wrong[:_MAX_PROBLEMS], *more]), advice="Nothing was written.")
    if others := [each.original_score for each in overrides if not is_choice(each.original_score, choices)]:
        shown = ", ".join(f"{score:g}" for score in dict.fromkeys(others[:_MAX_PROBLEMS]))
        known = format_choices(choices)
        print_line(f"note: in the last run {evaluator} chooses among {known}; some corrected scores are not: {shown}")


def _known_choices(evaluator: str) -> tuple[Choice, ...]:
    from scoregate.web.review_items import known_choices

    return known_choices(evaluator, _load_last_evaluators())


def _load_last_evaluators() -> list[Mapping[str, EvaluatorInfo]]:
    """The evaluators of each suite of the last run; none without a run."""
    root = project_root()
    try:
        head = read_head(root / load_project_settings(root, {}).out / RUN_FOLDER / RUN_FILE)
    except RecordError:
        return []
    return [suite.evaluators for suite in head.suites]
