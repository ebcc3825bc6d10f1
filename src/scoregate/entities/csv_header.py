"""The header of a table of tests: which columns there are, and what separates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from scoregate.entities.csv_columns import COLUMNS, OTHER_NAMES, REQUIRED
from scoregate.errors import InvalidTests

_NAMED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table: those that mean something, in their places, None for others; and the others' names."""

    path: Path
    delimiter: str
    columns: tuple[str | None, ...]
    unknown: tuple[str, ...]

    @property
    def separated(self) -> str:
        """By what its cells are separated, in words."""
        return _NAMED[self.delimiter]

    @property
    def notices(self) -> tuple[str, ...]:
        """What people should know before they rely on what was read."""
        return tuple(f"{self.path}:1: {_unknown(name)}" for name in self.unknown)


def read_header(cells: Sequence[str], path: Path, delimiter: str) -> Header:
    """What the first row of a table says.

    Raises:
        InvalidTests: there is none, a required column is missing, or a column comes twice.
    """
    names = [_meant(cell) for cell in cells]
    problems = [f"column {name!r:.60} comes twice" for name in dict.fromkeys(names) if name and names.count(name) > 1]
    problems += [f"there is no column {name}" for name in _missing(names)]
    if problems:
        said = f"{path}:1: "
        raise InvalidTests(
            "\n".join(said + problem for problem in problems[:10]),
            advice=f"The first row names the columns, which are separated by {_NAMED[delimiter]} in this file:"
            f" {', '.join(names):.300}."
            if any(names)
            else "The first row names the columns; there is none.",
        )
    columns = tuple(name if name in COLUMNS else None for name in names)
    return Header(path, delimiter, columns, tuple(name for name in names if name and name not in COLUMNS))


def _meant(cell: str) -> str:
    name = cell.strip()
    plain = name.casefold()
    known = OTHER_NAMES.get(plain, plain)
    return known if known in COLUMNS else name


def _missing(names: Sequence[str]) -> list[str]:
    """A table of conversations needs no prompts."""
    return [name for name in REQUIRED if name not in names and not (name == "prompt_content" and "goal" in names)]


def _unknown(name: str) -> str:
    near = get_close_matches(name, COLUMNS, 1)
    return f"there is no column {name!r:.60} of tests; it is left out" + (f": did you mean {near[0]}?" if near else "")
