"""Events of a launch: what the host sees while scripts run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

from scoregate.errors import ImportFailed, UsageError
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.plan import Launch, Plan
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Event
from scoregate.kernel.types.media import MediaFile
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.runs.tally import Tally
from scoregate.kernel.types.trajectories.assignment import CaseTrace


@record
class Started:
    """A script was launched."""

    script: str


@record
class EventsReceived:
    """A script's suites wrote events into one of their logs."""

    script: str
    log: str
    events: Sequence[Event]


@record
class UsageCounted:
    """The usage of calls of a suite that belong to none of its events."""

    script: str
    log: str
    suite: str
    usage: Usage


@record
class TracesReceived:
    """Trajectories from the spans of a script's cases, which may have finished before; they can be read once."""

    script: str
    traces: Iterator[CaseTrace]


@record
class MediaReceived:
    """A script wrote an image or audio that its events refer to."""

    script: str
    file: MediaFile


@record
class Progress:
    """How far a suite is whose cases are reported only at its end."""

    script: str
    tally: Tally


@record
class Printed:
    """A script wrote a line to its standard output or error."""

    script: str
    line: str


@record
class Notice:
    """A notice for the report."""

    script: str
    notice: str


@record
class Filtered:
    """A suite runs that no filter matches; its events are not passed on."""

    script: str
    suite: str


@record
class Failed:
    """An error of a script that belongs to none of its suites; it counts with any exit code."""

    script: str
    error: ErrorInfo


@record
class Finished:
    """A script has ended."""

    script: Script


LaunchEvent: TypeAlias = (
    Started
    | EventsReceived
    | UsageCounted
    | TracesReceived
    | MediaReceived
    | Progress
    | Printed
    | Notice
    | Filtered
    | Failed
    | Finished
)
EmitEvent: TypeAlias = Callable[[LaunchEvent], None]


# Changes the environment of a child.
MakeEnvironment: TypeAlias = Callable[[Mapping[str, str]], dict[str, str]]


@record
class Launching:
    """What the launches of one recording share.

    Attributes:
        plan: what is launched.
        settings: the settings of the project; on a worker of a cluster the part of them that the host has sent.
        environ: the environment that suites get a part of.
        redact: removes secrets from what is recorded.
        is_base: whether it is a baseline that is run again, or a part of one.
    """

    plan: Plan
    settings: Settings
    environ: Mapping[str, str]
    redact: Redactor
    is_base: bool = False


@record
class LeftResults:
    """What a launch left in result files.

    Attributes:
        failures: why files can't be read.
        failed_exits: the exit codes that only say that tests failed, as a file does.
        note: what a report should say besides, if one of these ended the launch.
    """

    failures: Sequence[ImportFailed] = ()
    failed_exits: frozenset[int] = frozenset()
    note: str = ""


class ResultWatch(Protocol):
    """Knows which result files existed before a launch."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that say where results are written."""
        ...

    async def emit(self, emit: EmitEvent, recorded: Set[str]) -> LeftResults:
        """Emit the results in new files, but not those of tests that are recorded already, as `SUITE::CASE`."""
        ...


class LaunchLayer:
    """What a feature adds to the launches of one recording. Each method does nothing unless a feature overrides it."""

    @contextmanager
    def open_session(self, launch: Launch, emit: EmitEvent) -> Iterator[tuple[MakeEnvironment, EmitEvent]]:
        """Until a launch has ended and its results are emitted: what changes its environment, and what gets its events.

        Args:
            launch: the launch.
            emit: gets the events that pass through.
        """
        yield dict, emit

    async def watch_results(
        self, launch: Launch, environment: Mapping[str, str], folder: Path, identity: Identity | None
    ) -> ResultWatch | None:
        """Look which result files exist before the process of a launch starts; None if it leaves none.

        Args:
            launch: the launch.
            environment: the environment of its process.
            folder: a folder for this launch only.
            identity: the user that must own what it leaves; None for any.
        """
        return None

    @asynccontextmanager
    async def connect(self, launch: Launch, emit: EmitEvent) -> AsyncIterator[MakeEnvironment]:
        """While the process of a launch runs: what changes its environment after everything else.

        Args:
            launch: the launch.
            emit: gets what it reports over the connection. All of it is emitted when the block ends.
        """
        yield dict

    def count_calls(self) -> CallTotals | None:
        """The calls of models so far; None if it counts none."""
        return None

    def add_to_run(self, run: Run) -> Run:
        """The run with what was counted, once all launches have ended."""
        return run


OpenLayer: TypeAlias = Callable[[Launching], AbstractAsyncContextManager[LaunchLayer | None]]


@asynccontextmanager
async def open_layers(openers: Iterable[OpenLayer], launching: Launching) -> AsyncIterator[tuple[LaunchLayer, ...]]:
    """The layers of a recording until the block ends."""
    async with AsyncExitStack() as stack:
        layers = [await stack.enter_async_context(open_layer(launching)) for open_layer in openers]
        yield tuple(layer for layer in layers if layer is not None)


def count_calls(layers: Iterable[LaunchLayer]) -> CallTotals | None:
    """The calls of models so far; None if no layer counts them."""
    return next((calls for layer in layers if (calls := layer.count_calls()) is not None), None)


@record
class CallService:
    """Serves all calls of models of a run on this machine, and limits their rate, costs and tokens.

    Attributes:
        around_launches: opens the layer of a recording. Launches on other machines need it as well.
        hidden: the names of variables that suites must not get, wherever they run.
        explain_unreachable: why what it gets the name of, on another machine, can't use it.
    """

    around_launches: OpenLayer
    hidden: frozenset[str]
    explain_unreachable: Callable[[str], UsageError]
