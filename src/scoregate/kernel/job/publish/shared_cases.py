"""Cases that several reports read at about the same time, so that each is parsed once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from scoregate.kernel.types.runs.cases import CaseResult

# The slowest report of a run is at most three blocks behind the fastest one (measured). Cases may be large: 1,000 with
# trajectories of 100 steps take 50 MB.
_BLOCK, _MOST_BLOCKS = 250, 4


class SharedCases:
    """Reads the cases of a run for several readers, each of which starts at the first case.

    The last 1,000 cases stay in memory. A reader that is further behind reads the cases again.

    Args:
        read: reads all cases.
    """

    def __init__(self, read: Callable[[], Iterator[CaseResult]]) -> None:
        self._read = read
        self._source: Iterator[CaseResult] | None = None
        self._recent: deque[list[CaseResult]] = deque(maxlen=_MOST_BLOCKS)
        self._parsed = 0  # blocks, all of them full but the last one
        self._failed = False

    def blocks(self) -> Iterator[list[CaseResult]]:
        """All cases, some hundred together."""
        number = 0
        while not self._failed and number >= self._parsed - len(self._recent):
            if number == self._parsed and not self._parse_block():
                return
            yield self._recent[number - self._parsed]
            number += 1
        again = islice(self._read(), number * _BLOCK, None)
        while block := list(islice(again, _BLOCK)):
            yield block

    def _parse_block(self) -> bool:
        """Parse the next cases; False if there are none."""
        if self._source is None:
            self._source = self._read()
        try:
            block = list(islice(self._source, _BLOCK))
        except BaseException:
            self._failed = True  # to another reader, this would look like the end of the cases
            raise
        if block:
            self._recent.append(block)
            self._parsed += 1
        return bool(block)


@dataclass(slots=True)
class CasesReader:
    """Reads shared cases for one report; `position` is the number of cases that it has read."""

    shared: SharedCases
    position: int = 0

    def read(self) -> Iterator[CaseResult]:
        """Every case, from the first one."""
        for block in self.shared.blocks():
            self.position += len(block)
            yield from block
