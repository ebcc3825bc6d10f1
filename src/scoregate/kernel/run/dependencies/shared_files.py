"""The files of a repository that all suites of a project depend on: how packages are installed, and the jobs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.types.relative_paths import is_below

# Which packages of Python are installed: those that people write, and those that tools write.
PACKAGE_LISTS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", ".python-version", "uv.toml"),
    *("*requirements*.txt", "*requirements*.in", "*constraints*.txt"),
)
PACKAGE_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock*.toml")
# How the packages of suites are installed, and the jobs that run them.
SHARED_FILES = (
    *(*PACKAGE_LISTS, *PACKAGE_LOCKS, "*.lock", "*-lock.*"),
    *("package.json", ".npmrc", ".yarnrc*", "tsconfig*.json", "deno.json*"),
    *(".tool-versions", ".node-version", ".nvmrc", "mise.toml", ".mise.toml", "runtime.txt"),
    *("environment*.yml", "environment*.yaml", "go.mod", "go.sum", "Cargo.toml", "Makefile", "justfile", "Justfile"),
    *("noxfile.py", "tox.ini", "Dockerfile*", "*.Dockerfile", "compose*.y*ml", "docker-compose*.y*ml", "Gemfile"),
    *("hatch.toml", "pixi.toml", "poetry.toml", "pdm.toml", "bunfig.toml", "pnpm-workspace.yaml", ".pnpmfile.cjs"),
    *("Taskfile.y*ml", "*.nix"),
    *("pom.xml", "*.gradle", "*.gradle.kts", "bun.lockb", "sitecustomize.py", "usercustomize.py"),
)
_SHARED_FOLDERS = (".github/workflows", ".github/actions", "requirements", ".devcontainer")
# scoregate installs the first itself.
_SHARED_PATHS = ("evals/requirements.txt",)
# Options of pip and uv that name a file. No part of a text is searched twice, however long it is.
_OPTION = re.compile(r"(?:-r|-c|--requirements?|--constraints?)[\s=]*[\"']?([\w.][\w./+@-]*)")
_WORD = re.compile(r"[\w./+@-]+")
_SCRIPTS = (".sh", ".bash")
_LARGEST_TEXT = 1 << 20


def matches_name(path: str, patterns: Iterable[str]) -> bool:
    """Whether the name of a file, without its folders, matches one of the patterns."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def digest_shared_files(tree: Tree, folder: str) -> dict[str, str]:
    """The digests of the files that all suites of a project depend on, by path.

    Args:
        tree: the files of the repository.
        folder: the project's folder in it.
    """
    known = set(tree.list_files())
    above = {"", folder, *(each.as_posix() for each in PurePosixPath(folder).parents)} - {"."}
    paths = dict.fromkeys(path for path in known if _is_shared(tree, path, above))
    waiting = sorted(paths)
    while waiting:
        path = waiting.pop()
        new = [each for each in _list_named_files(tree, path, folder) if each in known and each not in paths]
        paths |= dict.fromkeys(new)
        waiting += new
    return {path: tree.digest_file(path) for path in paths}


def _is_shared(tree: Tree, path: str, above: set[str]) -> bool:
    if path.rpartition("/")[0] in above and matches_name(path, SHARED_FILES):
        return True
    if any(path == f"{each}/{inner}".lstrip("/") for each in above for inner in _SHARED_PATHS):
        return True
    if any(is_below(path, f"{each}/{inner}".lstrip("/")) for each in above for inner in _SHARED_FOLDERS):
        return True
    return path in tree.tracked and any(is_below(path, each) for each in tree.named)


def _list_named_files(tree: Tree, path: str, folder: str) -> Iterator[str]:
    """The paths that a file names, where they may lead: from the top, the project and the file's own folder."""
    try:
        with open(tree.top / path, "rb", opener=open_nofollow) as file:
            text = file.read(_LARGEST_TEXT).decode("utf-8", "replace")
    except OSError:
        return
    places = {"", folder, path.rpartition("/")[0]}
    scripts = (word for word in _WORD.findall(text) if word.endswith(_SCRIPTS))
    for name in {*_OPTION.findall(text), *scripts}:
        yield from (os.path.normpath(f"{place}/{name}").lstrip("/") for place in places)
