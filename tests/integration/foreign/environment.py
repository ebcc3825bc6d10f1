"""Environments with Autoblocks' own SDKs, unmodified."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.integration.cached_environments import cached_folder, install, make_python

# Their judges want an openai of version 1.
PYTHON = ("autoblocksai==0.0.137", "openai>=1.40,<2", "httpx<0.29", "pytest>=8")
NODE = ("@autoblocks/client@0.0.100", "tsx@4", "vitest@3")
_WHAT = "suites of Autoblocks' SDKs"


def python() -> Path:
    """The interpreter of an environment with the SDK for Python; skips, loudly, where it cannot be installed."""
    return cached_folder("autoblocks-py", (sys.version, *PYTHON), _make_python) / "bin" / "python"


def node() -> Path:
    """A folder of modules with the SDK for JavaScript and `tsx`; skips, loudly, where it cannot be installed."""
    if shutil.which("npm") is None:
        pytest.skip("suites of Autoblocks' SDK for JavaScript are NOT tested: there is no npm")
    return cached_folder("autoblocks-js", NODE, _make_node) / "node_modules"


def _make_python(folder: Path) -> None:
    make_python(folder, PYTHON, what=_WHAT)


def _make_node(folder: Path) -> None:
    folder.mkdir()
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    install(["npm", "install", *quiet, "--prefix", str(folder), *NODE], what=_WHAT)
