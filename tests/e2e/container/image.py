"""Our image, built from this checkout; `python -m tests.e2e.container.image` builds it ahead of the tests."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOOLS = ROOT.parent / "shared" / "tools"


@dataclass(frozen=True)
class Image:
    """What was built, and the variable of the environment with which podman runs it."""

    tag: str
    variable: str
    value: str


def wanting() -> str | None:
    """What it takes to build and run the image and is not here."""
    for needed in (TOOLS / "build_image.sh", TOOLS / "run_action.py"):
        if not needed.is_file():
            return f"there is no {needed}"
    if not (shutil.which("podman") or shutil.which("apt-get")):
        return "neither podman nor apt-get is here"
    return None


def built() -> Image:
    """Built by one process at a time: who comes later finds what the first has made.

    Raises:
        AssertionError: it cannot be built.
    """
    tag = f"scoregate-e2e:{hashlib.sha256(bytes(ROOT)).hexdigest()[:12]}"
    build = ["bash", str(TOOLS / "build_image.sh"), str(ROOT), tag]
    with (Path(tempfile.gettempdir()) / "scoregate-e2e.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    variable, _, value = done.stdout.splitlines()[-1].removeprefix("export ").partition("=")
    return Image(tag, variable, value)


if __name__ == "__main__" and wanting() is None:
    built()
