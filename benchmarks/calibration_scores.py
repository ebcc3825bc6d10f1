"""Simulated suites: what a base and a pull request would score on the same cases, one kind of score at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]
_ZEROS = 0.06


@dataclass(frozen=True)
class Kind:
    """A kind of score. `quality` draws what the cases' scores average to; `trial` makes one score of each, by luck.

    Luck is uniform in [0, 1]. A worsened pull request has every quality lowered by the share `drop`; `mean` is what
    scores average to over all cases of the base.
    """

    name: str
    quality: Callable[[Generator, tuple[int, ...]], Array]
    trial: Callable[[Generator, Array, Array], Array]
    drop: float
    mean: float

    @property
    def effect(self) -> float:
        """Return how far the mean score falls in a worsened pull request, as a negative number."""
        return -self.drop * self.mean

    def side(self, source: Generator, quality: Array, repeats: int) -> Array:
        """Return the mean score of each case over its repeats."""
        total = np.zeros_like(quality)
        for _ in range(repeats):
            total += self.trial(source, quality, source.random(quality.shape))
        return total / repeats

    def differences(self, source: Generator, shape: tuple[int, int], *, repeats: int, worse: bool) -> Array:
        """Return pull request − base for each case; a row is a pull request of its own, with cases of its own."""
        quality = self.quality(source, shape)
        base = self.side(source, quality, repeats)
        found = self.side(source, quality * (1 - self.drop * worse), repeats) - base
        found[np.abs(found) < 1e-9] = 0.0
        return found


def _two_sorts(source: Generator, shape: tuple[int, ...]) -> Array:
    """Return qualities of cases that mostly pass (seven of ten, at 0.9) or mostly fail (at 0.3)."""
    easy = source.random(shape) < 0.7
    return np.where(easy, source.beta(9, 1, shape), source.beta(1.5, 3.5, shape))


def _mostly_good(source: Generator, shape: tuple[int, ...]) -> Array:
    return source.beta(6, 2, shape)


def _skewed(quality: Array, luck: Array) -> Array:
    """Return scores that lean towards 1 and average to the quality: E[U^c] = 1 / (c + 1)."""
    scores: Array = luck ** (1 / quality - 1)
    return scores


def _pass_or_fail(_source: Generator, quality: Array, luck: Array) -> Array:
    return (luck > 1 - quality).astype(np.float64)


def _rubric(source: Generator, quality: Array, luck: Array) -> Array:
    """Return one of 0, ¼, ½, ¾, 1, rounded up or down at random so that the average stays."""
    return np.floor(4 * _skewed(quality, luck) + source.random(quality.shape)) / 4


def _any_number(_source: Generator, quality: Array, luck: Array) -> Array:
    """Return scores of which some are 0 because the answer could not be parsed at all."""
    rest = (luck - _ZEROS) / (1 - _ZEROS)
    return np.where(rest > 0, _skewed(quality, np.maximum(rest, 0)), 0.0)


KINDS = (
    Kind("binary", _two_sorts, _pass_or_fail, drop=0.15, mean=0.72),
    Kind("rubric", _mostly_good, _rubric, drop=0.08, mean=0.75),
    Kind("continuous", _mostly_good, _any_number, drop=0.08, mean=0.75 * (1 - _ZEROS)),
)
