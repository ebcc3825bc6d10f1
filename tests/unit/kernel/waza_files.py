"""Files of waza in a skill's folder."""

from __future__ import annotations

from pathlib import Path

FOLDER = "skills/paint/tests"
FILE = f"{FOLDER}/eval.yaml"


def write(root: Path, files: dict[str, str]) -> None:
    """Write files by their names to the folder of a skill's tests."""
    for name, text in files.items():
        path = root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
