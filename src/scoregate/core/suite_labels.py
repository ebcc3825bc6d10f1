"""The labels of suites: a name for each that no other suite of its run has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from scoregate.core.run import SuiteResult


def label_suites(suites: Iterable[SuiteResult]) -> list[str]:
    """A name for each suite: its id and parameters; where they clash, its file if files differ, and a number."""
    suites = list(suites)
    names = [suite_label(suite.id, suite.params) for suite in suites]
    places: defaultdict[str, set[str]] = defaultdict(set)
    for name, suite in zip(names, suites, strict=True):
        places[name].add(_suite_place(suite))
    return _with_numbers(
        f"{name} ({_suite_place(suite)})" if len(places[name]) > 1 else name
        for name, suite in zip(names, suites, strict=True)
    )


def _suite_place(suite: SuiteResult) -> str:
    return suite.script or (suite.origin.file if suite.origin else "?")


def _with_numbers(given: Iterable[str]) -> list[str]:
    """The names, those that come again with a number that makes them names of their own."""
    names = list(given)
    taken = set(names)
    seen: set[str] = set()
    for at, name in enumerate(names):
        if name in seen:
            names[at] = next(free for n in count(2) if (free := f"{name} #{n}") not in taken)
        seen.add(name)
        taken.add(names[at])
    return names


def suite_label(suite: str, params: Mapping[str, Any] | None) -> str:
    """A suite's id, with its parameters where it has any."""
    if not params:
        return suite
    return f"{suite} [{', '.join(f'{name}={value}' for name, value in params.items())}]"
