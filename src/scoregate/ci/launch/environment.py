"""A child's environment: ours, less what it must not have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_PREFIXES = ("INPUT_", "ACTIONS_")
_NAMES = frozenset(
    {"GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}
)
# What a runner's host leaks into its steps, and what would mislead the interpreter that we chose.
_LEAKS = frozenset({"LD_LIBRARY_PATH", "pythonLocation", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "PYTHONHOME"})


def child_environment(
    environ: Mapping[str, str], extra: Mapping[str, str], *, events: Path, root: Path, tokens: Iterable[str] = ()
) -> dict[str, str]:
    """The environment of one script.

    Args:
        environ: the host's. extra: what this script is given besides.
        events: the folder that its logs go to. root: the repository's, also the last place to import from.
        tokens: values that no variable may carry.
    """
    given = {token for token in (*tokens, environ.get("GITHUB_TOKEN", "")) if token}
    kept = {
        name: value
        for name, value in environ.items()
        if not _forbidden(name, environ) and not any(token in value for token in given)
    }
    path = [part for part in (kept.get("PYTHONPATH"), str(root)) if part]
    return {
        **kept,
        **extra,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUNBUFFERED": "1",
        "SCOREGATE_EVENTS": str(events),
        "SCOREGATE_ROOT": str(root),
    }


def _forbidden(name: str, environ: Mapping[str, str]) -> bool:
    if name in _NAMES or name.startswith(_PREFIXES):
        return True
    leaked = name in _LEAKS or name.startswith("UV_PYTHON")
    return leaked and environ.get("GITHUB_ACTIONS") == "true"
