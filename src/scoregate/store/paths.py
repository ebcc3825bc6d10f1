"""Where in a folder the shelves of a store are."""

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
_LONGEST = 100
_MORE = "~"
_ESCAPE = re.compile(r"((?:%[0-9a-f]{2})+)|\+([a-z])|%")


def to_parts(names: Sequence[str]) -> tuple[str, ...]:
    """The way of a shelf below its kind's folder: one part a name, or several for a name beyond 100 characters.

    Lower-case letters, digits, `_`, `-` and `.` stay; a capital becomes `+` and the small letter, so that `A` and `a`
    are two files everywhere; all else becomes `%` and two hex digits a byte of its UTF-8. Parts end with `~` where the
    name goes on in the next.
    """
    return tuple(part for name in names for part in _parts(name))


def to_names(parts: Sequence[str]) -> tuple[str, ...]:
    """The names behind a way.

    Raises:
        ValueError: `to_parts` would not have made this way; the argument is the one it would have made.
    """
    whole, names = "", []
    for part in parts:
        whole += part.removesuffix(_MORE)
        if not part.endswith(_MORE):
            names.append(_unescaped(whole))
            whole = ""
    if (proper := to_parts(names)) != tuple(parts):
        raise ValueError("/".join(proper))
    return tuple(names)


def _parts(name: str) -> Iterator[str]:
    part = ""
    for token in map(_escaped, name):
        if len(part) + len(token) > _LONGEST:
            yield _safe(part) + _MORE
            part = ""
        part += token
    yield _safe(part) if part else "%"


def _escaped(char: str) -> str:
    if char in _PLAIN:
        return char
    if "A" <= char <= "Z":
        return f"+{char.lower()}"
    return _hex(char)


def _hex(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def _safe(part: str) -> str:
    """Nothing hidden, nothing that looks like an option, no name of a device, no dot that Windows would drop."""
    if part[0] in ".-" or part.split(".", maxsplit=1)[0] in _DEVICES:
        part = _hex(part[0]) + part[1:]
    return part[:-1] + _hex(part[-1]) if part.endswith(".") else part


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text)


def _meant(match: re.Match[str]) -> str:
    escaped, capital = match.groups()
    if escaped:
        return _decoded(bytes.fromhex(escaped.replace("%", "")))
    return capital.upper() if capital else ""


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


def path_of(folder: Path, kind: Kind[Any], shelf: Key) -> Path:
    """The file of a shelf.

    Raises:
        ValueError: shelves of this kind have more names, or fewer.
    """
    if len(shelf) != len(kind.shelf):
        raise ValueError(f"{kind.name} are found by {' and '.join(kind.shelf)}, not by {shelf!r}")
    *folders, last = to_parts(shelf)
    return folder.joinpath(kind.name, *folders, last + kind.layout.suffix)


def shelves_in(folder: Path, kind: Kind[Any]) -> Iterator[Key]:
    """The shelves that have files, as they come.

    Raises:
        StoreError: a file has a name that no shelf can have.
    """
    top = folder / kind.name
    for path in top.rglob(f"*{kind.layout.suffix}"):
        if not path.name.startswith(".") and path.is_file():
            yield _shelf_of(path, top, kind)


def shown(path: Path) -> str:
    """A path as people know it: relative to the working directory where it is below that."""
    inner = os.path.relpath(path)
    return str(path) if inner.startswith(os.pardir) else inner


def _shelf_of(path: Path, top: Path, kind: Kind[Any]) -> Key:
    suffix = kind.layout.suffix
    try:
        shelf = to_names(path.relative_to(top).as_posix().removesuffix(suffix).split("/"))
    except ValueError as error:
        raise _misnamed(path, f"{error}{suffix}") from None
    if len(shelf) != len(kind.shelf):
        raise _misnamed(path, "/".join(f"<{name}>" for name in kind.shelf) + suffix)
    return shelf


def _misnamed(path: Path, proper: str) -> StoreError:
    return StoreError(
        f"{shown(path)} has a name that nothing in the store can have", advice=f"Name it {proper}, or move it away."
    )
