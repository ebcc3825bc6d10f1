"""Repeats in result files: which trials belong to one case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from scoregate.ci.importers.common import Trial, digest, identify_case, variations

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
    _taken: set[str] = field(default_factory=set)

    def start_run(self) -> None:
        """Start the next test run."""
        self._runs.update(self._trials.keys())
        self._trials.clear()

    def place(self, trial: Trial) -> tuple[str, int]:
        """The key of the trial's case and the number of the trial."""
        definition = digest(trial.definition)
        key = identify_case(trial.key, trial.input) or definition
        repeat = self._trials[key, definition]
        self._trials[key, definition] += 1
        place = (key, definition, self._runs[key, definition])
        if (case := self._cases.get(place)) is None:
            case = self._cases[place] = next(free for free in variations(key) if free not in self._taken)
            self._taken.add(case)
        return case, repeat


class RepeatNames:
    """The names of tests without the number of a repeat.

    A number counts only if the file has all repeats of the test, since other parameters can look like it.
    """

    def __init__(self, names: Iterable[str]) -> None:
        numbers: dict[tuple[str, int], set[int]] = {}
        for name in names:
            if (found := _split(name)) is not None:
                stem, number, of = found
                numbers.setdefault((stem, of), set()).add(number)
        self._complete = {key for key, found in numbers.items() if key[1] > 1 and found == set(range(1, key[1] + 1))}

    def stem(self, name: str) -> str:
        """The name without the number of the repeat."""
        found = _split(name)
        return found[0] if found is not None and (found[0], found[2]) in self._complete else name


def _split(name: str) -> tuple[str, int, int] | None:
    """The name without its suffix, the number of the repeat and the number of repeats; None without such a suffix."""
    if not name.endswith("]") or (match := _SUFFIX.fullmatch(name)) is None:
        return None
    stem = match["stem"] if match["sign"] == "[" else f"{match['stem']}]"
    return stem, int(match["number"]), int(match["of"])
