"""The program of an agent on this machine: a digest of its files, by which another version is known."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b, file_digest
from pathlib import Path

_MOST_BYTES = 1 << 30
_PACKAGE = "package.json"
_PACKAGES = "node_modules"


def digest_program(command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> str:
    """A digest of the program of a command, and of the files that its arguments name by absolute paths.

    The program of a Node package is often a short script that starts the rest, so the package's version counts too.
    No path is part of it: machines differ.

    Args:
        command: the program and its arguments.
        environ: the environment, for its PATH.
        cwd: relative programs are relative to it.
    """
    digest = blake2b(digest_size=10)
    for path in _list_files(command, environ, cwd):
        digest.update(_digest_file(path))
    return digest.hexdigest()


def _list_files(command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> Iterator[Path]:
    program, *words = command
    location = str(cwd / program) if "/" in program else shutil.which(program, path=environ.get("PATH"))
    if location is None:
        return
    path = Path(os.path.realpath(location))
    yield path
    if _PACKAGES in path.parts:
        yield from [folder / _PACKAGE for folder in path.parents if (folder / _PACKAGE).is_file()][:1]
    yield from (Path(word) for word in words if word.startswith("/"))


def _digest_file(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b"no file"
        state = path.stat()
        if state.st_size > _MOST_BYTES:
            return f"{state.st_size} {state.st_mtime_ns}".encode()
        with path.open("rb") as file:
            return file_digest(file, "blake2b").digest()
    except (OSError, ValueError) as error:
        return type(error).__name__.encode()
