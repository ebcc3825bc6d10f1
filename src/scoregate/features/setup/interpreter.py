"""Find the Python interpreter that runs the user's suites."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from scoregate.errors import SettingsError
from scoregate.features.setup.install.python_project import WantedGroups
from scoregate.kernel.host.process import visible_environment
from scoregate.kernel.run.interpreter import Interpreter

_NO_GROUPS = WantedGroups()
_POETRY_TIMEOUT_S = 30


def find_interpreter(
    root: Path,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
    origin: str = "",
    groups: WantedGroups = _NO_GROUPS,
) -> Interpreter:
    """The user's interpreter: the named one, else that of a virtual environment, of uv or Poetry, else scoregate's own.

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
        return _use_python(path, f"named by {origin or 'the settings'}", environ)
    folders = [(folder, f"the project's virtual environment {folder}") for folder in (".venv", "venv")]
    if active := environ.get("VIRTUAL_ENV"):
        folders.insert(0, (active, f"the active virtual environment {active}"))
    for folder, why in folders:
        if python := _find_python(root / folder):
            return _use_python(python, why, environ)
    from scoregate.features.setup.install.python_project import find_uv_lock, read_python_project

    lock = find_uv_lock(root)
    if lock is not None and lock.parent != root and (python := _find_python(lock.parent / ".venv")):
        return _use_python(python, f"the workspace's virtual environment {lock.parent / '.venv'}", environ)
    uv = shutil.which("uv", path=environ.get("PATH"))
    if uv and lock is not None:
        from scoregate.features.setup.install.locks import uv_group_options

        launcher = (uv, "run", "--quiet", *uv_group_options(groups, read_python_project(root)))
        return Interpreter((*launcher, "python"), "the project has a uv.lock, and uv is installed", launcher=launcher)
    if python := _find_poetry_python(root, environ):
        return _use_python(python, "the project's environment of Poetry", environ)
    return Interpreter((sys.executable,), "the Python that scoregate runs under; no virtual environment was found")


def _find_python(venv: Path) -> str | None:
    """The interpreter of a virtual environment; None if it can't be run."""
    python = str(venv / "bin" / "python")
    return python if shutil.which(python) else None


def _use_python(python: str, why: str, environ: Mapping[str, str]) -> Interpreter:
    """An interpreter, with the variables that activate its environment if it belongs to one."""
    prefix = Path(python).absolute().parent.parent  # not resolved: the link itself is in the environment
    if not any((prefix / name).exists() for name in ("pyvenv.cfg", "conda-meta")):
        return Interpreter((python,), why)
    path = f"{prefix / 'bin'}{os.pathsep}{environ.get('PATH', os.defpath)}"
    return Interpreter((python,), why, {"VIRTUAL_ENV": str(prefix), "PATH": path})


def _find_poetry_python(root: Path, environ: Mapping[str, str]) -> str | None:
    """The interpreter of the environment that Poetry keeps outside of the project; None if it has none."""
    from scoregate.features.setup.install.python_project import read_python_project

    poetry, project = shutil.which("poetry", path=environ.get("PATH")), read_python_project(root)
    if poetry is None:
        return None
    from scoregate.features.setup.install.locks import POETRY_LOCK

    if not (project.has(POETRY_LOCK) or project.table("tool", "poetry")):
        return None
    command = (poetry, "env", "info", "--executable", "--no-ansi", "--no-interaction")
    try:
        # `poetry run` would look for another environment in the base's tree, where nothing is installed.
        found = subprocess.run(
            command,
            check=False,
            cwd=root,
            env=visible_environment(environ),
            capture_output=True,
            text=True,
            timeout=_POETRY_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    python = found.stdout.strip()
    return python if found.returncode == 0 and shutil.which(python) else None
