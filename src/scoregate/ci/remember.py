"""What a run is told of those before it: the line of its base or, where it has none, what its folder held."""

from __future__ import annotations

from collections.abc import Callable

from scoregate.ci.baseline import Baseline
from scoregate.ci.parts import Ports
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.history import History
from scoregate.core.lineage import following, line_of
from scoregate.core.record import Run


async def recall(baseline: Baseline, settings: Settings, ports: Ports) -> History:
    """What is known before the run's folder is given the run. A base that is made now remembers nothing itself."""
    if baseline.run is not None and settings.baseline_kind is not BaselineKind.RERUN:
        return line_of(baseline.run)
    earlier = await ports.earlier()
    return History() if earlier is None else line_of(earlier)


def remember(run: Run, history: History, amend: Callable[[Run], None]) -> Run:
    """The run with its history, on disk too."""
    remembering = following(run, history)
    if remembering.history != run.history:
        amend(remembering)
    return remembering
