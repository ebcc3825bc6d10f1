"""Which Python the user's suites run under."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The command that starts Python, and the reason for it; `environment` are variables for the suites' processes."""

    argv: tuple[str, ...]
    why: str
    environment: Mapping[str, str] = field(default_factory=dict)


def find_interpreter(
    root: Path, environ: Mapping[str, str], *, named: str | None = None, origin: str = ""
) -> Interpreter:
    """The user's interpreter: the named one, else that of their environment, else the one we run under.

    Args:
        root: the project's folder.
        environ: the environment, for VIRTUAL_ENV and PATH.
        named: a path, relative to the root, or a name on PATH.
        origin: where it was named.

    Raises:
        SettingsError: the named one does not exist.
    """
    if named is not None:
        return _find_named(root, environ, named=named, origin=origin)
    own = Interpreter((sys.executable,), "the Python that scoregate runs under; no virtual environment was found")
    return next(_find_environments(root, environ), own)


def _find_named(root: Path, environ: Mapping[str, str], *, named: str, origin: str) -> Interpreter:
    path = shutil.which(str(root / Path(named).expanduser()) if "/" in named else named, path=environ.get("PATH"))
    if path is None:
        raise SettingsError(
            f"{origin or 'settings'}: python = {named!r} can't be run",
            advice="Set it to the path of an interpreter, such as .venv/bin/python.",
        )
    return Interpreter((path,), f"named by {origin or 'the settings'}")


def _find_environments(root: Path, environ: Mapping[str, str]) -> Iterator[Interpreter]:
    if active := environ.get("VIRTUAL_ENV"):
        yield from _environment_interpreter(root / active, f"the active virtual environment {active}")
    for folder in (".venv", "venv"):
        yield from _environment_interpreter(root / folder, f"the project's virtual environment {folder}")
    uv = shutil.which("uv", path=environ.get("PATH"))
    if uv and (root / "uv.lock").is_file():
        yield Interpreter((uv, "run", "--quiet", "python"), "the project has a uv.lock, and uv is installed")


def _environment_interpreter(folder: Path, why: str) -> Iterator[Interpreter]:
    if shutil.which(folder / "bin" / "python"):
        yield Interpreter((str(folder / "bin" / "python"),), why)
