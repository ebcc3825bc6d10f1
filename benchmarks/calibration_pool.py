"""The base branch's past as evidence: pooled base runs, steps of a provider, and whole runs that move."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_runs import CALLED, CRITERIA, quick_p, run_of, screened
from calibration_scores import MIXED, RUBRIC, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.types.runs.dependencies import RunDependencies, ScriptDependencies
from scoregate.kernel.types.runs.past_runs import History, PastRun, Score, SuiteHistory, SuiteMetrics
from scoregate.kernel.types.runs.run import Conditions, Run
from scoregate.kernel.types.runs.suite_states import digest_states

KINDS = (MIXED, RUBRIC)
POOLED = 5
_WORSE = (RowLabel.WORSE,)
PASTS = (1, 5, 10, 20)
DROP = 0.05
FALSE_ALARMS = (0.02, 0.055)
STEPS = (0.03, 0.05, 0.1)
# (cases, how far whole runs move: the standard deviation of their means)
SHIFTS = ((1_000, 0.01), (200, 0.02))
TEXT = """\
`runs`: how many runs of the base branch there are, between which nothing changed. Up to five are pooled, as far as they
agree. From five on, the means of all show how far whole runs move. `one`: compared with the newest run alone."""

_DEPENDENCIES = RunDependencies((), (ScriptDependencies("bot.py", "launch"),))


@dataclass(frozen=True)
class _Drawn:
    """Scores of the pull request, and of each run of the base branch, the newest last."""

    new: Array
    past: Array


@dataclass(frozen=True)
class _Answer:
    """The rows against the newest run alone and against all of them."""

    one: Row
    pooled: Row


def report(effort: Effort) -> Iterator[Target]:
    """Print false alarms, power and steps of a provider, and compare them with the targets."""
    yield from _report_pools(effort)
    yield from _report_steps(effort)
    yield from _report_movement(effort)


def _report_pools(effort: Effort) -> Iterator[Target]:
    head = ["scores", "n", "runs", "called, no change: one", "pooled", "found, −5 points: one", "pooled"]
    print_table("Pooled base runs", head, TEXT)
    called, gained = dict[str, Rate](), dict[str, Rate]()
    for kind in KINDS:
        for n in (50, 200, 1_000):
            for runs in PASTS:
                name = f"{kind.name}, n = {n}, {runs} runs"
                calm, worse = (_survey(effort, kind, n, runs, drop=drop) for drop in (0.0, DROP))
                print_row(kind.name, n, runs, *(_call_rates(calm)), *(_worse_rates(worse)))
                called[name] = _call_rates(calm)[1]
                one, pooled = _worse_rates(worse)
                if n == 200 and runs >= 5:
                    gained[name] = Rate(pooled.value - one.value, max(pooled.error, one.error))
    steady = {name: rate for name, rate in called.items() if "n = 50," not in name}
    yield hold("no change, n ≥ 200: `better` + `worse`", steady, *FALSE_ALARMS)
    yield hold("no change, n = 50: the same", {n: r for n, r in called.items() if n not in steady}, 0.0, 0.055)
    few = {name: rate for name, rate in gained.items() if name.endswith(" 5 runs")}
    yield hold("−5 points, n = 200, ten runs or more: found beyond one run", _without(gained, few), 0.01)
    yield hold("the same with five runs, whose movement is uncertain", few, -0.05)


def _without(rates: Mapping[str, Rate], others: Collection[str]) -> dict[str, Rate]:
    return {name: rate for name, rate in rates.items() if name not in others}


def _report_steps(effort: Effort) -> Iterator[Target]:
    print_table(
        "Steps of the provider",
        ["scores", "n", "step", "base runs after it", "worse: one", "pooled"],
        "No change, but the provider got worse before the newest base runs. Its earlier four are from before.",
    )
    rates = dict[str, Rate]()
    for n in (200, 1_000):
        for step in STEPS:
            for after in (1, 3):
                draw = partial(_draw, kind=MIXED, n=n, runs=4 + after, step=step, after=after)
                survey = screened(
                    f"pool, step: {n} {step} {after}",
                    draw,
                    _screen_step,
                    lambda drawn: _labels(_ask(drawn)),
                    drawn=effort.of(3_000, 400),
                    asked=effort.of(300, 100),
                )
                one, pooled = (survey.rate(partial(_has_label, at=at, labels=_WORSE)) for at in range(2))
                print_row(MIXED.name, n, -step, after, one, pooled)
                rates[f"n = {n}, −{step:g}, {after} after it"] = pooled
    yield hold("no change after a step of the provider: `worse`", rates, 0.0, 0.05)


def _report_movement(effort: Effort) -> Iterator[Target]:
    print_table(
        "Whole runs that move",
        ["scores", "n", "movement", "runs", "called: one", "pooled, without widening", "called: pooled"],
        "No change, but the mean of every run, also of the pull request's, moves by a normal amount.",
    )
    rates, five = dict[str, Rate](), dict[str, Rate]()
    for n, shift in SHIFTS:
        for runs in PASTS[1:]:
            survey = screened(
                f"pool, moving: {n} {runs} {shift}",
                partial(_draw, kind=MIXED, n=n, runs=runs, shift=shift),
                _screen,
                lambda drawn: (*_labels(_ask(drawn)), _ask_without_history(drawn).label),
                drawn=effort.of(3_000, 400),
                asked=effort.of(600, 100),
            )
            one, pooled, narrow = (survey.rate(partial(_has_label, at=at, labels=CALLED)) for at in range(3))
            print_row(MIXED.name, n, shift, runs, one, narrow, pooled)
            (five if runs == 5 else rates)[f"n = {n}, {runs} runs"] = pooled
    yield hold("runs that move, ten or more of them: `better` + `worse`", rates, 0.0, 0.06)
    yield hold("the same with five, which say little", five, 0.0, 0.1)


def _survey(effort: Effort, kind: Kind, n: int, runs: int, *, drop: float) -> tuple[Rate, Rate, Rate, Rate]:
    survey = screened(
        f"pool: {kind.name} {n} {runs} {drop}",
        partial(_draw, kind=kind, n=n, runs=runs, drop=drop),
        _screen,
        lambda drawn: _labels(_ask(drawn)),
        drawn=effort.of(2_000, 400),
        asked=effort.of(400, 100),
    )
    return (
        *(survey.rate(partial(_has_label, at=at, labels=CALLED)) for at in range(2)),
        *(survey.rate(partial(_has_label, at=at, labels=_WORSE)) for at in range(2)),
    )  # type: ignore[return-value]


def _call_rates(rates: Sequence[Rate]) -> Sequence[Rate]:
    return rates[:2]


def _worse_rates(rates: Sequence[Rate]) -> Sequence[Rate]:
    return rates[2:]


def _has_label(found: Sequence[RowLabel], *, at: int, labels: Collection[RowLabel]) -> bool:
    return found[at] in labels


def _labels(answer: _Answer) -> tuple[RowLabel, RowLabel]:
    return answer.one.label, answer.pooled.label


def _draw(
    source: Generator,
    kind: Kind,
    n: int,
    runs: int,
    *,
    drop: float = 0.0,
    shift: float = 0.0,
    step: float = 0.0,
    after: int = 0,
) -> _Drawn:
    """Draw a pull request that lowers the mean by `drop`, and runs of the base, `after` of them behind the step."""
    before = kind.quality(source, (n,))
    quality = kind.lowered(before, step) if step else before
    moves = source.normal(0, shift, runs + 1) if shift else np.zeros(runs + 1)
    qualities = [before] * (runs - after) + [quality] * after
    past = [
        kind.trial(source, np.clip(each + move, 0, 1), source.random(n))
        for each, move in zip(qualities, moves[1:], strict=True)
    ]
    lowered = kind.lowered(quality, drop) if drop else quality
    return _Drawn(kind.trial(source, np.clip(lowered + moves[0], 0, 1), source.random(n)), np.array(past))


def _screen(drawn: _Drawn) -> float:
    return quick_p(drawn.new - drawn.past[-POOLED:].mean(axis=0))


def _screen_step(drawn: _Drawn) -> float:
    return quick_p(drawn.new - drawn.past[-1])


def _ask(drawn: _Drawn) -> _Answer:
    new, base = _run(drawn.new, len(drawn.past)), _with_history(drawn.past)
    one = compare(new, base, criteria=CRITERIA).rows[0]
    pooled = compare(new, base, earlier=_list_earlier(drawn), criteria=CRITERIA).rows[0]
    return _Answer(one, pooled)


def _ask_without_history(drawn: _Drawn) -> Row:
    new, base = _run(drawn.new, len(drawn.past)), _with_history(drawn.past)
    earlier = _list_earlier(drawn)
    return compare(new, replace(base, history=History()), earlier=earlier, criteria=CRITERIA).rows[0]


def _list_earlier(drawn: _Drawn) -> list[Run]:
    return [_run(scores, at) for at, scores in enumerate(drawn.past[-POOLED:-1])]


def _run(scores: Array, at: int) -> Run:
    known = run_of({"e": scores[:, None]})
    named = replace(
        known, id=f"run {at}", code=replace(known.code, commit=f"{at}"), end=replace(known.end, finished=float(at))
    )
    return replace(named, conditions=Conditions("", ""), dependencies=_DEPENDENCIES)


def _with_history(past: Array) -> Run:
    """The newest run of the branch, which knows the means of the others."""
    base = _run(past[-1], len(past) - 1)
    (state,) = digest_states(base).values()
    count, n = len(past) - 1, past.shape[1]
    runs = tuple(PastRun(f"run {at}", float(at), SuiteMetrics(), commit=str(at)) for at in range(count))
    scores = tuple(Score(float(each.mean()), n) for each in past[:-1])
    suite = SuiteHistory(tuple(SuiteMetrics() for _ in runs), {"e": scores}, tuple(state for _ in runs))
    return replace(base, history=History(runs, {"bot": suite}))
