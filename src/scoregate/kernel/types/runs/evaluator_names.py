"""Names of evaluators in runs of older versions.

The name of a lambda is its expression. Older versions took it from the source, with its white space, quotes and
brackets, so the same lambda may have another name in a baseline.
"""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, SuiteResult

# No name of a lambda is longer, so a parser never sees a longer text of an untrusted run.
_LONGEST = 60
_CUT = "…"
_LAYOUT = dict.fromkeys(map(ord, " '\"(),\\"))
_SHORTEST_START = 20
_Names = Mapping[str, str]
# The columns that have a value for each evaluator.
BY_EVALUATOR = (
    "scores",
    "labels",
    "failed",
    "judged",
    "errored",
    "unscaled",
    "answers",
    "unscored_counts",
    "deferred",
    "thresholds",
    "other_thresholds",
)


def rename_base_evaluators(run: Run, base: Run) -> Run:
    """Give the evaluators of a baseline the names that the same expressions have in the run.

    Only names are paired that one of both runs has alone. The same run is returned if no name changes.

    Args:
        run: the run.
        base: the baseline, or another run that it is compared with.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for suite in run.suites:
        known[suite.id].update(suite.evaluators)
    names = [pair_names(known.get(suite.id, ()), suite.evaluators) for suite in base.suites]
    if not any(names):
        return base
    suites = tuple(_rename_suite(suite, each) for suite, each in zip(base.suites, names, strict=True))
    by_label = {suite.label: each for suite, each in zip(base.suites, names, strict=True)}
    histories = {
        label: replace(each, scores=_rename_keys(each.scores, by_label.get(label, {})))
        for label, each in base.history.suites.items()
    }
    return replace(
        base,
        suites=suites,
        companions=base.change_companions(lambda each: rename_base_evaluators(run, each)),
        history=replace(base.history, suites=histories),
        read=_rename_read(base.read, lambda index: names[index]),
    )


def pair_names(names: Iterable[str], base_names: Iterable[str]) -> dict[str, str]:
    """The new name of each evaluator of a baseline that has one; two evaluators never get the same name.

    Args:
        names: the names in the run.
        base_names: the names in the baseline.
    """
    wanted, given = set(names), set(base_names)
    new, old = wanted - given, given - wanted
    pairs = {}
    for name in old:
        matches = [each for each in new if _is_same_expression(name, each)]
        if len(matches) == 1 and sum(_is_same_expression(other, matches[0]) for other in old) == 1:
            pairs[name] = matches[0]
    return pairs


def _is_same_expression(old: str, new: str) -> bool:
    """Whether two names are the same expression. Of names that were cut, only the beginnings can be compared."""
    if len(old) > _LONGEST or len(new) > _LONGEST:
        return False
    if _CUT in (old[-1:], new[-1:]):
        starts = [name.removesuffix(_CUT).translate(_LAYOUT) for name in (old, new)]
        shorter = min(map(len, starts))
        return shorter >= _SHORTEST_START and starts[0][:shorter] == starts[1][:shorter]
    return (tree := _parse(old)) is not None and tree == _parse(new)


def _parse(name: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an invalid escape in a text
            return ast.dump(ast.parse(name, mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _rename_suite(suite: SuiteResult, names: _Names) -> SuiteResult:
    if not names:
        return suite
    columns: dict[str, Any] = {each: _rename_keys(getattr(suite.columns, each), names) for each in BY_EVALUATOR}
    return replace(
        suite,
        evaluators=_rename_keys(
            {name: replace(info, id=names.get(name, name)) for name, info in suite.evaluators.items()}, names
        ),
        trials=replace(
            suite.trials,
            columns=replace(suite.columns, **columns),
            read=_rename_read(suite.trials.read, lambda _: names),
        ),
    )


def _rename_keys(values: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}


def _rename_read(
    read: Callable[[], Iterable[CaseResult]] | None, names_of: Callable[[int], _Names]
) -> Callable[[], Iterable[CaseResult]] | None:
    """Rename the evaluators of the cases that are read; `names_of` returns the names of a suite by its index."""
    if read is None:
        return None

    def cases() -> Iterator[CaseResult]:
        for case in read():
            names = names_of(case.suite)
            yield _rename_case(case, names) if names else case

    return cases


def _rename_case(case: CaseResult, names: _Names) -> CaseResult:
    return replace(
        case,
        evaluations=_rename_keys(case.evaluations, names),
        errors=[
            each if each.evaluator is None else replace(each, evaluator=names.get(each.evaluator, each.evaluator))
            for each in case.errors
        ],
        unscored=tuple(names.get(name, name) for name in case.unscored),
        pending=tuple(names.get(name, name) for name in case.pending),
        labels=_rename_keys(case.labels, names),
        contests=_rename_keys(case.contests, names),
    )
