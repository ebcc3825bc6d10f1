"""Which version of the store's format a folder has."""

from __future__ import annotations

from pathlib import Path

from scoregate.errors import StoreError
from scoregate.store.files import replace
from scoregate.store.problems import marker

VERSION = 1
_FILE = "version"
# Git joins the lines that two branches added; where they changed the same thing, the reader tells of it.
_BESIDE = {
    ".gitattributes": "*.jsonl text eol=lf merge=union\n",
    ".gitignore": ".*\n!.gitattributes\n!.gitignore\n",
}


def check(folder: Path) -> int:
    """The version of a folder; ours where it does not say.

    Raises:
        StoreError: a newer scoregate wrote it, or the file that says so cannot be understood.
    """
    path = folder / _FILE
    try:
        text = path.read_bytes()[:1000]
    except FileNotFoundError:
        return VERSION
    if not text.strip().isdigit():
        told = marker(text) or f"must be a number, not {text.decode('utf-8', 'replace').strip()!r:.40}"
        raise StoreError(f"{path}:1: {told}", advice=f"This version of scoregate writes {VERSION}.")
    if (found := int(text)) > VERSION:
        raise StoreError(
            f"{folder} was written by a newer scoregate: its version is {found}, this one reads up to {VERSION}",
            advice="Run: pip install --upgrade scoregate",
        )
    return found


def prepare(folder: Path) -> None:
    """Make a folder ready to be written. Needs the lock."""
    if check(folder) != VERSION or not (folder / _FILE).exists():
        replace(folder / _FILE, [f"{VERSION}\n".encode()])
    for name, text in _BESIDE.items():
        if not (folder / name).exists():
            replace(folder / name, [text.encode()])
