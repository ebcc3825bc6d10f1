"""Evals of other frameworks, which are searched if a project has no suites."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import anyio.to_thread

from scoregate.kernel.host import git
from scoregate.kernel.judge.settings import Command
from scoregate.kernel.run.discover.files import PYTHON, FileList, ProjectFiles
from scoregate.kernel.run.discover.framework_files import SourceFiles
from scoregate.kernel.run.discover.node_frameworks import find_node_frameworks
from scoregate.kernel.run.discover.python_frameworks import PYTHON_WORDS, find_python_frameworks
from scoregate.kernel.run.frameworks import FoundFramework


async def find_frameworks(files: ProjectFiles) -> tuple[FoundFramework, ...]:
    """The evals of other frameworks in a project. Files are read, and nothing is run."""
    listed = await files.list_all()
    with_words = None if listed.of_git is None else await git.find_files_with(files.root, PYTHON_WORDS, f"*{PYTHON}")
    return await anyio.to_thread.run_sync(_find, listed, with_words)


def _find(files: FileList, with_words: frozenset[str] | None) -> tuple[FoundFramework, ...]:
    sources = SourceFiles(files.root, tuple(files), with_words)
    return _with_distinct_names((*find_node_frameworks(sources), *find_python_frameworks(sources)))


def _with_distinct_names(frameworks: tuple[FoundFramework, ...]) -> tuple[FoundFramework, ...]:
    """The names of commands must differ in the settings."""
    uses = Counter[str]()

    def distinguish(command: Command) -> Command:
        uses[command.name] += 1
        number = uses[command.name]
        return command if number == 1 else command.model_copy(update={"name": f"{command.name} ({number})"})

    return tuple(replace(each, command=distinguish(each.command)) if each.command else each for each in frameworks)
