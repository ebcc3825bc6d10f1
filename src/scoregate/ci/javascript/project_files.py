"""The files of a project that describe its JavaScript. They are untrusted: sizes are limited, links out are ignored."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_MOST_BYTES = 1 << 20
PACKAGE = "package.json"


class ProjectFiles:
    """The files of a workspace.

    Args:
        top: its folder. Nothing outside of it is read.
    """

    def __init__(self, top: Path) -> None:
        self.top = top.resolve()

    def upward(self, folder: Path) -> Iterator[Path]:
        """The folder and those above it, up to the top; none if it isn't in the workspace."""
        folder = folder.resolve()
        if folder.is_relative_to(self.top):
            yield from (each for each in (folder, *folder.parents) if each.is_relative_to(self.top))

    def name(self, path: Path) -> str:
        """The path relative to the top; `.` for the top."""
        return os.path.relpath(path, self.top)

    def has(self, path: Path) -> bool:
        """Whether it is a file in the workspace."""
        real = path.resolve()
        return real.is_relative_to(self.top) and real.is_file()

    def read(self, path: Path) -> str | None:
        """The first megabyte of a file; None if it can't be read, or is no file in the workspace."""
        if not self.has(path):
            return None
        try:
            handle = os.open(path.resolve(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    return None
                return file.read(_MOST_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            return None

    def read_table(self, path: Path) -> Mapping[str, Any]:
        """The object in a JSON file; empty if there is none."""
        try:
            content = json.loads(self.read(path) or "")
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}


def text_at(table: Mapping[str, Any], *keys: str) -> str:
    """The text at a path of keys; empty if there is none."""
    value: object = table
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value.strip() if isinstance(value, str) else ""
