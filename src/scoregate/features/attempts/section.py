"""What reports say about earlier attempts."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.features.attempts.keys import POOLED
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.types.slots import Place, Section

_MOST_GAPS = 5


def build_sections(judged: Judged) -> Iterator[Section]:
    """How many attempts count, and which parts of them do not."""
    pooled = judged.comparison.slots.get(POOLED)
    if pooled is None:
        return
    earlier = f"{pooled.earlier} earlier attempt{'' if pooled.earlier == 1 else 's'}"
    sentences = [f"Attempt {pooled.number} at this code, pooled with {earlier}: their trials count as repeats."]
    sentences += [f"Not counted: {gap}." for gap in pooled.gaps[:_MOST_GAPS]]
    data = {"attempt": pooled.number, "earlier": pooled.earlier, "not_counted": list(pooled.gaps)}
    yield Section("attempts", Place.VERDICT, sentences=tuple(sentences), data=data)
