"""Where an environment is made: on whose behalf, with what, and what it sees of ours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scoregate.ci.child import visible
from scoregate.ci.identity import Identity
from scoregate.ci.secrets import Redactor
from scoregate.errors import InstallError

# uv reads its own names only; who set pip's in a workflow means both.
_OF_PIP = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_CERT": "SSL_CERT_FILE"}
_QUIETLY = {"UV_NO_PROGRESS": "1", "NO_COLOR": "1"}


@dataclass(frozen=True, slots=True)
class Site:
    """Where an environment is made.

    Args:
        root: the project. scratch: a folder outside of it, in which the environment is made.
        environ: the host's environment. identity: who does it; None for ourselves.
        automatic: whether `install = "auto"` means to make one. own: whether only ours can be relied on otherwise.
        redact: takes known secrets out of what is told. say: is told every line that is printed meanwhile.
    """

    root: Path
    scratch: Path
    environ: Mapping[str, str]
    redact: Redactor
    say: Callable[[str], None]
    identity: Identity | None = None
    automatic: bool = False
    own: bool = False

    @property
    def venv(self) -> Path:
        """The environment's folder."""
        return self.scratch / "suites" / "venv"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    def uv(self) -> str:
        """The uv that came with us, else the one on PATH.

        Raises:
            InstallError: there is none.
        """
        beside = os.pathsep.join((str(Path(sys.executable).parent), self.environ.get("PATH", os.defpath)))
        if (found := shutil.which("uv", path=beside)) is None:
            raise InstallError(
                "an environment for the suites is made by uv, which is not installed",
                advice="Install it (`pip install uv`), or set `install` to none.",
            )
        return found

    def environment(self) -> dict[str, str]:
        """What uv and commands get: what is visible of ours, the environment to fill, and pip's indexes for uv."""
        seen = visible(self.environ)
        indexes = {ours: seen[theirs] for theirs, ours in _OF_PIP.items() if theirs in seen}
        return {**indexes, "UV_LINK_MODE": "copy", **seen, **_QUIETLY, **self.activated()}

    def activated(self) -> dict[str, str]:
        """What makes programs find the environment."""
        path = f"{self.venv / 'bin'}{os.pathsep}{self.environ.get('PATH', os.defpath)}"
        return {"UV_PROJECT_ENVIRONMENT": str(self.venv), "VIRTUAL_ENV": str(self.venv), "PATH": path}

    def open(self) -> None:
        """Make the folder that holds the environment, and open it to those who fill it and who use it."""
        folder = self.venv.parent
        folder.mkdir(mode=0o700, exist_ok=True)
        if self.identity is not None:
            self.identity.share(folder)
