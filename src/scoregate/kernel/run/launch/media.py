"""Read the images and audio that a script writes next to its event logs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.kernel.judge.archive.media import MEDIA_FOLDER, MOST_FILES, MediaFolder
from scoregate.kernel.run.launch.events import Failed, MediaReceived
from scoregate.kernel.types.event_values import ErrorInfo

_TICK_NS = 1_000_000_000


@dataclass(slots=True)
class MediaReader:
    """Reads new files in the folder `media`, each once."""

    script: str
    folder: Path
    _seen: set[str] = field(default_factory=set)
    _changed: int = -1

    def read(self) -> Iterator[MediaReceived | Failed]:
        """The files that were written since the previous call, and an error for each file that is not valid."""
        place = self.folder / MEDIA_FOLDER
        try:
            changed = place.lstat().st_mtime_ns
        except OSError:
            return
        # Files may be written within one tick of the clock that the folder's time has.
        if changed == self._changed and time.time_ns() - changed > _TICK_NS:
            return
        self._changed = changed
        folder = MediaFolder(place)
        for name in folder.list_names():
            if name in self._seen:
                continue
            # Only one error for all files above the limit.
            if len(self._seen) > MOST_FILES:
                return
            self._seen.add(name)
            if len(self._seen) > MOST_FILES:
                yield self._fail(f"it has more than {MOST_FILES:,} images and recordings; the others are not kept")
            elif (file := folder.read_file(name)) is None:
                yield self._fail(f"its file {name[:6]}…{name[64:]} in the folder of images and recordings is not valid")
            else:
                yield MediaReceived(self.script, file)

    def _fail(self, message: str) -> Failed:
        return Failed(self.script, ErrorInfo("InvalidMedia", message))
