"""Repeats of a case: Python's SDK tells them by a number behind the hash."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from scoregate.ci.listen.calls import PYTHON
from scoregate.ci.listen.index import Index
from scoregate.core.case import CaseKey

_NUMBERED = re.compile(r"(.+)-(0|[1-9][0-9]{0,8})", re.DOTALL)


def case_keys(index: Index, sdk: str | None) -> list[CaseKey]:
    """The key of each row, of cases that were told by an SDK.

    Of Python's, `H-0` to `H-<n-1>` are repeats of `H` if there are two at least and all of them, `H` is no case itself,
    and all that have a result were given the same input.
    """
    found = _numbered(index) if sdk == PYTHON else {}
    repeats = {row: CaseKey(base, number) for base, numbered in found.items()
               if _are_repeats(index, base, numbered) for number, row in numbered.items()}  # fmt: skip
    return [repeats.get(row) or CaseKey(case) for case, row in index.rows.items()]


def _numbered(index: Index) -> Mapping[str, dict[int, int]]:
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for case, row in index.rows.items():
        if (match := _NUMBERED.fullmatch(case)) is not None:
            found[match[1]][int(match[2])] = row
    return found


def _are_repeats(index: Index, base: str, numbered: Mapping[int, int]) -> bool:
    whole = len(numbered) > 1 and max(numbered) == len(numbered) - 1
    inputs = {index.digests[row] for row in numbered.values() if index.has_result(row)}
    return whole and base not in index.rows and len(inputs) <= 1
