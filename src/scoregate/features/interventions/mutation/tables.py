"""The parts of files that hold data: rows, and the values of keys."""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from scoregate.features.interventions.mutation.documents import (
    Place,
    find_csv_places,
    find_json_places,
    find_lines_places,
    find_toml_places,
    find_yaml_places,
)
from scoregate.features.interventions.mutation.markdown import find_text_parts
from scoregate.features.interventions.mutation.operators import Change, Operator, apply_changes
from scoregate.features.interventions.mutation.parts import Part, Path, Span, find_removed_lines
from scoregate.kernel.types.records import record
from scoregate.kernel.types.yaml_document import parse_yaml

_DESCRIPTION = "description"
_COMMA = re.compile(r"\s*,\s*")
_BEFORE_ROW = re.compile(r"[ \t]*(?:-[ \t]+)?")
_BLOCK_TEXT = re.compile(r"[|>][^\n]*\n|\"\"\"\n?|'''\n?")


@record
class _Format:
    """A format: its parser, which raises ValueError, and what finds the places of its values."""

    name: str
    parse: Callable[[str], Any]
    find_places: Callable[[str], list[Place]]


# NaN differs from itself, so numbers without a value stay texts.
_parse_json = json.JSONDecoder(parse_constant=str).decode


def _parse_lines(text: str) -> Any:
    return [_parse_json(line) for line in text.split("\n") if line.strip()]


def _parse_toml(text: str) -> Any:
    return tomllib.loads(text, parse_float=lambda number: number if "n" in number else float(number))


def _parse_yaml(text: str) -> Any:
    return parse_yaml(text, "the file").to_plain()


def _parse_csv(text: str, delimiter: str = ",") -> Any:
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error as error:
        raise ValueError(str(error)) from None


_LINES = _Format("JSON Lines", _parse_lines, find_lines_places)
_YAML = _Format("YAML", _parse_yaml, find_yaml_places)
FORMATS: Mapping[str, _Format] = {
    ".json": _Format("JSON", _parse_json, find_json_places),
    ".jsonl": _LINES,
    ".ndjson": _LINES,
    ".toml": _Format("TOML", _parse_toml, find_toml_places),
    ".yaml": _YAML,
    ".yml": _YAML,
    ".csv": _Format("CSV", _parse_csv, find_csv_places),
    ".tsv": _Format("TSV", lambda text: _parse_csv(text, "\t"), find_csv_places),
}


class Table:
    """A file that holds data.

    Raises:
        ValueError: the file can't be parsed; the message is the reason.
    """

    def __init__(self, ending: str, text: str) -> None:
        self._text = text
        self._format = FORMATS[ending]
        try:
            self._content = self._format.parse(text)
            places = self._format.find_places(text)
        except RecursionError:
            raise ValueError(f"its {self._format.name} is nested too deeply") from None
        except ValueError as error:
            raise ValueError(f"it can't be read as {self._format.name}: {error!s:.200}") from None
        self._stored = pickle.dumps(self._content)
        self.parts = sorted(self._make_parts(places), key=lambda each: (each.span[0], -each.span[1]))

    def _make_parts(self, places: Sequence[Place]) -> Iterator[Part]:
        groups: dict[Path, list[Place]] = defaultdict(list)
        for place in places:
            groups[place.path[:-1]].append(place)
        for group in groups.values():
            neighbours = zip([None, *group[:-1]], group, [*group[1:], None], strict=True)
            for before, place, after in neighbours:
                with suppress(LookupError, TypeError):  # a key that is set twice
                    yield from self._make(place, before, after, is_leaf=place.path not in groups)

    def _make(self, place: Place, before: Place | None, after: Place | None, *, is_leaf: bool) -> Iterator[Part]:
        value = _get(self._content, place.path)
        is_text, is_row = isinstance(value, str), isinstance(place.path[-1], int)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if any(isinstance(key, int) for key in place.path[:-1]):
            is_unit = is_text and place.path[-1] == _DESCRIPTION  # of a tool; else the row is the unit
        else:
            is_unit = is_row or is_text or is_number
        block = _BLOCK_TEXT.match(self._text, place.value, place.end) if is_text else None
        inner = find_text_parts(self._text, (block.end(), self._find_block_end(place))) if block else []
        if len([each for each in inner if each.removed]) > 1:
            yield from (replace(each, path=place.path, in_value=True) for each in inner)
        elif is_unit or is_number:
            removed = _find_removed(self._text, place, before, after) if is_unit else None
            text = (place.value, place.end)
            yield Part(
                span=(place.start, place.end),
                removed=removed,
                prose=text if is_leaf else None,
                inner=text if is_text else None,
                empty='""',
                siblings=f"row {place.path[:-1]}" if is_row else "",
                path=place.path,
            )

    def _find_block_end(self, place: Place) -> int:
        """The end of a text of several lines, without the quotes of TOML, and with the last line break of YAML."""
        if self._text[place.value] not in "|>":
            return place.end - 3
        return self._text.find("\n", place.end) + 1 or place.end

    def is_valid(self, changes: Sequence[Change]) -> bool:
        """Whether the file with these changes differs from it in exactly their parts."""
        try:
            new = self._format.parse(apply_changes(self._text, changes))
            old = pickle.loads(self._stored)  # a copy
            paths = [part.path for change in changes for part in change.parts]
            if changes[0].operator == Operator.DELETE and not changes[0].parts[0].in_value:
                for path in reversed(paths):
                    del _get(old, path[:-1])[path[-1]]
            else:
                for path in dict.fromkeys(paths):
                    one, two = _get(old, path[:-1]), _get(new, path[:-1])
                    if one[path[-1]] == two[path[-1]]:
                        return False
                    one[path[-1]] = two[path[-1]] = None
        except (ValueError, LookupError, TypeError, RecursionError):
            return False
        return bool(new == old)


def _get(content: Any, path: Path) -> Any:
    for key in path:
        content = content[key]
    return content


def _find_removed(text: str, place: Place, before: Place | None, after: Place | None) -> Span | None:
    """What is removed with a value: its comma, its line, or all up to the key in the next line."""
    if place.has_commas:
        if comma := _COMMA.match(text, place.end):
            return place.start, comma.end()
        if before is None:
            return place.start, place.end
        return (before.end, place.end) if _COMMA.fullmatch(text, before.end, place.start) else None
    line = text.rfind("\n", 0, place.start) + 1
    prefix = text[line : place.start]
    if not prefix.strip() or (isinstance(place.path[-1], int) and _BEFORE_ROW.fullmatch(prefix)):
        return find_removed_lines(text, line, place.end, (0, len(text)))
    return (place.start, after.start) if after else None
