"""Pages that are made when somebody asks for them: kept in files without a name, so that nothing of them stays."""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeAlias

from scoregate.viewing.found import Found

_MOST = 20
Render: TypeAlias = Callable[[Path, Path | None], Iterable[str]]


@dataclass(slots=True)
class Press:
    """Makes pages of runs, and keeps the last of them.

    Args:
        render: the page of the run in a folder, held against that in another.
        state: another value, once pages would be other ones although their runs are the same.
    """

    render: Render
    state: Callable[[], object]
    _made: OrderedDict[object, IO[bytes]] = field(default_factory=OrderedDict)

    def page(self, run: Found, base: Found | None) -> IO[bytes]:
        """The page of a run, held against another; a handle of one's own, whose position is everybody's.

        Raises:
            ScoregateError: one of them cannot be read, or the settings are wrong.
        """
        about = (run.key, run.stamp, (base.key, base.stamp) if base else None, self.state())
        if about not in self._made:
            self._made[about] = self._print(run, base)
            while len(self._made) > _MOST:
                self._made.popitem(last=False)[1].close()
        return os.fdopen(os.dup(self._made[about].fileno()), "rb")

    def close(self) -> None:
        """Give up what is kept; what is being sent is sent."""
        while self._made:
            self._made.popitem()[1].close()

    def _print(self, run: Found, base: Found | None) -> IO[bytes]:
        file = tempfile.TemporaryFile(prefix="scoregate-view-")  # noqa: SIM115 (as long as it is kept)
        try:
            for chunk in self.render(run.folder, base.folder if base else None):
                file.write(chunk.encode())
            file.flush()
        except BaseException:
            file.close()
            raise
        return file
