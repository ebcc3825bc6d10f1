"""The environment of one script."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from scoregate.ci.child import visible


def child_environment(
    environ: Mapping[str, str], extra: Mapping[str, str], *, events: Path, root: Path
) -> dict[str, str]:
    """What is visible of ours, and what a suite needs.

    Args:
        environ: the host's. extra: what this script is given besides.
        events: the folder that its logs go to. root: the repository; it and its `src` can be imported from,
            so that a base uses its own code.
    """
    kept = {**visible(environ), **extra}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(_import_path(kept.get("PYTHONPATH"), root)),
        "PYTHONUNBUFFERED": "1",
        "SCOREGATE_EVENTS": str(events),
        "SCOREGATE_ROOT": str(root),
    }


def _import_path(given: str | None, root: Path) -> list[str]:
    source = root / "src"
    own = [str(root), *([str(source)] if source.is_dir() else [])]
    named = given.split(os.pathsep) if given else []
    return [*named, *(folder for folder in own if folder not in named)]
