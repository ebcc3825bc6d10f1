"""The file paths of collections in the folder of a store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scoregate.errors import StoreError
from scoregate.store.kinds import Key, Kind

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
_MAX_PART_LENGTH = 100
_CONTINUED = "~"
_ESCAPE = re.compile(r"((?:%[0-9a-f]{2})+)|\+([a-z])|%")


def to_parts(names: Sequence[str]) -> tuple[str, ...]:
    """The path parts for the names in a key. A name of more than 100 characters has several parts.

    Lower-case letters, digits, `_`, `-` and `.` are kept. A capital letter becomes `+` and the lower-case letter, so
    `A` and `a` are different files on every system. Other characters become `%` and two hex digits for each byte of
    their UTF-8. A part ends with `~` if the name continues in the next part.
    """
    parts = []
    for name in names:
        part = ""
        for token in map(_escape, name):
            if len(part) + len(token) > _MAX_PART_LENGTH:
                parts.append(_safe_part(part) + _CONTINUED)
                part = ""
            part += token
        parts.append(_safe_part(part) if part else "%")
    return tuple(parts)


def to_names(parts: Sequence[str]) -> tuple[str, ...]:
    """The names in a key from path parts.

    Raises:
        ValueError: `to_parts` gives another path for the names; the message is that path.
    """
    name, names = "", []
    for part in parts:
        name += part.removesuffix(_CONTINUED)
        if not part.endswith(_CONTINUED):
            names.append(_ESCAPE.sub(_unescape, name))
            name = ""
    # Another spelling of a name would be a second file for its key.
    if (proper := to_parts(names)) != tuple(parts):
        raise ValueError("/".join(proper))
    return tuple(names)


def _escape(char: str) -> str:
    if char in _PLAIN:
        return char
    if "A" <= char <= "Z":
        return f"+{char.lower()}"
    return _hex(char)


def _hex(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def _safe_part(part: str) -> str:
    """Escape what makes a hidden file, an option, a device name, or a final dot that Windows removes."""
    if part[0] in ".-" or part.split(".", maxsplit=1)[0] in _DEVICES:
        part = _hex(part[0]) + part[1:]
    return part[:-1] + _hex(part[-1]) if part.endswith(".") else part


def _unescape(match: re.Match[str]) -> str:
    hex_text, capital = match.groups()
    if not hex_text:
        return capital.upper() if capital else ""
    data = bytes.fromhex(hex_text.replace("%", ""))
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")  # `to_names` refuses the file, since this is not its proper spelling


def collection_path(folder: Path, kind: Kind[Any], key: Key) -> Path:
    """The file of a collection.

    Raises:
        ValueError: the key has too many or too few parts.
    """
    if len(key) != len(kind.key_parts):
        raise ValueError(f"the key of {kind.name} is {' and '.join(kind.key_parts)}, not {key!r}")
    *folders, last = to_parts(key)
    return folder.joinpath(kind.name, *folders, last + kind.layout.suffix)


def find_keys(folder: Path, kind: Kind[Any]) -> Iterator[Key]:
    """The keys of all collections, unsorted.

    Raises:
        StoreError: the name of a file is not a key.
    """
    top, suffix = folder / kind.name, kind.layout.suffix
    for path in top.rglob(f"*{suffix}"):
        if path.name.startswith(".") or not path.is_file():
            continue
        try:
            key = to_names(path.relative_to(top).as_posix().removesuffix(suffix).split("/"))
        except ValueError as error:
            raise _name_error(path, f"{error}{suffix}") from None
        if len(key) != len(kind.key_parts):
            raise _name_error(path, "/".join(f"<{name}>" for name in kind.key_parts) + suffix)
        yield key


def _name_error(path: Path, expected: str) -> StoreError:
    return StoreError(
        f"the name of {display_path(path)} is not valid in the store",
        advice=f"Rename it to {expected}, or move it away.",
    )


def display_path(path: Path) -> str:
    """A path for messages: relative to the working directory if it is below it."""
    inner = os.path.relpath(path)
    return str(path) if inner.startswith(os.pardir) else inner
