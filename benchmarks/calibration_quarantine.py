"""Quarantine: cases that people choose by their results, and cases that pass by luck until they may leave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from calibration_runs import CALLED, run_of, survey
from calibration_scores import MIXED, Array, Flags
from calibration_targets import ALPHA, Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.exemptions.stable_cases import bound_failure_rate, record_quarantine
from scoregate.features.steps import load_steps
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.exemptions import EXEMPTIONS, STABLE_RUNS, Exemptions, QuarantinedCases
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS

CASES, DROP = 200, 0.05
CHOICES = ("newly failing", "failed in the base")
FAILURE_RATES = (0.02, 0.05, 0.1, 0.2, 0.3)
RUNS = (20, 50, 100)
ENTRIES = Exemptions(quarantined=(QuarantinedCases("bo", "flaky", "2999-12-31", tags=("flaky",)),), today="2026-11-28")
TEXT = f"""\
{CASES} cases, some flaky. People look at a base and a run of a pull request, and put flaky cases into quarantine: those
that newly fail, or those that failed in the base. The pull request runs again. `left out`: both sides without them,
whatever the age of the entries. `younger`: the product with the same base, which was measured before the entries.
`older`: the product with a base that was measured after them."""
STREAKS = f"""\
How often the report says that a case can leave the quarantine although it fails by chance: after {STABLE_RUNS} passes
in a row (their bound is a failure rate of {bound_failure_rate(STABLE_RUNS):.3f}), and after five."""


@dataclass(frozen=True)
class Answer:
    """The rows of one pull request, by how the quarantine is treated."""

    left_out: Row
    younger: Row
    older: Row


def report(effort: Effort) -> Iterator[Target]:
    """Print the bias of chosen cases, and how soon lucky cases may leave."""
    yield from _report_choices(effort)
    yield from _report_streaks()


def _report_choices(effort: Effort) -> Iterator[Target]:
    ways = ("left_out", "younger", "older")
    head = [
        "chosen",
        "true change",
        *(f"{way.replace('_', ' ')}: {what}" for way in ways for what in ("shown", "worse")),
    ]
    print_table("Cases that were chosen by their results", head, TEXT)
    shown, called, found = dict[str, Rate](), dict[str, Rate](), dict[str, Rate]()
    for choice in CHOICES:
        for drop in (0.0, DROP):
            drawn = survey(
                f"quarantine: {choice} {drop}", partial(_ask, choice=choice, drop=drop), effort.of(1_000, 150)
            )
            means = [drawn.mean(partial(_read_delta, way=way)) for way in ways]
            worse = [drawn.rate(partial(_has_label, way=way, labels=(RowLabel.WORSE,))) for way in ways]
            print_row(choice, -drop, *(each for pair in zip(means, worse, strict=True) for each in pair))
            if drop:
                found |= _name(choice, worse[1:])
            else:
                shown |= {name: replace(rate, count=0) for name, rate in _name(choice, means[1:]).items()}
                any_label = [drawn.rate(partial(_has_label, way=way, labels=CALLED)) for way in ways[1:]]
                called |= _name(choice, any_label)
    yield hold("no change: mean change shown", shown, -0.003, 0.003)
    yield hold("no change: `better` or `worse`", called, 0.0, ALPHA)
    yield hold("−5 points: `worse`", found, 0.2)


def _read_delta(answer: Answer, *, way: str) -> float:
    delta = _pick_row(answer, way).delta
    assert delta is not None
    return delta


def _has_label(answer: Answer, *, way: str, labels: Collection[RowLabel]) -> bool:
    return _pick_row(answer, way).label in labels


def _pick_row(answer: Answer, way: str) -> Row:
    row: Row = getattr(answer, way)
    return row


def _name(choice: str, rates: list[Rate]) -> Mapping[str, Rate]:
    return {f"{choice}, {way}": rate for way, rate in zip(("younger", "older"), rates, strict=True)}


def _ask(source: Generator, *, choice: str, drop: float) -> Answer:
    quality = MIXED.quality(source, (CASES,))
    base, first, again, later = (
        MIXED.trials(source, MIXED.lowered(quality, drop) if is_change else quality, 1)
        for is_change in (False, False, True, False)
    )
    failed_then, fails = base[:, 0] == 0, first[:, 0] == 0
    chosen = ~failed_then & fails if choice == CHOICES[0] else failed_then & (quality > source.random(CASES))
    settings = Settings(min_pass_rate=0, min_effect=0)
    run, old, new = (_make_readable(scores, chosen) for scores in (again, base, later))
    younger, older = (
        judge(
            ComparedSides(run, Baseline(each, ""), settings, NO_SLOTS.put(EXEMPTIONS, ENTRIES)), load_steps
        ).comparison.rows[0]
        for each in (old, record_quarantine(new, ENTRIES))
    )
    left_out = compare(_run_without(again, chosen), _run_without(base, chosen)).rows[0]
    return Answer(left_out, younger, older)


def _run_without(scores: Array, chosen: Flags) -> Run:
    return run_of({"e": scores[~chosen]})


def _make_readable(scores: Array, chosen: Flags) -> Run:
    """A run whose cases can be read: the quarantine needs their tags."""
    run = run_of({"e": scores})
    (suite,) = run.suites
    cases = [
        CaseResult(suite=0, hash=case, tags=("flaky",) if is_flaky else (), evaluations={"e": Evaluation(score)})
        for case, is_flaky, score in zip(suite.columns.hashes, chosen.tolist(), scores[:, 0].tolist(), strict=True)
    ]
    return replace(run, read=lambda: iter(cases))


def _report_streaks() -> Iterator[Target]:
    print_table("Cases that pass by luck", ["fails", "passes", *(f"within {runs} runs" for runs in RUNS)], STREAKS)
    for rate in FAILURE_RATES:
        for passes in (STABLE_RUNS, 5):
            print_row(rate, passes, *(f"{reach_streak(passes, rate, runs):.3f}" for runs in RUNS))
    often = {str(rate): Rate(reach_streak(STABLE_RUNS, rate, 20), 0.0) for rate in FAILURE_RATES if rate >= 0.1}
    yield hold("a case that fails in a tenth of its runs or more may leave within 20 runs", often, 0.0, ALPHA)


def reach_streak(passes: int, failure_rate: float, runs: int) -> float:
    """The chance that a case passes so many runs in a row, by the length of its last streak."""
    by_streak, reached = [1.0] + [0.0] * (passes - 1), 0.0
    for _ in range(runs):
        reached += by_streak[-1] * (1 - failure_rate)
        by_streak = [sum(by_streak) * failure_rate, *(chance * (1 - failure_rate) for chance in by_streak[:-1])]
    return reached
