"""The files that belong to a measurement, and are never edited."""

from __future__ import annotations

from scoregate.kernel.run.dependencies.shared_files import SHARED_FILES, matches_name
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.relative_paths import is_below


def is_measuring_file(path: str, plan: Plan, tree: Tree, folder: str) -> bool:
    """Whether a file belongs to the measurement: suites, settings, recorded calls, how packages are installed."""
    sources = {f"{folder}/{each.source.path}".lstrip("/") for each in plan.launches}
    is_shared = matches_name(path, (*SHARED_FILES, "scoregate.toml", "conftest.py"))
    is_named = any(is_below(path, each) for each in tree.named)
    return path in sources or is_shared or is_named or tree.is_left_out(path) or path.startswith(".github/")
