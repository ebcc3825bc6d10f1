"""Simulated suites: what a base and a pull request would score on the same cases, one kind of score at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)
_ZEROS = 0.06


@dataclass(frozen=True)
class Kind:
    """A kind of score. `quality` draws what the cases' scores average to; `trial` makes one score of each, by luck.

    Luck is uniform in [0, 1]. `mean` is what scores average to over all cases of the base. A worsened pull request has
    every quality lowered by the same share; `drop` is the share that tables of this kind show. Where `varying` is set,
    that share of the cases has a quality below 1, and only those get worse.
    """

    name: str
    quality: Callable[[Generator, tuple[int, ...]], Array]
    trial: Callable[[Generator, Array, Array], Array]
    mean: float
    drop: float = 0.1
    varying: float | None = None

    @property
    def effect(self) -> float:
        """Return how far the mean score falls in a worsened pull request, as a negative number."""
        return -self.drop * self.mean

    def lowered(self, quality: Array, drop: float) -> Array:
        """Return qualities whose mean is lower by `drop`."""
        if self.varying is not None:
            return np.where(quality < 1, quality - drop / self.varying, quality)
        return quality * (1 - drop / self.mean)

    def trials(self, source: Generator, quality: Array, repeats: int) -> Array:
        """Return a row of scores for each case, one for each repeat."""
        qualities = np.repeat(quality[:, None], repeats, axis=1)
        return self.trial(source, qualities, source.random(qualities.shape))

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


def _mostly_fixed(source: Generator, shape: tuple[int, ...]) -> Array:
    """Return qualities of cases of which nine in ten always pass; the others at a rate of 0.6."""
    return np.where(source.random(shape) < 0.9, 1.0, 0.6)


def _mostly_good(source: Generator, shape: tuple[int, ...]) -> Array:
    return source.beta(6, 2, shape)


def _normal_qualities(source: Generator, shape: tuple[int, ...]) -> Array:
    return source.normal(0.6, 0.1, shape)


def _constant(value: float, _source: Generator, shape: tuple[int, ...]) -> Array:
    return np.full(shape, value)


def _pass_or_fail(_source: Generator, quality: Array, luck: Array) -> Array:
    return (luck > 1 - quality).astype(np.float64)


def _skewed_scores(_source: Generator, quality: Array, luck: Array) -> Array:
    """Return scores that lean towards 1 and average to the quality: E[U^c] = 1 / (c + 1)."""
    scores: Array = luck ** (1 / quality - 1)
    return scores


def _rubric(source: Generator, quality: Array, luck: Array) -> Array:
    """Return one of 0, ¼, ½, ¾, 1, rounded up or down at random so that the average stays."""
    return np.floor(4 * _skewed_scores(source, quality, luck) + source.random(quality.shape)) / 4


def _rubric_at_the_ceiling(_source: Generator, quality: Array, luck: Array) -> Array:
    """Return 1 but for a share of trials: half of those get ¾, a quarter ½, a quarter 0."""
    share = np.maximum(2 * (1 - quality), 1e-12)
    within = luck / share
    return np.select([within < 0.25, within < 0.5, within < 1], [0.0, 0.5, 0.75], 1.0)


def _with_zeros(source: Generator, quality: Array, luck: Array) -> Array:
    """Return scores of which some are 0 because the answer could not be parsed at all."""
    rest = (luck - _ZEROS) / (1 - _ZEROS)
    return np.where(rest > 0, _skewed_scores(source, quality, np.maximum(rest, 0)), 0.0)


def _normal_scores(_source: Generator, quality: Array, luck: Array) -> Array:
    scores: Array = quality + 0.08 * ndtri(np.clip(luck, 1e-12, 1 - 1e-12))
    return scores


def pass_fail(rate: float) -> Kind:
    """Return the kind in which every case passes at the same rate."""
    return Kind(f"binary, p = {rate:g}", partial(_constant, rate), _pass_or_fail, rate)


def ceiling(mean: float) -> Kind:
    """Return rubric scores that are nearly always 1."""
    return Kind(f"rubric, mean {mean:g}", partial(_constant, mean), _rubric_at_the_ceiling, mean)


MIXED = Kind("binary, mixed", _two_sorts, _pass_or_fail, 0.72, drop=0.15)
FIXED = Kind("binary, 90 % always pass", _mostly_fixed, _pass_or_fail, 0.96)
FIXED_STAYS = replace(FIXED, name="binary, 90 % always pass, the others get worse", varying=0.1)
RUBRIC = Kind("rubric", _mostly_good, _rubric, 0.75, drop=0.08)
NORMAL = Kind("normal", _normal_qualities, _normal_scores, 0.6)
SKEWED = Kind("skewed", _mostly_good, _with_zeros, 0.75 * (1 - _ZEROS), drop=0.08)
