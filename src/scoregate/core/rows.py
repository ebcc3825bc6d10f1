"""One row of a comparison: an evaluator of a suite against the same one in the base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import isnan

from scoregate.core.case import Status
from scoregate.core.columns import Columns
from scoregate.core.events import EvaluatorInfo, Fingerprint
from scoregate.core.record import SuiteResult
from scoregate.core.stats import sign_test

ALPHA = 0.05
MIN_EFFECT = 0.01
FEW = 10


class Label(StrEnum):
    """What a row comes to; the first that applies, in this order."""

    UNMEASURABLE = "unmeasurable"
    NOT_COMPARABLE = "not comparable"
    NEW = "new"
    REMOVED = "removed"
    TOO_FEW = "too few"
    UNCHANGED = "unchanged"
    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    NOISE = "within noise"


@dataclass(frozen=True, slots=True)
class Row:
    """One evaluator of one suite. Scores and `delta` (run − base) are in [0, 1]; counts are of cases.

    `n` pairs were compared; `better` and `worse` of them differ. `dropped` pairs had an error on one side;
    `added`, `removed` and `changed` cases have no counterpart or another definition under the same hash.
    `low` and `high` bound delta with 95 % confidence; `detectable` is the smallest effect that could be seen.
    """

    suite: str
    evaluator: str
    label: Label
    mean: float | None = None
    base: float | None = None
    delta: float | None = None
    n: int = 0
    better: int = 0
    worse: int = 0
    p: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    dropped: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    reason: str = ""
    higher_is_better: bool = True


def new_rows(suite: SuiteResult, reason: str) -> Iterator[Row]:
    """The rows of a suite that the base does not have."""
    for name, info in suite.evaluators.items():
        mean = suite.mean(name)
        label = Label.UNMEASURABLE if mean is None else Label.NEW
        yield Row(suite.label, name, label, mean, reason=reason, higher_is_better=info.higher_is_better)


def paired_row(suite: SuiteResult, old: SuiteResult, name: str) -> Row:
    """The row of an evaluator that the suite or its base has."""
    mean, base = suite.mean(name), old.mean(name)
    if name not in suite.evaluators:
        return Row(suite.label, name, Label.REMOVED, base=base, reason="this evaluator is gone")
    info = suite.evaluators[name]
    if mean is None:
        reason = "no case has a score" if len(suite.columns) else "no case was run"
        return Row(suite.label, name, Label.UNMEASURABLE, None, base, reason=reason)
    if name not in old.evaluators or base is None:
        return Row(suite.label, name, Label.NEW, mean, reason="no base score of this evaluator yet")
    if change := what_changed(info, old.evaluators[name]):
        return Row(suite.label, name, Label.NOT_COMPARABLE, mean, base, reason=change)
    return _compared(suite, old, name, info.higher_is_better)


def _compared(suite: SuiteResult, old: SuiteResult, name: str, higher_is_better: bool) -> Row:
    new_means, new_missing = _case_means(suite.columns, name)
    old_means, old_missing = _case_means(old.columns, name)
    shared = new_means.keys() & old_means.keys()
    sign = 1 if higher_is_better else -1
    differences = [new_means[case] - old_means[case] for case in shared]
    better = sum(1 for d in differences if d * sign > 0)
    worse = sum(1 for d in differences if d * sign < 0)
    delta = sum(differences) / len(differences) if differences else None
    p = sign_test(better, worse) if differences else None
    new_cases, old_cases = set(suite.columns.hashes), set(old.columns.hashes)
    return Row(
        suite.label,
        name,
        _label(delta, p, better, worse, len(shared), sign),
        suite.mean(name),
        old.mean(name),
        delta,
        len(shared),
        better,
        worse,
        p,
        dropped=len((new_missing | old_missing) & new_cases & old_cases),
        added=len(new_cases - old_cases),
        removed=len(old_cases - new_cases),
        changed=_changed(suite.columns, old.columns),
        higher_is_better=higher_is_better,
    )


def _label(delta: float | None, p: float | None, better: int, worse: int, n: int, sign: int) -> Label:
    if delta is None or p is None:
        return Label.NEW
    if n < FEW:
        return Label.TOO_FEW
    if not better and not worse:
        return Label.UNCHANGED
    if p <= ALPHA and abs(delta) >= MIN_EFFECT:
        return Label.BETTER if delta * sign > 0 else Label.WORSE
    return Label.NOISE


def _case_means(columns: Columns, evaluator: str) -> tuple[dict[str, float], set[str]]:
    """The mean over the valid repeats of each case, and the cases that have none because of an error."""
    sums: dict[str, tuple[float, int]] = {}
    for row, score in enumerate(columns.scores.get(evaluator, ())):
        if not isnan(score):
            total, count = sums.get(columns.hashes[row], (0.0, 0))
            sums[columns.hashes[row]] = (total + score, count + 1)
    errored = {columns.hashes[row] for row in columns.errored.get(evaluator, ())}
    errored |= {case for row, case in enumerate(columns.hashes) if columns.status(row) is Status.ERRORED}
    return {case: total / count for case, (total, count) in sums.items()}, errored - sums.keys()


def _changed(new: Columns, old: Columns) -> int:
    digests = dict(zip(old.hashes, old.digests, strict=True))
    return len(
        {
            case
            for case, digest in zip(new.hashes, new.digests, strict=True)
            if digest and digests.get(case, digest) not in ("", digest)
        }
    )


def what_changed(new: EvaluatorInfo, old: EvaluatorInfo) -> str:
    """In words, what differs between two fingerprints; empty where nothing does or one is unknown."""
    if new.higher_is_better != old.higher_is_better:
        return "its direction changed (higher_is_better)"
    mine, theirs = new.fingerprint or Fingerprint(), old.fingerprint or Fingerprint()
    if mine.model and theirs.model and mine.model != theirs.model:
        return f"its model changed: {theirs.model} → {mine.model}"
    words = {"source": "its code", "prompt": "its prompt", "parameters": "its parameters"}
    differ = [word for part, word in words.items() if _differ(getattr(mine, part), getattr(theirs, part))]
    return f"{' and '.join(differ)} changed" if differ else ""


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other
