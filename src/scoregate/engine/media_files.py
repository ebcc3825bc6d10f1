"""The files of the images and audio that events of this process refer to."""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path
from typing import Any

from scoregate.errors import MediaError
from scoregate.kernel.types.inline_media import has_inline_media, replace_inline_media
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.media import TYPES, Media, find_known, format_size, list_digests

FOLDER = "media"
MOST_IN_EVENT = 100
MOST_IN_PROCESS = 200_000_000


def record_media(value: Any, folder: Path | None) -> Any:
    """A value of JSON types with references in the place of inline images and audio, whose files are written.

    Args:
        value: the value.
        folder: the folder of the event logs; None writes no files.

    Raises:
        MediaError: it has too many, or too large ones.
    """
    line, media = dump(value), list[Media]()
    if has_inline_media(line):
        value = replace_inline_media(value, media)
        line = dump(value)
    if folder is not None:
        open_media_files(folder).write(line)
    return value


class MediaFiles:
    """Writes media next to the event logs, each once, before the event that refers to it.

    Args:
        folder: the folder of the event logs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._written: set[str] = set()
        self._size = 0
        self._lock = threading.Lock()

    def write(self, line: bytes) -> None:
        """Write the media that a line of an event log refers to.

        Raises:
            MediaError: it has more than 100, those of this process have more than 200 MB, or one can't be written.
        """
        digests = list_digests(line)
        if len(digests) > MOST_IN_EVENT:
            raise MediaError(
                f"an input or output has {len(digests):,} images and recordings, and {MOST_IN_EVENT} are the most",
                advice="Return fewer of them, or make more cases.",
            )
        with self._lock:
            for digest in digests:
                # A reference without an object is from the record of an earlier run, which has the file.
                if digest not in self._written and (media := find_known(digest)) is not None:
                    self._write_file(media)
                    self._written.add(digest)

    def _write_file(self, media: Media) -> None:
        if self._size + media.size > MOST_IN_PROCESS:
            raise MediaError(
                f"the images and recordings of this script have more than {format_size(MOST_IN_PROCESS)}",
                advice="Make them smaller, or run fewer cases.",
            )
        data, name = media.data, f"{media.digest}.{TYPES[media.type]}"
        partial = self._folder / f".{os.getpid()}.{name}"
        try:
            self._folder.mkdir(exist_ok=True)
            partial.write_bytes(data)
            partial.replace(self._folder / name)
        except OSError as error:
            raise MediaError(f"{media!r} can't be written: {error.strerror}") from None
        self._size += media.size


@cache
def open_media_files(folder: Path) -> MediaFiles:
    """The writer of this process for a folder of event logs."""
    return MediaFiles(folder)
