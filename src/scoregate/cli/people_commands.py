"""The commands that hold people's words have these in common: import, remove, export."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from scoregate.cli.listing import say
from scoregate.errors import UsageError
from scoregate.store import open_store
from scoregate.store.exchange import exported, imported, is_table
from scoregate.store.kinds import Kind
from scoregate.store.words import Said, age, keep, remove

S = TypeVar("S", bound=Said)
_REMOVE = "Take away those of EVALUATOR with these IDs, all or none. `list` shows ids; their unique beginnings will do."


def _nothing_wrong(_evaluator: str, _items: Sequence[Said]) -> None:
    """Nobody knows better."""


def import_command(
    kind: Kind[S], columns: str, *, check: Callable[[str, Sequence[S]], None] = _nothing_wrong
) -> click.Command:
    """The command `import`.

    Args:
        columns: tells which there may be. check: raises where something in a file cannot be said of an evaluator.
    """

    @click.command(
        "import",
        help=f"""Add those of FILE, .jsonl or .csv (- for JSON lines on standard input); all, or none if one is wrong.

        Columns or keys: {columns}.""",
    )
    @click.argument("evaluator")
    @click.argument("file")
    def command(evaluator: str, file: str) -> None:
        table = _is_table(file)
        items = imported(_bytes(file), kind, origin="standard input" if file == "-" else file, table=table)
        check(evaluator, items)
        store = open_store()
        kept = keep(store, kind, (evaluator,), items)
        where = store.where(kind, (evaluator,))
        say(f"{kept.added} added, {kept.changed} changed, {kept.known} known before, in {where}")

    return command


def remove_command(kind: Kind[S]) -> click.Command:
    """The command `remove`."""

    @click.command("remove", help=_REMOVE)
    @click.argument("evaluator")
    @click.argument("ids", nargs=-1, required=True, metavar="ID...")
    def command(evaluator: str, ids: tuple[str, ...]) -> None:
        store = open_store()
        removed = remove(store, kind, (evaluator,), ids)
        say(f"{len(removed)} removed from {store.where(kind, (evaluator,))}")

    return command


def export_command(kind: Kind[S]) -> click.Command:
    """The command `export`."""

    @click.command("export")
    @click.argument("evaluator")
    @click.argument("file", default="-")
    def command(evaluator: str, file: str) -> None:
        """Write them to FILE, .jsonl or .csv; JSON lines to standard output if none is named."""
        table, store = _is_table(file), open_store()
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

    return command


def _is_table(file: str) -> bool:
    return file != "-" and is_table(file)


def _bytes(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
