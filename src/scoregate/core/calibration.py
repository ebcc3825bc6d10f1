"""Whether a judge agrees with people so often that its scores may fail a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import TypeAlias

from scoregate.core.agreement import Agreement
from scoregate.core.parts import EvaluatorInfo, Fingerprint

# By evaluator and by what `digest_fingerprint` says of the judge: its agreement with people on sampled scores.
Calibrations: TypeAlias = Mapping[tuple[str, str], Agreement]


def is_judge(info: EvaluatorInfo) -> bool:
    """Whether an evaluator asks a model; a function needs no calibration."""
    return info.fingerprint is not None and info.fingerprint.model is not None


def digest_fingerprint(fingerprint: Fingerprint | None) -> str:
    """16 hexadecimal digits that stay the same as long as a judge gives the same scores; empty where nothing is known.

    The version that people gave counts only where neither code nor prompt is known, as in the comparison.
    """
    if fingerprint is None:
        return ""
    known = fingerprint.source is not None or fingerprint.prompt is not None
    parts = (fingerprint.source, fingerprint.prompt, fingerprint.parameters, fingerprint.model)
    text = json.dumps([*parts, None if known else fingerprint.version])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def explain_uncalibrated(info: EvaluatorInfo, known: Calibrations, *, least: float, fewest: int) -> str:
    """Why the scores of a judge may not fail a run; empty where they may, and of what is no judge.

    Args:
        known: agreement with people, of all judges.
        least: the lower bound of the agreement has to be above it. fewest: so many reviews it takes.
    """
    if not is_judge(info):
        return ""
    found = known.get((info.id, digest_fingerprint(info.fingerprint)))
    count = 0 if found is None else found.n
    if found is None or count < fewest:
        return f"judge not calibrated ({count:,} of {fewest:,} reviews)"
    if found.low <= least:
        return f"judge not calibrated ({describe_reviews(found)})"
    return ""


def describe_reviews(found: Agreement) -> str:
    """`agrees with people in 41 of 50 reviews, at least 69.2%`, the second the lower bound of its interval."""
    return f"agrees with people in {found.matching:,} of {found.n:,} reviews, at least {found.low:.1%}"
