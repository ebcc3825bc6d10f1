"""Find the Python interpreter that runs the user's suites."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from scoregate.ci.install.groups import WantedGroups
from scoregate.core.records import record
from scoregate.errors import SettingsError

_NO_GROUPS = WantedGroups()


@record
class Interpreter:
    """The command that starts Python, and the reason for it.

    `environment` are variables for the suites' processes; `notes` describe what else is prepared for them.
    """

    argv: tuple[str, ...]
    why: str
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def find_interpreter(
    root: Path,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
    origin: str = "",
    groups: WantedGroups = _NO_GROUPS,
) -> Interpreter:
    """The user's interpreter: the named one, else that of a virtual environment, else scoregate's own.

    Args:
        root: the project's folder.
        environ: the environment, for VIRTUAL_ENV and PATH.
        named: a path, relative to the root, or a name on PATH.
        origin: where it was named.
        groups: groups and extras for `uv run`.

    Raises:
        SettingsError: the named one does not exist.
        InstallError: pyproject.toml can't be read, or has no such group.
    """
    if named is not None:
        program = str(root / Path(named).expanduser()) if "/" in named else named
        path = shutil.which(program, path=environ.get("PATH"))
        if path is None:
            raise SettingsError(
                f"{origin or 'settings'}: python = {named!r} can't be run",
                advice="Set it to the path of an interpreter, such as .venv/bin/python.",
            )
        return Interpreter((path,), f"named by {origin or 'the settings'}")
    folders = [(folder, f"the project's virtual environment {folder}") for folder in (".venv", "venv")]
    if active := environ.get("VIRTUAL_ENV"):
        folders.insert(0, (active, f"the active virtual environment {active}"))
    for folder, why in folders:
        if python := _find_python(root / folder):
            return Interpreter((python,), why)
    from scoregate.ci.install.python_project import find_uv_lock, read_python_project

    lock = find_uv_lock(root)
    if lock is not None and lock.parent != root and (python := _find_python(lock.parent / ".venv")):
        return Interpreter((python,), f"the workspace's virtual environment {lock.parent / '.venv'}")
    uv = shutil.which("uv", path=environ.get("PATH"))
    if uv and lock is not None:
        from scoregate.ci.install.locks import uv_group_options

        options = uv_group_options(groups, read_python_project(root))
        return Interpreter((uv, "run", "--quiet", *options, "python"), "the project has a uv.lock, and uv is installed")
    return Interpreter((sys.executable,), "the Python that scoregate runs under; no virtual environment was found")


def _find_python(venv: Path) -> str | None:
    """The interpreter of a virtual environment; None if it can't be run."""
    python = str(venv / "bin" / "python")
    return python if shutil.which(python) else None
