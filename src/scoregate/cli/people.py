"""What the commands that hold people's words share: who speaks, which words, and how they are listed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import anyio

from scoregate.ci import git
from scoregate.cli.listing import day, show_json, show_table
from scoregate.errors import UsageError
from scoregate.store import Store
from scoregate.store.kinds import Kind
from scoregate.store.words import Said, age

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
