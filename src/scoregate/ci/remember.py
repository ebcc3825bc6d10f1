"""What a run is told of those before it: the line of its base, what its folder held, or both."""

from __future__ import annotations

from dataclasses import replace

from scoregate.ci.baseline import Baseline
from scoregate.ci.parts import Amend, Ports
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.confluence import merged
from scoregate.core.history import History
from scoregate.core.lineage import following, line_of
from scoregate.core.record import Run


async def recall(baseline: Baseline, settings: Settings, ports: Ports) -> History:
    """What is known before the run's folder is given the run. A base that is made now remembers nothing itself.

    Where one works against a folder, the runs since it went to that of the run: both lines are known.
    """
    kind = settings.baseline_kind
    line = line_of(baseline.run) if baseline.run is not None and kind is not BaselineKind.RERUN else None
    if line is not None and kind is not BaselineKind.FILE:
        return line
    earlier = await ports.earlier()
    if earlier is None:
        return line or History()
    return line_of(earlier) if line is None else merged(line, line_of(earlier))


def remember(run: Run, history: History, baseline: Baseline, amend: Amend) -> Run:
    """The run with its history and the base that it is compared with, on disk too."""
    remembering = replace(following(run, history), compared_with=baseline.reference)
    if (remembering.history, remembering.compared_with) != (run.history, run.compared_with):
        amend(remembering)
    return remembering
