"""Runs with other values."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from scoregate.kernel.types.runs.run import Run


def change_run(run: Run, **changes: Any) -> Run:
    """The run with other values, also of its code, its scope and its end, by their names."""
    for name in ("code", "scope", "end"):
        part = getattr(run, name)
        changes[name] = replace(
            part, **{each.name: changes.pop(each.name) for each in fields(part) if each.name in changes}
        )
    return replace(run, **changes)
