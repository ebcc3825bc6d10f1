"""The files of a project that its suites may depend on."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS
from scoregate.kernel.types.declarations.fields import absolute_cache

if TYPE_CHECKING:  # most runs record nothing
    from scoregate.kernel.run.dependencies.recording import UseRecorder
    from scoregate.kernel.run.dependencies.tree import Tree


async def open_use_recorder(root: Path, settings: Settings) -> UseRecorder | None:
    """What records the uses of a run's scripts; None if the settings don't ask for it, and outside of git.

    With `--all` everything runs, and is recorded: the next run that keeps results compares with this one.
    """
    deciding = (each for each in FEATURE_SETTINGS if each.keeps_results)
    if not any(each.of(settings) or settings.origin(each.name).startswith("--") for each in deciding):
        return None
    from scoregate.kernel.run.dependencies.recording import UseRecorder

    tree = await read_project_tree(root, settings)
    return None if tree is None else UseRecorder(tree, find_folder(root, tree))


async def read_project_tree(root: Path, settings: Settings) -> Tree | None:
    """The files of the repository of a project, without scoregate's output and its cache."""
    from scoregate.kernel.run.dependencies.tree import read_tree

    cache = Path(absolute_cache(root, settings.cache).partition(":")[2])
    tree = await read_tree(root, [root / settings.out])
    if tree is None:
        return None
    tree = replace(tree, named=_list_settings_paths(root, tree, settings))
    if not cache.is_relative_to(tree.top):
        return tree
    folder = cache.relative_to(tree.top).as_posix()
    is_tracked = any(path.startswith(f"{folder}/") for path in tree.tracked)
    return tree if is_tracked else replace(tree, left_out=(*tree.left_out, folder))


def _list_settings_paths(root: Path, tree: Tree, settings: Settings) -> tuple[str, ...]:
    """The files and folders that settings name: variables, recorded calls, and files of the command that installs."""
    declared = (each.of(settings) for each in FEATURE_SETTINGS if each.is_path)
    places = [root / each for each in (settings.env_file, *declared) if each]
    named = [each.relative_to(tree.top).as_posix() for each in places if each.is_relative_to(tree.top)]
    words = (word for each in FEATURE_SETTINGS if each.is_command for word in each.of(settings).split())
    files = (os.path.relpath(root / word, tree.top) for word in words)
    return (*named, *(each for each in files if each in tree.tracked))


def find_folder(root: Path, tree: Tree) -> str:
    """The project's folder in its repository; empty for the top."""
    path = root.resolve().relative_to(tree.top).as_posix()
    return "" if path == "." else path
