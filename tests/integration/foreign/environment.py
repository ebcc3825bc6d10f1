"""Environments with Autoblocks' own SDKs, unmodified, made once and kept in the user's cache folder."""

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

# Their judges want an openai of version 1.
PYTHON = ("autoblocksai==0.0.137", "openai>=1.40,<2", "httpx<0.29", "pytest>=8")
NODE = ("@autoblocks/client@0.0.100", "tsx@4", "vitest@3")
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "uv"
_NO_INDEX = re.compile(
    r"[Ff]ailed to fetch|dns error|error sending request|[Tt]imed out|ENOTFOUND|ECONNREFUSED|EAI_AGAIN"
)


def python() -> Path:
    """The interpreter of an environment with the SDK for Python; skips, loudly, where it cannot be installed."""
    return _kept("autoblocks-py", (sys.version, *PYTHON), _make_python) / "bin" / "python"


def node() -> Path:
    """A folder of modules with the SDK for JavaScript and `tsx`; skips, loudly, where it cannot be installed."""
    if shutil.which("npm") is None:
        pytest.skip("suites of Autoblocks' SDK for JavaScript are NOT tested: there is no npm")
    return _kept("autoblocks-js", NODE, _make_node) / "node_modules"


def _kept(name: str, wanted: Sequence[str], make: Callable[[Path], None]) -> Path:
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


def _make_python(folder: Path) -> None:
    _run(UV, "venv", "--quiet", "--python", sys.executable, str(folder))
    _run(UV, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *PYTHON)


def _make_node(folder: Path) -> None:
    folder.mkdir()
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    _run("npm", "install", *quiet, "--prefix", str(folder), *NODE)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and _NO_INDEX.search(done.stderr):
        pytest.skip(f"suites of Autoblocks' SDKs are NOT tested: no package index can be reached: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
