"""Images and audio that rows of data files name: `{"media": "pictures/cat.png"}`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoregate.errors import MediaError
from scoregate.kernel.types.media import Media

_FIELD = "media"
_MOST_LEVELS = 100


def find_root(folder: Path) -> Path:
    """The repository around a folder: the host names it; else the git work tree, else the folder itself."""
    if named := os.environ.get("SCOREGATE_ROOT"):
        return Path(named)
    folder = folder.absolute()
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def open_media(value: Any, folder: Path, root: Path, level: int = 0) -> Any:
    """A value of a row in which objects with the one field `media` are replaced by the file that it names.

    Args:
        value: the value.
        folder: the folder that paths are relative to.
        root: the repository; no file outside of it is read.
        level: the level of the value in the row.

    Raises:
        MediaError: a file is outside of the repository, can't be read, or is not an image or audio.
    """
    if level > _MOST_LEVELS:
        return value
    if isinstance(value, Mapping):
        if value.keys() == {_FIELD} and isinstance(value[_FIELD], str):
            return _open_file(value[_FIELD], folder, root)
        return {name: open_media(each, folder, root, level + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [open_media(each, folder, root, level + 1) for each in value]
    return value


def _open_file(name: str, folder: Path, root: Path) -> Media:
    try:
        path = (folder / name).resolve()
        is_inside = path.is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a zero byte
        raise MediaError(f"the path of the media {name!r:.200} is not valid: {error}") from None
    if not is_inside:
        raise MediaError(
            f"the media {name!r:.200} are outside of the repository",
            advice="Data files name files of the repository, by paths relative to the data file.",
        )
    return Media.from_path(path)
