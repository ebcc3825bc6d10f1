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
_MOMENT = re.compile(r"[0-9]{1,11}")
_META = re.compile(r'<meta (?:name|http-equiv)="([\w-]+)" content="([^"]*)">')


def written_at(run: Found) -> float | None:
    """When the page of this run was made, in seconds since the epoch; None where there is none that this scoregate
    made: its script is ours."""
    found = _place(run)
    return None if found is None else found[1]


def open_written(run: Found) -> IO[bytes] | None:
    """The page; None where there is none, or one of another run."""
    found = _place(run)
    if found is None:
        return None
    try:
        file = open(found[0], "rb", opener=plainly)  # noqa: SIM115 (whoever sends it closes it)
    except OSError:
        return None
    if _made(file.read(_HEAD_BYTES), run.head.id) is not None:
        return file
    file.close()
    return None


def _place(run: Found) -> tuple[Path, float] | None:
    """In the folder of the run, or above it, where `scoregate run` writes it; with when it was made."""
    for path in (run.folder / REPORT_FILE, run.folder.parent / REPORT_FILE):
        stamp = stamp_of(path)
        if stamp is not None and (made := _made_at(path, stamp, run.head.id)) is not None:
            return path, made
    return None


@lru_cache(maxsize=1_000)
def _made_at(path: Path, stamp: Stamp, run_id: str) -> float | None:  # noqa: ARG001
    try:
        with open(path, "rb", opener=plainly) as file:
            return _made(file.read(_HEAD_BYTES), run_id)
    except OSError:
        return None


def _made(head: bytes, run_id: str) -> float | None:
    """When the page that begins so was made; None where it is not ours, or of another run."""
    told = {name: unescape(content) for name, content in _META.findall(head.decode("utf-8", "replace"))}
    about = told.get("scoregate-run"), told.get("Content-Security-Policy")
    moment = told.get("scoregate-made", "")
    ours = about == (excerpt(run_id, _HEAD_BYTES), assets.policy()) and _MOMENT.fullmatch(moment)
    return float(moment) if ours else None
