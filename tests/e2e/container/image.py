"""Our image, built from this checkout; `python -m tests.e2e.container.image` builds it ahead of the tests."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOOLS = ROOT.parent / "shared" / "tools"
INCLUDED = ("LICENSE", "README.md", "pyproject.toml", "requirements-build.lock", "requirements.lock")


@dataclass(frozen=True)
class Image:
    """What was built, and the variable of the environment with which podman runs it."""

    tag: str
    variable: str
    value: str


def missing_tools() -> str | None:
    """What it takes to build and run the image and is not here."""
    for needed in (TOOLS / "build_image.sh", TOOLS / "run_action.py"):
        if not needed.is_file():
            return f"there is no {needed}"
    if not (shutil.which("podman") or shutil.which("apt-get")):
        return "neither podman nor apt-get is here"
    return None


def build_image() -> Image:
    """The image of this checkout, built by one process at a time and only if what goes into it has changed.

    Raises:
        AssertionError: it cannot be built.
    """
    tag = f"scoregate-e2e:{hashlib.sha256(bytes(ROOT)).hexdigest()[:12]}"
    folder = Path(tempfile.gettempdir())
    stamp = folder / f"{tag.replace(':', '-')}.json"
    with (folder / "scoregate-e2e.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = digest()
        if (image := read_stamp(stamp, content)) is None:
            image = build(tag)
            stamp.write_text(json.dumps({"content": content, **asdict(image)}), encoding="utf-8")
    return image


def build(tag: str) -> Image:
    command = ["bash", str(TOOLS / "build_image.sh"), str(ROOT), tag]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    variable, _, value = process.stdout.splitlines()[-1].removeprefix("export ").partition("=")
    return Image(tag, variable, value)


def digest() -> str:
    """Of every file that .dockerignore lets in, and of what builds the image."""
    files = [ROOT / name for name in ("Dockerfile", ".dockerignore", *INCLUDED)]
    # Other processes compile modules at the same time, and replace temporary files then.
    sources = (path for path in sorted((ROOT / "src").rglob("*")) if "__pycache__" not in path.parts)
    files += [path for path in sources if path.is_file()]
    found = hashlib.sha256((TOOLS / "build_image.sh").read_bytes())
    for file in files:
        found.update(f"{file.relative_to(ROOT)} {file.stat().st_mode:o} {file.stat().st_size}\n".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def read_stamp(stamp: Path, content: str) -> Image | None:
    """The image that was built of the same content, if podman still has it."""
    try:
        stamp_data = json.loads(stamp.read_text(encoding="utf-8"))
        image = Image(stamp_data["tag"], stamp_data["variable"], stamp_data["value"])
    except (OSError, ValueError, KeyError):
        return None
    if stamp_data["content"] != content or shutil.which("podman") is None:
        return None
    exists = ["podman", "image", "exists", image.tag]
    there = subprocess.run(exists, env={**os.environ, image.variable: image.value}, check=False)
    return image if there.returncode == 0 else None


if __name__ == "__main__" and missing_tools() is None:
    build_image()
