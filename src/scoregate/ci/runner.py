"""The runner of the host process: whether it is a CI job, whether it is scoregate's container, and its workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_CONTAINER_MARK = "SCOREGATE_CONTAINER"


def in_container(environ: Mapping[str, str]) -> bool:
    """Whether this is the host process of scoregate's image, with the right to become another user."""
    return environ.get(_CONTAINER_MARK) == "1" and os.geteuid() == 0


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether a CI job runs scoregate; all CI systems set `CI`."""
    return environ.get("CI", "").lower() not in ("", "0", "false") or environ.get("GITHUB_ACTIONS") == "true"


def find_workspace(environ: Mapping[str, str]) -> Path:
    """The folder into which CI checked out the project; outside of CI the working directory."""
    return Path(environ.get("GITHUB_WORKSPACE") or Path.cwd())
