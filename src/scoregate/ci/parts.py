"""What the story is told with: the ports to the outside, each a function that wiring supplies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import anyio

from scoregate.ci.archive import BASE_FOLDER, RUN_FOLDER
from scoregate.ci.baseline import Baseline
from scoregate.ci.interpreter import Interpreter
from scoregate.ci.plan import Found, Plan
from scoregate.ci.publish.outlet import Delivery
from scoregate.ci.report.view import ReportView
from scoregate.ci.resume import Resume
from scoregate.ci.settings import Settings
from scoregate.core.calibration import Calibrations
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict
from scoregate.core.record import Run

BaselineSource: TypeAlias = Callable[[Settings], Awaitable[Baseline | None]]
Amend: TypeAlias = Callable[[Run], None]


class Record(Protocol):
    """Runs a plan and keeps the run in a folder; the sequence holds notices for it."""

    async def __call__(
        self, plan: Plan, settings: Settings, notices: Sequence[str], *, folder: str = RUN_FOLDER
    ) -> Run: ...


class Settle(Protocol):
    """Ends all that suites have left running, and undoes what they must not do; the run is written again with that."""

    async def __call__(self, run: Run, amend: Amend) -> Run: ...


class Rerun(Protocol):
    """Runs a plan in the base's tree."""

    async def __call__(self, plan: Plan, settings: Settings, *, folder: str = BASE_FOLDER) -> Baseline: ...


@dataclass(frozen=True, slots=True)
class Reporting:
    """Where a base comes from and reports go to.

    `baselines` are asked in turn. `counted` makes of a run that was made before what it is by now, with what people
    have said since; it blocks. `calibrations` tells how well judges agree with people; it blocks. `announced` is open
    from the start to the end of the story. `view` makes what reports print, `publish` delivers them and returns what
    came of it.
    """

    baselines: Sequence[BaselineSource]
    counted: Callable[[Run], Run]
    calibrations: Callable[[], Calibrations]
    announced: Callable[[], AbstractAsyncContextManager[None]]
    view: Callable[[Comparison, Verdict], ReportView]
    publish: Callable[[ReportView], Awaitable[Delivery]]


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything outside that the flow needs.

    `discover` finds suites; `prepare` makes their environment and says which Python runs them; `arm` tells a plan's
    suites what their battles have to beat; `resume` offers them what an earlier run that did not finish has measured;
    `record` and `rerun` run plans, here and in the base's tree; `earlier` reads
    the run that the next one replaces, where that is to be remembered; `amend` writes again what is known of a recorded
    run besides its cases; `settle` follows the last suite. Once `stop` is set, what runs is ended and what is known is
    reported.
    """

    root: Path
    discover: Callable[[Settings], Awaitable[Found]]
    prepare: Callable[[Settings], Awaitable[Interpreter]]
    arm: Callable[[Plan, Run | None], Plan]
    resume: Resume
    record: Record
    rerun: Rerun
    earlier: Callable[[], Awaitable[Run | None]]
    amend: Amend
    settle: Settle
    reporting: Reporting
    stop: anyio.Event
