"""What reports say about earlier attempts."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.features.attempts.keys import POOLED, PUSHES, MeasuredPushes, PooledRuns
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.report.text import display_name, one_line, shorten_list
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import Place, Section

_MOST_GAPS, _LONGEST_GAP = 5, 300


def build_sections(judged: Judged) -> Iterator[Section]:
    """How many attempts count, which parts of them do not, and how many pushes were measured."""
    slots = judged.comparison.slots
    if (pooled := slots.get(POOLED)) is not None:
        yield _describe_pooled(pooled)
    if (pushes := slots.get(PUSHES)) is not None:
        yield _describe_pushes(pushes)


def _describe_pooled(pooled: PooledRuns) -> Section:
    sentences, summary = list[str](), ""
    if pooled.attempts:
        summary = f"attempt {pooled.number}, pooled with {pooled.attempts} earlier"
        earlier = number_format.count(pooled.attempts, "earlier attempt")
        sentences.append(f"Attempt {pooled.number} at this code, pooled with {earlier}: their trials count as repeats.")
    if pooled.pushes:
        pushes = "the last push" if pooled.pushes == 1 else f"the last {pooled.pushes} pushes"
        names = shorten_list([display_name(name) for name in pooled.unchanged])
        sentences.append(f"Unchanged since {pushes}, so trials from then count as repeats: {names}.")
    sentences += [f"Not counted: {one_line(gap, _LONGEST_GAP)}." for gap in pooled.gaps[:_MOST_GAPS]]
    data = {
        "attempt": pooled.number,
        "earlier": pooled.attempts,
        "pushes": pooled.pushes,
        "unchanged": list(pooled.unchanged),
        "not_counted": list(pooled.gaps),
    }
    return Section("attempts", Place.VERDICT, summary=summary, sentences=tuple(sentences), data=data)


def _describe_pushes(pushes: MeasuredPushes) -> Section:
    if pushes.count is None:
        return Section("attempts", Place.END, data={"measured_pushes": "unknown"})
    number = str(pushes.count) if pushes.is_all else f"More than {pushes.count - 1}"
    sentence = f"{number} pushes of this pull request were measured."
    sentences = (sentence,) if pushes.count > 1 else ()
    return Section("attempts", Place.END, sentences=sentences, data={"measured_pushes": pushes.count})
