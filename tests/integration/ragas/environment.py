"""An environment with what the extra `ragas` asks for."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.integration.cached_environments import cached_folder, make_python

ROOT = Path(__file__).parent.parent.parent.parent
SPECIFIER = os.environ.get("SCOREGATE_TEST_RAGAS", "")  # such as ==0.2.*; the newest that we support otherwise
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


def prepare_environment() -> Environment:
    """Made where it is not there; skips, loudly, where nothing can be installed."""
    folder = cached_folder("ragas", (sys.version, NO_DOWNLOADS, *_requirements()), _make)
    python = folder / "bin" / "python"
    source = "from importlib.metadata import version; print(version('ragas'))"
    process = subprocess.run([python, "-c", source], capture_output=True, text=True, check=True)
    return Environment(python, process.stdout.strip())


def _requirements() -> list[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    every = [*extras["dependencies"], *extras["optional-dependencies"]["ragas"], "langchain-openai"]
    return [*every, f"ragas{SPECIFIER}"] if SPECIFIER else every


def _make(folder: Path) -> None:
    make_python(folder, _requirements(), what="evaluators of ragas")
    (site,) = folder.glob("lib/python*/site-packages")
    # Not sitecustomize: Debian's Python has one of its own, which comes first.
    (site / "no_downloads.py").write_text(NO_DOWNLOADS)
    (site / "no_downloads.pth").write_text("import no_downloads\n")
