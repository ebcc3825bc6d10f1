"""The cases of a run read back from the spool and told as events, in batches, so that others get their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio.lowlevel

from scoregate.ci.listen.bodies import parse
from scoregate.ci.listen.column import NOWHERE
from scoregate.ci.listen.index import Places
from scoregate.ci.listen.ports import Hear
from scoregate.ci.listen.repeats import case_keys
from scoregate.ci.listen.spool import Spool
from scoregate.ci.listen.suite_run import SuiteRun
from scoregate.ci.listen.turning import Body, Teller
from scoregate.core.case import CaseKey
from scoregate.core.events import Event, SuiteFinished

_BATCH_EVENTS = 200
_BATCH_BYTES = 1024 * 1024
# The SDKs do not say which of their evaluators held a battle.
BATTLE = "battle"


@dataclass(slots=True)
class Readback:
    """Reads bodies back; `redact` takes out what was learnt to be secret meanwhile; `read` counts bytes."""

    spool: Spool
    redact: Callable[[bytes], bytes]
    read: int = 0

    def __call__(self, place: int) -> tuple[Body, bytes]:
        """A body parsed, and as it was sent."""
        raw = self.redact(self.spool.read(place))
        self.read += len(raw)
        return parse(raw), raw


async def tell(run: SuiteRun, reader: Readback, hear: Hear) -> None:
    """All that was said of a run's cases, and of a run that has ended, its end."""
    for batch in _batches(run, reader):
        hear.said(run.id, batch)
        await anyio.lowlevel.checkpoint()
    if not run.open:
        hear.said(run.id, [SuiteFinished(suite=run.suite, duration_s=run.duration_s)])
    hear.counted(run.tally(finished=not run.open))


def _batches(run: SuiteRun, reader: Readback) -> Iterator[list[Event]]:
    """The cases in the order in which they were first heard of."""
    teller = Teller(run.suite, run.sdk)
    batch: list[Event] = []
    for row, key in enumerate(case_keys(run.index, run.sdk)):
        unscored = (BATTLE,) if key.hash in run.crowned else ()
        batch += _whole(teller, key, run.index.said(row), read=reader, unscored=unscored)
        if len(batch) >= _BATCH_EVENTS or reader.read >= _BATCH_BYTES:
            yield batch
            batch, reader.read = [], 0
    if batch:
        yield batch


def _whole(teller: Teller, key: CaseKey, said: Places, *, read: Readback, unscored: tuple[str, ...]) -> list[Event]:
    events: list[Event] = []
    try:
        events += _said(teller, key, said, read=read)
    except Exception as error:  # what one case has in it may not cost the others
        events.append(teller.broken(key, error))
    return [*events, teller.finished(key, unscored)]


def _said(teller: Teller, key: CaseKey, said: Places, *, read: Readback) -> Iterator[Event]:
    body, raw = (None, b"") if said.result == NOWHERE else read(said.result)
    yield from teller.result(key, body, raw)
    if said.failure != NOWHERE:
        yield teller.failure(key, read(said.failure)[0])
    for evaluator, score, error in said.evaluated:
        if score != NOWHERE:
            yield from teller.evaluated(key, *read(score), evaluator=evaluator)
        if error != NOWHERE:
            yield teller.failure(key, read(error)[0], evaluator)
