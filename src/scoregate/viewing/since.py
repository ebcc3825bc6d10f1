"""What people have said since a page was written, counted once for as long as nobody says more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from scoregate.viewing.found import Found

Count: TypeAlias = Callable[[Path, float], int]


def _nothing(_run: Path, _moment: float) -> int:
    """Nobody is listened to."""
    return 0


@dataclass(slots=True)
class Since:
    """Counts words on runs.

    Args:
        count: of the run in a folder, those that count now and did not at a moment, in seconds since the epoch.
        state: another value, once people may have said more.
    """

    count: Count = _nothing
    state: Callable[[], object] = bool
    _known: dict[object, int] = field(default_factory=dict)
    _seen: object = None

    def of(self, run: Found, moment: float) -> int:
        """How many there are of a run whose page was made at a moment."""
        if (state := self.state()) != self._seen:
            self._seen, self._known = state, {}
        about = (run.key, run.stamp, moment)
        if (known := self._known.get(about)) is None:
            known = self._known[about] = self.count(run.folder, moment)
        return known
