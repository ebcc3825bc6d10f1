"""What the commands that hold people's words share: who speaks, files in and out, lists."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import anyio
import click

from scoregate.ci import git
from scoregate.cli.listing import day, say, show_json, show_table
from scoregate.errors import UsageError
from scoregate.store import Store, open_store
from scoregate.store.exchange import exported, imported, is_table
from scoregate.store.kinds import Kind
from scoregate.store.words import Said, age, keep, remove

S = TypeVar("S", bound=Said)


def speaker(by: str | None) -> str:
    """Who says it: the name given, else the one that git knows."""
    return by if by is not None else anyio.run(git.user_name, Path.cwd()) or ""


def chosen(store: Store, kind: Kind[S], glob: str | None) -> list[tuple[str, list[S]]]:
    """The evaluators whose ids match, each with what people said, the oldest first.

    Raises:
        UsageError: a glob was given, there is something, and nothing matches.
        StoreError: it cannot be read.
    """
    names = [shelf[0] for shelf in store.shelves(kind)]
    found = [name for name in names if glob is None or fnmatchcase(name, glob)]
    if names and not found:
        raise UsageError(f"no {kind.name} of an evaluator {glob!r}", advice=f"There are some of {', '.join(names)}.")
    return [(name, sorted(store.read(kind, (name,)), key=age)) for name in found]


def show(
    found: Sequence[tuple[str, list[S]]],
    columns: dict[str, Callable[[S], str]],
    *,
    what: str,
    as_json: bool,
    numbers: Collection[str] = (),
) -> None:
    """Print them as a table, in which the columns `numbers` stand on the right, or as JSON with every field."""
    said = [(name, item) for name, items in found for item in items]
    if as_json:
        show_json({"evaluator": name, **item.model_dump(mode="json")} for name, item in said)
        return
    headings = ("evaluator", "id", *columns, "by", "when")
    rows = (
        (name, item.id, *(read(item) for read in columns.values()), item.by, day(item.created_at))
        for name, item in said
    )
    places = [place for place, heading in enumerate(headings) if heading in numbers]
    show_table(headings, rows, numbers=places, nothing=f"There are no {what}.")


def take_in(kind: Kind[S], evaluator: str, file: str) -> None:
    """Import a file, `-` for JSON lines on standard input, and tell how much was new.

    Raises:
        StoreError: something in it is wrong; nothing was imported.
        UsageError: it cannot be read.
    """
    table = file != "-" and is_table(file)
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    items = imported(data, kind, origin="standard input" if file == "-" else file, table=table)
    store = open_store()
    kept = keep(store, kind, (evaluator,), items)
    say(f"{kept.added} added, {kept.changed} changed, {kept.known} known before, in {store.where(kind, (evaluator,))}")


def take_out(kind: Kind[S], evaluator: str, ids: Sequence[str]) -> None:
    """Remove those of these ids, and tell.

    Raises:
        StoreError: an id is that of none or of several, and nothing was removed; or it cannot be written.
    """
    store = open_store()
    removed = remove(store, kind, (evaluator,), ids)
    say(f"{len(removed)} removed from {store.where(kind, (evaluator,))}")


def give_out(kind: Kind[S], evaluator: str, file: str) -> None:
    """Export to a file, `-` for JSON lines on standard output.

    Raises:
        StoreError: they cannot be read. UsageError: there are none, or the file cannot be written.
    """
    table = file != "-" and is_table(file)
    store = open_store()
    items = sorted(store.read(kind, (evaluator,)), key=age)
    if not items:
        raise UsageError(f"there are no {kind.name} of {evaluator!r} in {store.where(kind, (evaluator,))}")
    data = exported(items, kind, table=table)
    if file == "-":
        click.echo(data, nl=False)
        return
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from None
    say(f"{file}: {kind.name}: {len(items)}")
