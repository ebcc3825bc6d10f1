"""Judges that people review: how often is one called calibrated, and how many reviews does a good one take?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator, default_rng

from scoregate.kernel.compare.judge_checks import Review, check_judge
from scoregate.web.review_queue import place_scores

FEWEST, MOST = 50, 800
CHECKS = 4
FAILING = (0.02, 0.1, 0.3, 0.5, 0.9)
LIMITS = (0.8, 0.6)
SCORES = 1_000
_SEED = 20_261_130
TEXT = """\
People fail a share of a run of 1,000 scores. The judge finds a share of the failures, and passes a share of the rest.
Reviews are drawn as `scoregate review --sample` draws them (`sample`), or regardless of the verdict, as before (`old`).
A judge is checked after 50, 100, 200 and 400 reviews; shown is how often any check calls it calibrated. `accuracy`: how
often the 95 % interval of the accuracy is above the limit after any review from the 50th on."""


@dataclass(frozen=True)
class Judge:
    """The rates of a judge: of failures that it finds, of passing outputs that it passes, and of grades that match."""

    finds: float
    passes: float
    grades: float = 1.0

    def __str__(self) -> str:
        graded = f", {self.grades:g} same grade" if self.grades < 1 else ""
        return f"finds {self.finds:g}, passes {self.passes:g}{graded}"

    def draw(self, source: Generator, failing: float) -> list[Review]:
        """A run of reviews in random order. A failing output has a score of 0, and others of 1, if people score it."""
        person = source.random(SCORES) >= failing
        right = source.random(SCORES) < np.where(person, self.passes, self.finds)
        grade = np.where(source.random(SCORES) < self.grades, 0.0, 0.25)
        judge = np.where(right, np.where(person, 1 - grade, grade), np.where(person, 0.0, 1.0))
        return [make_review(*scores) for scores in zip(judge.tolist(), person.tolist(), strict=True)]


def report(effort: Effort) -> Iterator[Target]:
    """Print the rates of judges that are as good as the limit, or worse, and of good ones; yield the targets."""
    runs = effort.of(200, 30)
    print_table("Judges that aren't good enough", ["limit", "people fail", "judge", "sample", "old", "accuracy"], TEXT)
    sampled, old, constant = dict[str, Rate](), dict[str, Rate](), dict[str, Rate]()
    for limit, failing in product(LIMITS, FAILING):
        for judge in _bad_judges(limit):
            name = f"limit {limit}, people fail {failing}, {judge}"
            drawn = [judge.draw(default_rng([_SEED, at, round(1000 * failing)]), failing) for at in range(runs)]
            rates = [
                Rate.of(sum(is_ever_calibrated(list(take(each)), limit) for each in drawn), runs)
                for take in (draw_sample, lambda reviews: reviews[:MOST])
            ]
            by_accuracy = Rate.of(sum(is_ever_accurate(each, limit) for each in drawn), runs)
            print_row(limit, failing, judge, *rates, by_accuracy)
            (constant if not judge.finds else sampled)[name] = rates[0]
            (constant if not judge.finds else old)[f"{name}, old"] = rates[1]
    yield hold("a judge that always passes is calibrated", constant, 0.0, 0.025)
    yield hold("a judge at the limit is calibrated at any check", sampled, 0.0, 0.025)
    yield hold("the same for reviews of earlier versions", old, 0.0, 0.025)
    yield from _report_power(effort.of(200, 30))


def _bad_judges(limit: float) -> Iterator[Judge]:
    yield Judge(0.0, 1.0)
    yield Judge(limit, 0.99)
    yield Judge(limit, limit)
    yield Judge(0.95, 2 * limit - 0.95)
    yield Judge(0.99, 0.99, grades=limit)


def _report_power(runs: int) -> Iterator[Target]:
    sizes = [FEWEST * 2**at for at in range(5)]
    print_table("Judges that are good enough", ["limit", "people fail", "judge", *map(str, sizes)])
    found = dict[tuple[float, float, float], Rate]()
    for limit, failing, right in product(LIMITS, (0.05, 0.1, 0.3, 0.5), (0.9, 0.95, 0.99)):
        judge = Judge(right, right)
        samples = [draw_sample(judge.draw(default_rng([_SEED, at, 7]), failing)) for at in range(runs)]
        rates = [Rate.of(sum(is_calibrated(each, size, limit) for each in samples), runs) for size in sizes]
        print_row(limit, failing, judge, *(f"{rate.value:.2f}" for rate in rates))
        found[failing, limit, right] = rates[1]
    name = "a judge that is right in .95, limit .8, half of the outputs fail: calibrated after 100 reviews"
    yield hold(name, {"": found[0.5, 0.8, 0.95]}, 0.7)
    name = "a judge that is right in .9, limit .6, 30 % of the outputs fail: calibrated after 100 reviews"
    yield hold(name, {"": found[0.3, 0.6, 0.9]}, 0.8)


@lru_cache(maxsize=10_000)
def make_review(judge: float, passes: bool, share: float | None = None) -> Review:
    """A review, made once."""
    return Review(judge, float(passes), None, share)


def draw_sample(reviews: list[Review]) -> list[Review]:
    """The reviews of a sample of the run, in the order in which `scoregate review --sample` draws them."""
    verdicts = [[str(at) for at, each in enumerate(reviews) if each.judge_fails is fails] for fails in (True, False)]
    places, share = place_scores(verdicts), len(verdicts[0]) / len(reviews)
    drawn = [reviews[int(key)] for key in sorted(places, key=places.__getitem__)[:MOST]]
    return [make_review(each.original_score, bool(each.override_score), share) for each in drawn]


def is_calibrated(reviews: list[Review], size: int, limit: float) -> bool:
    """Whether the check after so many reviews calls the judge calibrated."""
    check = check_judge(reviews[:size], fewest=FEWEST)
    return check is not None and check.n == size and check.is_above(limit)


def is_ever_calibrated(reviews: list[Review], limit: float) -> bool:
    """Whether any check calls the judge calibrated."""
    return any(is_calibrated(reviews, FEWEST * 2**at, limit) for at in range(CHECKS))


def is_ever_accurate(reviews: list[Review], limit: float) -> bool:
    """Whether Wilson's interval of the accuracy is above the limit after any review."""
    n = np.arange(1, FEWEST * 2 ** (CHECKS - 1) + 1)
    hits = np.cumsum([each.agrees for each in reviews[: len(n)]])
    z2 = 1.959964**2
    low = (hits + z2 / 2 - np.sqrt(z2 * (hits * (n - hits) / n + z2 / 4))) / (n + z2)
    return bool((low[FEWEST - 1 :] > limit).any())
