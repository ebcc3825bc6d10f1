"""Unique labels of the suites of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from scoregate.core.runs.run import SuiteResult


def label_suites(suites: Iterable[SuiteResult]) -> list[str]:
    """Label each suite by its id and parameters; equal labels get the file, if files differ, and a number."""
    suites = list(suites)
    names = [suite_label(suite.id, suite.params) for suite in suites]
    files = [suite.script or (suite.origin.file if suite.origin else "?") for suite in suites]
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


def suite_label(suite: str, params: Mapping[str, Any] | None) -> str:
    """The id of a suite, with its parameters if there are any."""
    if not params:
        return suite
    return f"{suite} [{', '.join(f'{name}={value}' for name, value in params.items())}]"
