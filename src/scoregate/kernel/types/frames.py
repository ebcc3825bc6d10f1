"""The frames of a traceback that its text shows: files, lines and source code."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_FRAME = re.compile(
    r'^ {2}File "(?P<file>[^"\n]{1,1000})", line (?P<line>\d{1,9})(?:, in (?P<name>[^\n]*))?\n(?P<code> {4}[^\n]*)?',
    re.M,
)
_PACKAGES = ("site-packages", "dist-packages")
_LIBRARY = re.compile(r"/lib/python3\.\d+/|^<(?!string|stdin|ipython)")
_OWN = os.path.abspath(__file__).removesuffix(os.path.join("kernel", "types", "frames.py"))  # noqa: PTH100, PTH118
_LONGEST_CODE = 160
_NO_FILE = "<string>"


class Frame(NamedTuple):
    """A place in a file: its path, the line, and the code there, empty if unknown."""

    file: str
    line: int
    code: str

    def describe(self, folder: str) -> str:
        """`evals/eval_x.py:12: return 1 / 0`, with the path relative to a folder that holds it."""
        start = folder.rstrip(os.sep) + os.sep
        place = f"{self.file.removeprefix(start)}:{self.line}"
        return f"{place}: {self.code}" if self.code else place


def find_user_frames(traceback: str, most: int = 3) -> list[Frame]:
    """The last frames of a traceback in the user's own code; in a library, if there is none; never in scoregate.

    Args:
        traceback: the text that Python formats.
        most: how many frames are returned.
    """
    frames = [
        Frame(match["file"], int(match["line"]), (match["code"] or "").strip()[:_LONGEST_CODE])
        for match in _FRAME.finditer(traceback)
    ]
    own = [frame for frame in frames if not _is_installed(frame.file)]
    # Generated code, such as the `__init__` of a dataclass, has no file. Neither has a script of `python -c`.
    own = [frame for frame in own if frame.file != _NO_FILE] or own
    return (own or [frame for frame in frames[-1:] if not _is_scoregate(frame.file)])[-most:]


def _is_scoregate(file: str) -> bool:
    return file.startswith(_OWN) or any(f"/{name}/scoregate/" in file for name in _PACKAGES)


def _is_installed(file: str) -> bool:
    return file.startswith(_OWN) or any(f"/{name}/" in file for name in _PACKAGES) or _LIBRARY.search(file) is not None
