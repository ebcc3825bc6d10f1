"""What is wrong with a file of cases: problems with their lines, and fields that have no effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from scoregate.kernel.types.json_io import dump, to_plain

_LONGEST_SHOWN = 80
_MOST_PROBLEMS = 20
_MOST_SHOWN = 5
_ALMOST_EQUAL = 0.8
_MOST_NAMES = 1_000


class CaseFindings:
    """Collects the problems of a file, and its fields without an effect.

    Attributes:
        problems: what is wrong, each with its place.
    """

    def __init__(self, shown: str) -> None:
        """Start without findings.

        Args:
            shown: the path of the file in messages.
        """
        self.problems: list[str] = []
        self._shown = shown
        self._unused: dict[str, str] = {}
        self._meant: dict[str, str] = {}

    def add(self, line: int, problem: str, shown: str = "") -> None:
        """Add a problem; in another file than the first with `shown`."""
        self.problems.append(f"{shown or self._shown}:{line}: {problem}")

    def check_names(self, line: int, names: Iterable[str], known: Collection[str], shown: str = "") -> None:
        """Collect the fields that are not known. One that is almost a known one is a problem."""
        for name in names:
            if name in known:
                continue
            if meant := self.find_similar_name(name, known):
                self.add(line, f"there is no field {show(name)}; do you mean {meant}?", shown)
                continue
            self.add_unused(line, name, shown)

    def add_unused(self, line: int, name: str, shown: str = "") -> None:
        """Add a field that has no effect. Only its first place counts."""
        self._unused.setdefault(name, f"line {line}" if shown in ("", self._shown) else f"{shown}:{line}")

    def find_similar_name(self, name: str, known: Collection[str]) -> str:
        """The known field that a name is almost the same as; empty if there is none, or after very many names."""
        plain = name[:_LONGEST_SHOWN].casefold().replace("-", "_")
        if plain not in self._meant and len(self._meant) < _MOST_NAMES:
            self._meant[plain] = "".join(get_close_matches(plain, sorted(known), n=1, cutoff=_ALMOST_EQUAL))
        return self._meant.get(plain, "")

    def list_problems(self) -> tuple[str, ...]:
        """The first problems, and the number of the others."""
        more = len(self.problems) - _MOST_PROBLEMS
        rest = [f"{more:,} more problems in {self._shown}"] if more > 0 else []
        return (*self.problems[:_MOST_PROBLEMS], *rest)

    def list_notices(self) -> Iterator[str]:
        """A text about the fields that have no effect."""
        if self._unused:
            names = [f"{name[:40]!r} ({place})" for name, place in list(self._unused.items())[:_MOST_SHOWN]]
            more = f" and {len(self._unused) - _MOST_SHOWN} more" if len(self._unused) > _MOST_SHOWN else ""
            yield f"{self._shown}: these fields have no effect: {', '.join(names)}{more}"


def show(value: Any) -> str:
    """A value in a message, shortened."""
    text = dump(to_plain(value)).decode()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
