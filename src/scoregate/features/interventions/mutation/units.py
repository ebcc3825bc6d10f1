"""The units of a file: its parts, each with what an operator does to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from pathlib import PurePosixPath

from scoregate.features.interventions.edited_trees.edits import Edit
from scoregate.features.interventions.mutation.markdown import find_markdown_parts
from scoregate.features.interventions.mutation.operators import Change, Operator, make_changes
from scoregate.features.interventions.mutation.parts import Part
from scoregate.features.interventions.mutation.python_strings import PythonFile
from scoregate.features.interventions.mutation.tables import FORMATS, Table
from scoregate.features.interventions.mutation.validity import keep_valid
from scoregate.kernel.types.records import record

_MOST_BYTES = 1_000_000
_TEXTS = {".md", ".markdown", ".mdx", ".mdc", ".txt", ".prompt", ".j2", ".jinja", ".jinja2", ".hbs", ".mustache"}
_GENERATED = re.compile(r"@generated\b|\bgenerated (?:by|from|with)\b.*\bdo not (?:edit|modify|change)", re.IGNORECASE)


@record
class Unit:
    """A part of a file, and what an operator does to it.

    Attributes:
        file: relative to the top of the repository, with slashes.
        lines: the first and the last line, from 1.
        text: the unit alone, as the file has it.
        operator: the operator.
        edits: what it does.
        new_text: the unit after it; empty if it is deleted.
    """

    file: str
    lines: tuple[int, int]
    text: str
    operator: Operator
    edits: tuple[Edit, ...]
    new_text: str = ""


class _Skipped(Exception):
    """The file has no units, and why."""


def find_units(
    path: str,
    content: bytes,
    operators: Collection[Operator] = (Operator.DELETE,),
    *,
    requests: Collection[str] = (),
) -> list[Unit]:
    """The units of a file, in the order of their places. A file that `explain_skipped` gives a reason for has none.

    Args:
        path: the file, relative to the top of the repository.
        content: its bytes.
        operators: what is done to its parts.
        requests: texts of prompts that were sent, decoded. Texts in Python code are units if they occur there.
    """
    try:
        text, parts, is_valid = _read(path, content, requests)
    except _Skipped:
        return []
    changes = [*make_changes(text, parts, operators)]
    if is_valid:
        groups = groupby(sorted(changes, key=_group_name), key=_group_name)
        changes = [valid for _, group in groups for valid in keep_valid([*group], is_valid)]
    return _to_units(path, text, changes)


def _group_name(change: Change) -> tuple[str, bool]:
    """What has to be equal in changes that are checked together."""
    return change.operator, change.parts[0].in_value


def explain_skipped(path: str, content: bytes) -> str:
    """Why a file can't have units; empty if it can."""
    try:
        _read(path, content, ())
    except _Skipped as reason:
        return str(reason)
    return ""


def _read(
    path: str, content: bytes, requests: Collection[str]
) -> tuple[str, Sequence[Part], Callable[[Sequence[Change]], bool] | None]:
    """The text of a file, its parts, and what checks changes of it."""
    ending = PurePosixPath(path).suffix.lower()
    if ending not in {*_TEXTS, *FORMATS, ".py"}:
        raise _Skipped(f"files that end in {ending} are not changed" if ending else "its kind is not known")
    if len(content) > _MOST_BYTES:
        raise _Skipped(f"it has more than {_MOST_BYTES:,} bytes")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise _Skipped("it is not UTF-8 text") from None
    if "\0" in text:
        raise _Skipped("it is not text")
    if any(map(_GENERATED.search, text[:2000].split("\n")[:3])):
        raise _Skipped("it is generated")
    if ending in _TEXTS:
        return text, find_markdown_parts(text), None
    try:
        file = PythonFile(text, requests) if ending == ".py" else Table(ending, text)
    except ValueError as error:
        raise _Skipped(str(error)) from None
    return text, file.parts, file.is_valid


def _to_units(path: str, text: str, changes: Sequence[Change]) -> list[Unit]:
    order = [*Operator]
    changes = sorted(changes, key=lambda each: (each.span[0], -each.span[1], order.index(each.operator), each.edits))
    spans = [span for each in changes for span in (each.span, *((start, end) for start, end, _ in each.edits))]
    places = _locate(text, {at for span in spans for at in span})
    units: dict[tuple[Edit, ...], Unit] = {}
    for each in changes:
        start, end = each.span
        edits = tuple(Edit(path, places[a][0], places[b][0], new.encode()) for a, b, new in each.edits)
        lines = places[start][1], places[end][1]
        unit = Unit(path, lines, text[start:end], each.operator, edits, each.apply(text))
        units.setdefault(edits, unit)
    return [*units.values()]


def _locate(text: str, characters: set[int]) -> dict[int, tuple[int, int]]:
    """The byte and the line, from 1, of characters."""
    places, last, byte, line = {}, 0, 0, 1
    for at in sorted(characters):
        piece = text[last:at]
        last, byte, line = at, byte + len(piece.encode()), line + piece.count("\n")
        places[at] = byte, line
    return places
