"""One server for all that a run launches; each launch has a line of its own."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from scoregate.ci.listen.desk import Desk
from scoregate.ci.listen.line import Line
from scoregate.ci.listen.ports import Book, Hear


@dataclass(slots=True)
class Listener:
    """A running server at a port of 127.0.0.1. `redact` takes secrets out of what is heard."""

    redact: Callable[[bytes], bytes]
    desks: dict[str, Desk] = field(default_factory=dict)
    port: int = 0

    @asynccontextmanager
    async def line(self, hear: Hear, book: Book, *, suites: Sequence[str] = ()) -> AsyncIterator[Line]:
        """A line for one launched command, until the block ends.

        Then everything that was said is told, whatever became of the command; a suite that did not end is told
        without its end.

        Args:
            hear: is told. book: knows what SDKs ask their platform for.
            suites: globs of which a suite must match one to be recorded; none records all.
        """
        token = secrets.token_urlsafe(16)
        desk = self.desks[token] = Desk(hear, book, suites=suites, redact=self.redact)
        try:
            yield Line(f"http://127.0.0.1:{self.port}/{token}", tuple(suites))
        finally:
            del self.desks[token]
            with anyio.CancelScope(shield=True):
                await desk.close()


@asynccontextmanager
async def listening(redact: Callable[[bytes], bytes]) -> AsyncIterator[Listener]:
    """Serve as long as the block lasts, in this event loop."""
    from scoregate.ci.listen.serving import serving

    listener = Listener(redact)
    async with serving(listener.desks) as listener.port:
        yield listener
