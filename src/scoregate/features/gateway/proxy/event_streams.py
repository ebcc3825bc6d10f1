"""Streams of server-sent events: where their events end, and the removal of an event that the client didn't request.

Lines end with LF, CR LF or CR, and a server may mix them. Source: HTML Living Standard, 9.2.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scoregate.models.calls import parse_object

LONGEST_EVENT = 4 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Atomic groups: CR LF is one end of a line, never two.
_LINE_END = re.compile(rb"(?>\r\n|\r|\n)")
EVENT_END = re.compile(rb"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")
_DATA = b"data:"
# With the option that we set, other chunks have the field without an object.
_USAGE = re.compile(rb'"usage"\s*:\s*\{')
# The ends of two lines, of which all but the last byte may have been searched before.
_LONGEST_END = 4


class UsageChunkFilter:
    """Removes the event with the usage from a stream whose client did not request it, and keeps all other bytes.

    A complete event and a comment are passed on at once.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0
        # Whether an LF that follows belongs to the CR before, and whether that CR was passed on.
        self._may_end_line = self._keeps_line_end = False

    def feed(self, chunk: bytes) -> bytes:
        """Return the complete events up to the end of a chunk, without the event of the usage."""
        kept = list[bytes]()
        if self._may_end_line and chunk:
            self._may_end_line = False
            if chunk[:1] == b"\n":
                kept += [b"\n"] if self._keeps_line_end else []
                chunk = chunk[1:]
        self._rest += chunk
        start = 0
        while (end := self._find_end(start)) is not None:
            block, start, self._searched = bytes(self._rest[start:end]), end, 0
            self._keeps_line_end = not _is_usage_event(block)
            self._may_end_line = end == len(self._rest) and block.endswith(b"\r")
            if self._keeps_line_end:
                kept.append(block)
        del self._rest[:start]
        self._searched = len(self._rest)
        if len(self._rest) > LONGEST_EVENT:
            kept.append(self._take_rest())
        return b"".join(kept)

    def close(self) -> bytes:
        """Return what is left at the end of the stream, which may lack its last blank line."""
        rest = self._take_rest()
        return b"" if _is_usage_event(rest) else rest

    def _find_end(self, start: int) -> int | None:
        """The end of the blank line, the comment or the event that begins at a position; None if it isn't complete."""
        if self._rest.startswith(BYTE_ORDER_MARK, start):
            return start + len(BYTE_ORDER_MARK)
        if (blank := _LINE_END.match(self._rest, start)) is not None:
            return blank.end()
        pattern = _LINE_END if self._rest[start : start + 1] == b":" else EVENT_END
        found = pattern.search(self._rest, start + max(0, self._searched - _LONGEST_END))
        return None if found is None else found.end()

    def _take_rest(self) -> bytes:
        rest = bytes(self._rest)
        self._rest.clear()
        self._searched = 0
        return rest


def _is_usage_event(block: bytes) -> bool:
    if _USAGE.search(block) is None:
        return False
    data = parse_object(_read_data(block))
    return not data.get("choices") and isinstance(data.get("usage"), Mapping)


def _read_data(block: bytes) -> bytes:
    """The data of an event, from all of its lines."""
    return b"\n".join(line[len(_DATA) :] for line in block.splitlines() if line.startswith(_DATA))
