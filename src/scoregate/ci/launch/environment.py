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
        events: the folder that its logs go to. root: the repository; it and its `src` can be imported from,
            so that a base uses its own code.
        tokens: values that no variable may carry.
    """
    given = {token for token in (*tokens, environ.get("GITHUB_TOKEN", "")) if token}
    kept = {
        name: value
        for name, value in environ.items()
        if not _forbidden(name, environ) and not any(token in value for token in given)
    }
    return {
        **kept,
        **extra,
        "PYTHONPATH": os.pathsep.join(_import_path({**kept, **extra}.get("PYTHONPATH"), root)),
        "PYTHONUNBUFFERED": "1",
        "SCOREGATE_EVENTS": str(events),
        "SCOREGATE_ROOT": str(root),
    }


def _import_path(given: str | None, root: Path) -> list[str]:
    source = root / "src"
    own = [str(root), *([str(source)] if source.is_dir() else [])]
    named = given.split(os.pathsep) if given else []
    return [*named, *(folder for folder in own if folder not in named)]


def _forbidden(name: str, environ: Mapping[str, str]) -> bool:
    if name in _NAMES or name.startswith(_PREFIXES):
        return True
    leaked = name in _LEAKS or name.startswith("UV_PYTHON")
    return leaked and environ.get("GITHUB_ACTIONS") == "true"
