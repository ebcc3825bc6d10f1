"""Unique labels of the suites of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.suite import TARGET


def label_suites(suites: Iterable[SuiteResult]) -> list[str]:
    """Label each suite by its id and parameters; equal labels get the file, if files differ, and a number.

    The target of a suite is shown only if the suite runs against several, so that its label stays if it is renamed.
    """
    suites = list(suites)
    files = [suite.script or (suite.origin.file if suite.origin else "?") for suite in suites]
    names = [suite_label(suite.id, suite.params) for suite in suites]
    counts = Counter(zip(names, files, strict=True))
    names = [
        suite_label(suite.id, suite.params, shows_target=True) if counts[name, file] > 1 else name
        for name, file, suite in zip(names, files, suites, strict=True)
    ]
    files_by_name: defaultdict[str, set[str]] = defaultdict(set)
    for name, file in zip(names, files, strict=True):
        files_by_name[name].add(file)
    labels = [
        f"{name} ({file})" if len(files_by_name[name]) > 1 else name for name, file in zip(names, files, strict=True)
    ]
    used, previous = set(labels), set[str]()
    for index, label in enumerate(labels):
        if label in previous:
            labels[index] = next(free for n in count(2) if (free := f"{label} #{n}") not in used)
        previous.add(label)
        used.add(labels[index])
    return labels


def suite_label(suite: str, params: Mapping[str, Any] | None, *, shows_target: bool = False) -> str:
    """The id of a suite, with its parameters if there are any.

    Args:
        suite: the id.
        params: the parameters.
        shows_target: whether the parameter `target` is shown, too.
    """
    shown = [f"{name}={value}" for name, value in (params or {}).items() if shows_target or name != TARGET]
    return f"{suite} [{', '.join(shown)}]" if shown else suite
