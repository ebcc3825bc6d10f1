"""Add entries to `.scoregate/accepted.toml`; what is in the file stays as it is."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scoregate.features.exemptions.entries.files import ACCEPTED, ACCEPTED_FILE, parse_files, read_content
from scoregate.kernel.types.exemptions import AcceptedRegression


def append_accepted(root: Path, entries: Iterable[AcceptedRegression]) -> tuple[AcceptedRegression, ...]:
    """Append entries to the file, and return them with their places.

    Args:
        root: the project.
        entries: the new entries, of scores.

    Raises:
        SettingsError: the file, or a new entry, is not valid; nothing is written then.
        OSError: the file can't be written.
    """
    content = read_content(root, ACCEPTED_FILE) or b""
    known = parse_files(content, None).accepted
    new = add_entries(content, entries)
    # Before it is written: one invalid entry makes the whole file count for nothing.
    found = parse_files(new, None).accepted
    _replace(root / ACCEPTED_FILE, new)
    return found[len(known) :]


def add_entries(content: bytes, entries: Iterable[AcceptedRegression]) -> bytes:
    """The content of the file with more entries at its end."""
    end = "\r\n" if b"\r\n" in content else "\n"  # a file keeps its line ends
    parts = [content.rstrip(b"\r\n").decode("utf-8")] if content.strip() else []
    text = f"{end}{end}".join([*parts, *(format_entry(entry).replace("\n", end) for entry in entries)]) + end
    return text.encode("utf-8")


def format_entry(entry: AcceptedRegression) -> str:
    """The entry as TOML. JSON writes texts as TOML reads them, but for a character that no name has."""
    fields = {
        "suite": _quote(entry.suite),
        "evaluator": _quote(entry.evaluator),
        "until": entry.until,
        "reason": _quote(entry.reason),
        "by": _quote(entry.by),
        "issue": _quote(entry.issue) if entry.issue else "",
        "at_most": f"{entry.at_most:g}",
    }
    return "\n".join([f"[[{ACCEPTED}]]", *(f"{name} = {value}" for name, value in fields.items() if value)])


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _replace(path: Path, content: bytes) -> None:
    """Replace a file at once, so that an interrupted write leaves the old one."""
    path.parent.mkdir(exist_ok=True)
    target = path.resolve()  # a link stays a link
    # mkstemp makes a file that only its owner can read.
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
