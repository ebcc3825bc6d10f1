"""The page that was written for a run when it was judged; it holds the base that it was held against."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import IO

from scoregate.ci.archive import REPORT_FILE
from scoregate.ci.archive.opening import plainly
from scoregate.ci.report.html import assets
from scoregate.ci.report.text import excerpt
from scoregate.viewing.found import Found, Stamp, stamp_of

_HEAD_BYTES = 4096
_META = re.compile(r'<meta (?:name|http-equiv)="([\w-]+)" content="([^"]*)">')


def is_written(run: Found) -> bool:
    """Whether there is a page of this run, made by this scoregate: its script is ours."""
    return _place(run) is not None


def open_written(run: Found) -> IO[bytes] | None:
    """The page; None where there is none, or one of another run."""
    place = _place(run)
    if place is None:
        return None
    try:
        file = open(place, "rb", opener=plainly)  # noqa: SIM115 (whoever sends it closes it)
    except OSError:
        return None
    if _is_of(file.read(_HEAD_BYTES), run.head.id):
        return file
    file.close()
    return None


def _place(run: Found) -> Path | None:
    """In the folder of the run, or above it, where `scoregate run` writes it."""
    for path in (run.folder / REPORT_FILE, run.folder.parent / REPORT_FILE):
        stamp = stamp_of(path)
        if stamp is not None and _tells_of(path, stamp, run.head.id):
            return path
    return None


@lru_cache(maxsize=1_000)
def _tells_of(path: Path, stamp: Stamp, run_id: str) -> bool:  # noqa: ARG001
    try:
        with open(path, "rb", opener=plainly) as file:
            return _is_of(file.read(_HEAD_BYTES), run_id)
    except OSError:
        return False


def _is_of(head: bytes, run_id: str) -> bool:
    told = {name: unescape(content) for name, content in _META.findall(head.decode("utf-8", "replace"))}
    about = told.get("scoregate-run"), told.get("Content-Security-Policy")
    return about == (excerpt(run_id, _HEAD_BYTES), assets.policy())
