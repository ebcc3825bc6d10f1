"""A substitute for a browser: a command that stores the address it is started with."""

from __future__ import annotations

import time
from pathlib import Path

from tests.integration.host.conftest import Project


class Opener:
    """A command of a project's; `BROWSER` may name it."""

    def __init__(self, project: Project) -> None:
        self._shown = project.root / "shown"
        script = f'#!/bin/sh\necho "$1" > {self._shown}.partial && mv {self._shown}.partial {self._shown}\n'
        self.path: Path = project.write("opener", script)
        self.path.chmod(0o755)

    def address(self, looks: int) -> str:
        """What it was started with, once it was; so often it is looked for, 50 ms apart."""
        for _ in range(looks):
            if self._shown.exists():
                break
            time.sleep(0.05)
        return self._shown.read_text(encoding="utf-8").strip()
