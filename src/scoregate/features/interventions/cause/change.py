"""The change since the baseline: which files of it can be reverted, and what else changed."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
from scoregate.kernel.run.dependencies.shared_files import PACKAGE_LISTS, PACKAGE_LOCKS, matches_name
from scoregate.kernel.run.dependencies.unread import find_unread
from scoregate.kernel.run.discovery import list_fixed_settings
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.tree_settings import load_tree_settings
from scoregate.kernel.types.records import record

_MOST_FILES = 300


@record
class Change:
    """A change.

    Attributes:
        files: what can be reverted, as a whole or in parts.
        left_out: the files that can't be, or not all of it.
        planned_from: those of the files that decide what runs.
        installed_from: those from which the environment of the suites is made.
    """

    files: tuple[ChangedFile, ...]
    left_out: tuple[str, ...]
    planned_from: frozenset[str] = frozenset()
    installed_from: frozenset[str] = frozenset()

    def find_hunks(self) -> tuple[Hunk, ...]:
        """The parts that can be reverted."""
        return find_hunks(self.files)

    def list_bases(self, paths: frozenset[str]) -> Mapping[str, bytes | None]:
        """The contents of some files before the change."""
        return {each.path: each.base for each in self.files if each.path in paths}

    def without_packages(self) -> Change:
        """The change in other files than those from which the environment is made."""
        files = tuple(each for each in self.files if each.path not in self.installed_from)
        return replace(self, files=files, left_out=(*self.left_out, *sorted(self.installed_from)))


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
    own_files = {f"{folder}/{name}".lstrip("/") for name in (OWN_FILE, SHARED_FILE)}
    unused = _find_unused(comparison, paths) - own_files
    is_made = any(word.startswith(f"{ports.scratch}/") for word in plan.interpreter.argv)  # by scoregate, and not found
    files, left_out, installed = list[ChangedFile](), list[str](), set[str]()
    for path in paths[:_MOST_FILES]:
        is_missing = not await to_thread.run_sync(os.path.lexists, copy.top / path)
        if path in unused and not is_missing:
            continue
        is_lock = matches_name(path, PACKAGE_LOCKS)
        is_package_file = is_made and path not in own_files and (is_lock or _is_package_list(path))
        is_own = is_package_file or path in own_files
        if tree is None or (not is_own and is_measuring_file(path, plan, tree, folder)):
            left_out.append(path)
            continue
        old = await git.read_output(copy.top, "cat-file", "--filters", f"{base}:{path}")
        new = await to_thread.run_sync(copy.read, path)
        if new is None and not is_missing:
            left_out.append(path)  # a link or a submodule
        elif old != new:
            files.append(ChangedFile(path, old, new, is_whole=is_package_file and is_lock))
            installed |= {path} if is_package_file else set()
    change = Change(tuple(files), (*left_out, *paths[_MOST_FILES:][:10]), installed_from=frozenset(installed))
    return await _add_settings(change, own_files, copy, plan, settings, ports, is_made=is_made)


def _is_package_list(path: str) -> bool:
    """Whether people write in a file which packages are installed: `requirements.txt`, `requirements/dev.txt`, …"""
    *folders, _ = path.split("/")
    return matches_name(path, PACKAGE_LISTS) or (folders[-1:] == ["requirements"] and path.endswith((".txt", ".in")))


def _find_unused(comparison: Comparison, paths: Sequence[str]) -> frozenset[str]:
    """The files on which suites depend on neither side; empty if that is not known of all of them."""
    sides = [comparison.run.dependencies, *([comparison.base.dependencies] if comparison.base is not None else [])]
    if any(not each.is_recorded or any(script.unknown for script in each.scripts) for each in sides):
        return frozenset()
    return frozenset(paths).intersection(*(find_unread(each, paths) for each in sides))


async def _add_settings(
    change: Change, own_files: set[str], copy: TreeCopy, plan: Plan, settings: Settings, ports: Ports, *, is_made: bool
) -> Change:
    """The change with what its files of settings decide; without them if the suites would be gone in the base."""
    files = [each for each in change.files if each.path in own_files]
    if not files:
        return change
    names = frozenset(each.path for each in files)
    await to_thread.run_sync(copy.write, {each.path: each.base for each in change.files})
    of_base = load_tree_settings(copy.root, settings, ports.reporting.context.environ)
    if of_base is None or settings.proposed is not None or not await _has_suites(copy, plan, settings, ports):
        # In the second case, what runs is the base's choice already.
        others = tuple(each for each in change.files if each.path not in names)
        return replace(change, files=others, left_out=(*change.left_out, *sorted(names)))
    is_fixed = bool(list_fixed_settings(settings, of_base))
    packages = {each.path for each in files if _has_other_tables(each)}
    left_out = names if is_fixed else frozenset[str]() if is_made else packages
    return replace(
        change,
        left_out=(*change.left_out, *sorted(left_out)),
        planned_from=names,
        installed_from=change.installed_from | (packages if is_made else set()),
    )


async def _has_suites(copy: TreeCopy, plan: Plan, settings: Settings, ports: Ports) -> bool:
    """Whether a copy has the same suites by its own settings."""
    moved = await ports.move_plan(plan, copy.root, settings)
    _, of_tree = await ports.plan_by_tree(plan, copy.root, settings)
    return {each.name for each in moved.launches} <= {each.name for each in of_tree.launches}


def _has_other_tables(file: ChangedFile) -> bool:
    """Whether a file that others use, too, differs in more than the settings."""
    sides = [tomllib.loads((content or b"").decode("utf-8-sig")) for content in (file.base, file.head)]
    for side in sides:
        if isinstance(tools := side.get("tool"), dict):
            tools.pop("scoregate", None)
    return file.path.endswith(SHARED_FILE) and sides[0] != sides[1]
