"""The files of a project that describe its JavaScript. They are untrusted: sizes are limited, links out are ignored."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scoregate.kernel.host.file_access import read_project_file

_MOST_BYTES = 1 << 20
PACKAGE = "package.json"


class WorkspaceFiles:
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
        try:
            real = path.resolve()
            return real.is_relative_to(self.top) and real.is_file()
        except (OSError, RuntimeError):  # before Python 3.13, for a link to itself
            return False

    def read(self, path: Path) -> str | None:
        """The first megabyte of a file; None if it can't be read, or is not a file in the workspace."""
        try:
            return read_project_file(path, _MOST_BYTES, top=self.top).decode("utf-8-sig", "replace")
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
