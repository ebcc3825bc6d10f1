"""Columns of two runs as those of one: the same as if all trials had been added to one run."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult, Label
from scoregate.kernel.types.runs.joined_columns import count_repeats, join_columns

# What has no score or waits for people is asked of the run itself, and models without prices for its own cost.
OF_THE_FIRST = {"unscored", "unscored_counts", "pending", "contested", "unpriced", "sources", "case_means"}
LIMITS = (None, Threshold(gte=0.5), Threshold(lt=0.9), Threshold())


def make_case(chance: Random, at: int, repeat: int) -> CaseResult:
    """A trial with any of what columns keep."""
    case = CaseResult(
        0,
        f"c{at}",
        repeat=repeat,
        digest=f"d{at}",
        duration_ms=chance.choice((None, 12.5)),
        tags=chance.choice(((), ("critical",))),
        cluster=chance.choice((None, "g")),
        usage=chance.choice((None, Usage(3, 4, cost=0.5), Usage(1, answer="stored", cached=True, unpriced="m"))),
    )
    for name in ("exact", "tone"):
        match chance.randrange(5):
            case 0:
                case.labels[name] = Label(chance.choice("ab"))
            case 1:
                case.errors.append(CaseError(ErrorInfo("ValueError", "broken"), evaluator=name))
            case 2:
                case.unscored += (name,)
            case _:
                case.evaluations[name] = Evaluation(chance.random(), threshold=chance.choice(LIMITS))
    return case


def fill(cases: list[CaseResult]) -> Columns:
    columns = Columns()
    for case in cases:
        columns.add(case)
    return columns


def pad(columns: Columns) -> Columns:
    """The columns with every row in each of scores: a column ends with its last score."""
    scores = {name: [columns.score(name, row) for row in range(len(columns))] for name in sorted(columns.scores)}
    return replace(columns, scores=scores)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(30))
def test_joined_columns_are_those_of_all_trials(seed: int) -> None:
    chance = Random(seed)
    own = [make_case(chance, at, repeat) for at in range(chance.randrange(6)) for repeat in range(2)]
    others = [make_case(chance, at, repeat) for at in range(chance.randrange(6)) for repeat in range(2)]
    first = count_repeats(fill(own))
    assert first == (2 if own else 0)
    expected = fill([*own, *(replace(case, repeat=first + case.repeat) for case in others)])
    joined = join_columns(fill(own), fill(others), range(len(others)), 2)
    for each in fields(Columns):
        if each.name not in OF_THE_FIRST | {"thresholds", "other_thresholds", "judged", "failed", "errored", "labels"}:
            assert repr(getattr(pad(joined), each.name)) == repr(getattr(pad(expected), each.name)), each.name
    for name in ("judged", "failed", "errored", "labels", "deferred"):
        kept = {key: value for key, value in getattr(joined, name).items() if value}
        assert kept == getattr(expected, name), name
    for row in range(len(expected)):
        for name in expected.scores:
            if name in expected.thresholds and expected.score(name, row) == expected.score(name, row):
                assert joined.threshold(name, row) == expected.threshold(name, row), (name, row)
    assert joined.sources == bytes(len(own)) + bytes([2]) * len(others)
    assert (joined.unscored, joined.reused) == (fill(own).unscored, 0)


def test_only_chosen_trials_are_added() -> None:
    own = fill([CaseResult(0, "a", evaluations={"e": Evaluation(1.0)})])
    other = fill([CaseResult(0, name, evaluations={"e": Evaluation(0.0)}) for name in "abc"])
    joined = join_columns(own, other, [0, 2], 2)
    assert [joined.key(row) for row in range(3)] == [("a", 0), ("a", 1), ("c", 1)]
    assert list(joined.scores["e"]) == [1.0, 0.0, 0.0]
    assert joined.has_repeats
    assert len(own) == 1
