"""Environments with packages of others, made once and kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "uv"
_NO_INDEX = re.compile(
    r"[Ff]ailed to fetch|dns error|error sending request|[Tt]imed out|ENOTFOUND|ECONNREFUSED|EAI_AGAIN"
)


def cached_folder(name: str, wanted: Sequence[str], make: Callable[[Path], None]) -> Path:
    """A folder that `make` filled, once for all that is `wanted` in it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    key = hashlib.blake2b("\n".join(wanted).encode(), digest_size=6).hexdigest()
    folder = cache / "scoregate-tests" / f"{name}-{key}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            (folder / "ready").touch()
    return folder


def make_python(folder: Path, requirements: Sequence[str], *, what: str) -> None:
    """A virtual environment with these; skips, loudly, where they cannot be had. `what` is then not tested."""
    install([UV, "venv", "--quiet", "--python", sys.executable, str(folder)], what=what)
    python = str(folder / "bin" / "python")
    install([UV, "pip", "install", "--quiet", "--python", python, *requirements], what=what)


def install(command: Sequence[str], *, what: str) -> None:
    """Run what installs something; as `make_python`."""
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode and _NO_INDEX.search(process.stderr):
        pytest.skip(f"{what} are NOT tested: no package index can be reached: {process.stderr[-300:]}")
    assert process.returncode == 0, process.stderr
