"""What reports say about suites that were measured again."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.report.text import display_name, shorten_list
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.slots import Place, Section


def build_sections(judged: Judged) -> Iterator[Section]:
    """Which suites were measured again, and on which sides."""
    run = judged.comparison.run
    again = run.companions_of(TrialRole.AGAIN)
    if not again:
        return
    names = sorted({suite.label for suite in again[0].suites})
    base = len(run.companions_of(TrialRole.AGAIN_BASE))
    sides = f"twice more{', and once more in the base' if base else ''}"
    listed = shorten_list([display_name(name) for name in names])
    text = (
        f"Measured again before a gate on scores could fail: {listed} ran {sides}. All trials together decide, at half "
        "of the level."
    )
    data = {"suites": names, "runs": len(again), "base_runs": base}
    yield Section("measure_again", Place.VERDICT, summary="measured again", sentences=(text,), data=data)
