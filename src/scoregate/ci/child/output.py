"""What a script prints: line by line, bounded and without secrets, its end kept for error messages."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from anyio import EndOfStream
from anyio.abc import ByteReceiveStream

from scoregate.ci.secrets import LONGEST, Redactor

_LONGEST_LINE = 8_000
_TAIL_LINES = 40


async def lines(stream: ByteReceiveStream, redact: Redactor) -> AsyncIterator[str]:
    """The lines of a stream of bytes, without secrets; one that is too long is cut, with its length.

    What a line declares secret is secret from the next line on. A secret is found wherever a long line is cut.
    """
    rest = b""
    try:
        while True:
            *whole, rest = (rest + await stream.receive()).split(b"\n")
            for line in whole:
                yield _clean(line, redact)
            if len(rest) > LONGEST + _LONGEST_LINE:
                settled, unsettled = redact.settled(rest.decode("utf-8", "surrogateescape"))
                yield _cut(settled)
                rest = unsettled.encode("utf-8", "surrogateescape")
    except EndOfStream:
        if rest:
            yield _clean(rest, redact)


def _clean(line: bytes, redact: Redactor) -> str:
    text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
    redact.listen(text)
    return _cut(redact.text(text))


def _cut(text: str) -> str:
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
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
