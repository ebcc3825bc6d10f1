"""Lines to the suites of other SDKs: the listener, opened where a plan needs it, wired to what is told of a launch."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.ci.book import open_book
from scoregate.ci.launch import Counted, Equip, Failed, LeftOut, Noticed, OpenLine, Said, Tell
from scoregate.ci.plan import Kind, Launch, Plan
from scoregate.ci.secrets import Redactor
from scoregate.core.events import ErrorInfo, Event, Origin, SuiteStarted
from scoregate.core.tally import Tally

if TYPE_CHECKING:
    from scoregate.ci.listen import Listener


@asynccontextmanager
async def open_lines(
    plan: Plan, environ: Mapping[str, str], redact: Redactor, *, suites: Sequence[str]
) -> AsyncIterator[OpenLine | None]:
    """What opens a line for a foreign launch of the plan, until the block ends; None, and no server, where none is.

    Args:
        environ: the host's environment. redact: takes secrets out of what is heard. suites: globs that ids must match.
    """
    if not any(launch.source.foreign for launch in plan.launches):
        yield None
        return
    from scoregate.ci.listen import listening

    async with listening(redact) as listener:
        yield _Exchange(listener, plan.root, environ, tuple(suites)).open


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Opens lines of one server for the launches of one plan."""

    listener: Listener
    root: Path
    environ: Mapping[str, str]
    suites: tuple[str, ...]

    @asynccontextmanager
    async def open(self, launch: Launch, tell: Tell) -> AsyncIterator[Equip]:
        """A line for one launch, as `launch.OpenLine`."""
        from scoregate.ci.listen.environment import foreign_environment

        book = open_book(self.root, self.environ, launch.environment)
        async with self.listener.line(_Ear(launch, tell), book, suites=self.suites) as line:
            yield partial(foreign_environment, line)


@dataclass(slots=True)
class _Ear:
    """Passes on what is heard of one launch, and says once what its SDK could not be told to do."""

    launch: Launch
    tell: Tell
    _heard: bool = False

    def said(self, log: str, events: Sequence[Event]) -> None:
        """As `listen.Hear.said`."""
        if not self._heard:
            self._heard = True
            for setting in _unheeded(self.launch.environment):
                self.noticed(f"Autoblocks' SDKs cannot be told of {setting}: its suites ran as they are written")
        self.tell(Said(self.launch.name, log, [self._placed(event) for event in events]))

    def _placed(self, event: Event) -> Event:
        """The SDKs do not say where a suite stands; of a file we know it, as far as its first suite."""
        source = self.launch.source
        if not isinstance(event, SuiteStarted) or event.origin is not None or source.kind is Kind.COMMAND:
            return event
        return replace(event, origin=Origin(source.path, source.line))

    def counted(self, tally: Tally) -> None:
        """As `listen.Hear.counted`."""
        self.tell(Counted(self.launch.name, tally))

    def left_out(self, suite: str) -> None:
        """As `listen.Hear.left_out`."""
        self.tell(LeftOut(self.launch.name, suite))

    def failed(self, error: ErrorInfo) -> None:
        """As `listen.Hear.failed`."""
        self.tell(Failed(self.launch.name, error))

    def noticed(self, notice: str) -> None:
        """As `listen.Hear.noticed`."""
        self.tell(Noticed(self.launch.name, notice))


def _unheeded(environment: Mapping[str, str]) -> Iterator[str]:
    if environment.get("SCOREGATE_REPEATS", "1") != "1":
        yield "`repeats`"
    if "SCOREGATE_MAX_CASES" in environment:
        yield "`max_cases`"
