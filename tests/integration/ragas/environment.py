"""An environment with what the extra `ragas` asks for, made once and kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parent.parent.parent.parent
SPECIFIER = os.environ.get("SCOREGATE_TEST_RAGAS", "")  # such as ==0.2.*; the newest that we support otherwise
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "uv"
# tiktoken downloads its tables before langchain-openai embeds anything; single bytes are tokens enough.
NO_DOWNLOADS = """
import tiktoken.load
tiktoken.load.load_tiktoken_bpe = lambda *_, **__: {bytes([byte]): byte for byte in range(256)}
"""


@dataclass(frozen=True)
class Environment:
    """Its interpreter, and the version of ragas in it."""

    python: Path
    version: str


def prepared() -> Environment:
    """Made where it is not there; skips, loudly, where nothing can be installed."""
    folder = _folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder)
            (folder / "ready").touch()
    python = folder / "bin" / "python"
    asked = "from importlib.metadata import version; print(version('ragas'))"
    told = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True)
    return Environment(python, told.stdout.strip())


def _requirements() -> list[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    every = [*extras["dependencies"], *extras["optional-dependencies"]["ragas"], "langchain-openai"]
    return [*every, f"ragas{SPECIFIER}"] if SPECIFIER else every


def _folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    key = hashlib.blake2b("\n".join([sys.version, *_requirements()]).encode(), digest_size=6).hexdigest()
    return cache / "scoregate-tests" / f"ragas-{key}"


def _make(folder: Path) -> None:
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    install = [UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python", *_requirements()]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode and re.search(r"[Ff]ailed to fetch|dns error|error sending request|[Tt]imed out", done.stderr):
        pytest.skip(f"evaluators of ragas are NOT tested: no package index can be reached: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "sitecustomize.py").write_text(NO_DOWNLOADS)
