"""What a script prints: line by line, bounded, its end kept for error messages."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from anyio import EndOfStream
from anyio.abc import ByteReceiveStream

_LONGEST_LINE = 8_000
_TAIL_LINES = 40


async def lines(stream: ByteReceiveStream) -> AsyncIterator[str]:
    """The lines of a stream of bytes; one that is too long is cut and says so."""
    rest = b""
    try:
        while True:
            *whole, rest = (rest + await stream.receive()).split(b"\n")
            for line in whole:
                yield _text(line)
            if len(rest) > _LONGEST_LINE:
                yield _text(rest)
                rest = b""
    except EndOfStream:
        if rest:
            yield _text(rest)


def _text(line: bytes) -> str:
    text = line.rstrip(b"\r").decode("utf-8", "replace")
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}… ({len(text):,} characters)"


class Tail:
    """The last lines."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, line: str) -> None:
        """One more."""
        self._lines.append(line)

    def __str__(self) -> str:
        return "\n".join(self._lines)

    @property
    def last(self) -> str:
        """The last line that says something."""
        return next((line.strip() for line in reversed(self._lines) if line.strip()), "")
