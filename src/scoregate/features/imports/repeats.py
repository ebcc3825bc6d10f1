"""Repeats in result files: which trials belong to one case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from scoregate.features.imports.common import FreeNames, Trial
from scoregate.kernel.types.identity import digest

# As pytest-repeat names the second of three repeats: `test_a[2-3]`, or `test_a[x-2-3]` of a parametrised test.
_SUFFIX = re.compile(r"(?P<stem>.*?)(?P<sign>[\[-])(?P<number>\d{1,5})-(?P<of>\d{1,5})\]", re.DOTALL)


@dataclass(slots=True)
class Repeats:
    """Gives equal trials of one test run the key of one case and different numbers.

    Trials are equal if their keys and definitions are. A case that several test runs of a command have is a different
    case in each, since their settings may differ.
    """

    _cases: dict[tuple[str, str, int], str] = field(default_factory=dict)
    _trials: Counter[tuple[str, str]] = field(default_factory=Counter)
    _runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _names: FreeNames = field(default_factory=FreeNames)

    def start_run(self) -> None:
        """Start the next test run."""
        self._runs.update(self._trials.keys())
        self._trials.clear()

    def place(self, trial: Trial, key: str) -> tuple[str, int]:
        """The final key of the trial's case and the number of the trial."""
        definition = digest(trial.definition)
        repeat = self._trials[key, definition]
        self._trials[key, definition] += 1
        place = (key, definition, self._runs[key, definition])
        if (case := self._cases.get(place)) is None:
            case = self._cases[place] = self._names.take(key)
        return case, repeat


class RepeatNames:
    """The names of tests without the number of a repeat.

    A number counts only if every test has all its repeats, and all the same number of them: other parameters, such as
    `[1-2]` and `[2-2]`, look like repeats.
    """

    def __init__(self, names: Iterable[str]) -> None:
        numbers: dict[str, set[int]] = {}
        counts = set[int]()
        for name in names:
            stem, number, of = _split(name) or ("", 0, 0)
            numbers.setdefault(stem, set()).add(number)
            counts.add(of)
        of = counts.pop() if len(counts) == 1 else 0
        self._are_repeated = of > 1 and all(each == set(range(1, of + 1)) for each in numbers.values())

    def stem(self, name: str) -> str:
        """The name without the number of the repeat."""
        split_name = _split(name) if self._are_repeated else None
        return name if split_name is None else split_name[0]


def _split(name: str) -> tuple[str, int, int] | None:
    """The name without its suffix, the number of the repeat and the number of repeats; None without such a suffix."""
    if not name.endswith("]") or (match := _SUFFIX.fullmatch(name)) is None:
        return None
    stem = match["stem"] if match["sign"] == "[" else f"{match['stem']}]"
    return stem, int(match["number"]), int(match["of"])
