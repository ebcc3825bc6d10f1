"""The change since the baseline: which files of it can be reverted, and what else changed."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping

from anyio import to_thread

from scoregate.features.interventions.cause.hunks import ChangedFile, Hunk, find_hunks
from scoregate.features.interventions.edited_trees.measuring_files import is_measuring_file
from scoregate.features.interventions.edited_trees.tree_copy import TreeCopy
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.host import git
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.sources import OWN_FILE, SHARED_FILE
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.discovery import list_fixed_settings
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.tree_settings import load_tree_settings
from scoregate.kernel.types.records import record

_MOST_FILES = 300


@record
class Change:
    """A change.

    Attributes:
        hunks: what can be reverted.
        heads: the contents of their files now.
        left_out: the files that can't be reverted, or not all of it.
        planned_from: the files of the hunks that decide what runs.
    """

    hunks: tuple[Hunk, ...]
    heads: Mapping[str, bytes | None]
    left_out: tuple[str, ...]
    planned_from: frozenset[str]


async def read_change(
    copy: TreeCopy, base: str, plan: Plan, settings: Settings, ports: Ports, comparison: Comparison
) -> Change:
    """The change since a commit, in files that the suites were recorded to read, if that is known.

    This writes into the copy.
    """
    added = await git.read_output(copy.top, "ls-files", "--others", "--exclude-standard", "-z")
    paths = [os.fsdecode(each) for each in (added or b"").split(b"\0") if each]
    paths = [*(await git.list_differing_files(copy.top, base) or ()), *paths]
    tree = await read_project_tree(ports.root, settings)
    folder = find_folder(ports.root, tree) if tree is not None else ""
    used, own_files = _list_used(comparison), [f"{folder}/{name}".lstrip("/") for name in (OWN_FILE, SHARED_FILE)]
    files, of_settings, left_out = list[ChangedFile](), list[ChangedFile](), list[str]()
    for path in paths[:_MOST_FILES]:
        is_missing = not await to_thread.run_sync(os.path.lexists, copy.top / path)
        if used is not None and path not in (*used, *own_files) and not is_missing:
            continue
        if tree is None or (path not in own_files and is_measuring_file(path, plan, tree, folder)):
            left_out.append(path)
            continue
        old = await git.read_output(copy.top, "cat-file", "--filters", f"{base}:{path}")
        new = await to_thread.run_sync(copy.read, path)
        if new is None and not is_missing:
            left_out.append(path)  # a link or a submodule
        elif old != new:
            (of_settings if path in own_files else files).append(ChangedFile(path, old, new))
    chosen, others = await _choose_settings(of_settings, files, copy, plan, settings, ports)
    files += chosen
    hunks = await to_thread.run_sync(find_hunks, files)
    return Change(
        hunks,
        {each.path: each.head for each in files},
        (*left_out, *others, *paths[_MOST_FILES:][:10]),
        frozenset(each.path for each in chosen),
    )


def _list_used(comparison: Comparison) -> frozenset[str] | None:
    """The files that suites read on either side; None if that is not known of all of them."""
    sides = [comparison.run.dependencies, *([comparison.base.dependencies] if comparison.base is not None else [])]
    if any(not each.is_recorded or any(script.unknown for script in each.scripts) for each in sides):
        return None
    return frozenset(each.table[use].path for each in sides for script in each.scripts for use in script.uses)


async def _choose_settings(
    files: list[ChangedFile],
    others: list[ChangedFile],
    copy: TreeCopy,
    plan: Plan,
    settings: Settings,
    ports: Ports,
) -> tuple[list[ChangedFile], list[str]]:
    """The files of settings that can be reverted, and those that can't be, or not all of it.

    They can be if the same suites are there once everything is reverted.
    """
    if not files:
        return [], []
    paths = [each.path for each in files]
    await to_thread.run_sync(copy.write, {each.path: each.base for each in (*files, *others)})
    of_base = load_tree_settings(copy.root, settings, ports.reporting.context.environ)
    if of_base is None or settings.proposed is not None:  # else what runs is the base's choice already
        return [], paths
    if of_base.file_values == settings.file_values:
        return [], [each.path for each in files if _has_other_tables(each)]
    _, of_settings = await ports.plan_by_tree(plan, copy.root, settings)
    moved = await ports.move_plan(plan, copy.root, settings)
    if {each.name for each in moved.launches} - {each.name for each in of_settings.launches}:
        return [], paths
    is_fixed = list_fixed_settings(settings, of_base)
    return files, [each.path for each in files if is_fixed or _has_other_tables(each)]


def _has_other_tables(file: ChangedFile) -> bool:
    """Whether a file that others use, too, differs in more than the settings."""
    sides = [tomllib.loads((content or b"").decode("utf-8-sig")) for content in (file.base, file.head)]
    for side in sides:
        side.get("tool", {}).pop("scoregate", None)
    return file.path.endswith(SHARED_FILE) and sides[0] != sides[1]
