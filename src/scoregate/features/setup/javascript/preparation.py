"""Find out which suites need Node.js, and provide it with the packages of their folders."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio.to_thread

from scoregate.errors import InstallError
from scoregate.features.setup.javascript.installer import Installer
from scoregate.features.setup.javascript.node import Node, find_on_path
from scoregate.features.setup.javascript.node_version import find_request
from scoregate.features.setup.javascript.packages import DEPENDENCIES, NODE_MODULES, PackagePlan, find_package_plan
from scoregate.features.setup.javascript.project_files import PACKAGE, WorkspaceFiles
from scoregate.kernel.host.isolation.shared_tree import release
from scoregate.kernel.run.plan import SourceKind, SuiteSource
from scoregate.kernel.types.records import record

_PROGRAM = "node|npm|npx|pnpm|pnpx|yarn|corepack|tsx|ts-node|vitest|jest|mocha|evalite|promptfoo"
_SCRIPT = r"\.[cm]?[jt]sx?"
_NODE_WORDS = re.compile(rf"(?<![\w.-])({_PROGRAM})(?![\w-])|{_SCRIPT}(?!\w)")
_NODE_NAME = re.compile(_PROGRAM)
_NODE_PROGRAM = re.compile(rf"{_PROGRAM}|.*{_SCRIPT}", re.DOTALL)
# What else they start can only be guessed.
_RUNNERS = ("sh", "bash", "dash", "zsh", "ksh", "make", "gmake", "just", "task", "env")
_ROOT_ADVICE = "Install them in an earlier step, or check out the code as the runner's user."
_PYTHON = re.compile(r"python[\d.]*|pytest|uvx?|poetry|pdm|pipenv|hatch|inspect|deepeval")


@record
class JavaScript:
    """What the suites need of JavaScript.

    Args:
        node: Node.js.
        files: the files of the workspace.
        plans: how packages are installed.
        folders: the folders with the packages that suites use; their programs are added to PATH.
        needed: the folders of packages that a suite certainly uses. Others are left out if they can't be installed.
        is_needed: whether a suite certainly uses Node.js.
        notes: why packages are left out.
    """

    node: Node
    files: WorkspaceFiles
    plans: tuple[PackagePlan, ...] = ()
    folders: tuple[Path, ...] = ()
    needed: frozenset[Path] = frozenset()
    is_needed: bool = True
    notes: tuple[str, ...] = ()

    def describe(self) -> tuple[str, ...]:
        """What will be used and installed, a line each."""
        return (self.node.describe(), *(plan.describe() for plan in self.plans), *self.notes)

    async def install_packages(self, installer: Installer, node_bin: Path | None) -> tuple[Path, ...]:
        """Install the packages that no earlier step has installed.

        Args:
            installer: runs the commands.
            node_bin: the folder with node and npm; None if they are on PATH.

        Returns:
            The folders to add to PATH.

        Raises:
            InstallError: they can't be installed.
        """
        programs = [folder / NODE_MODULES / ".bin" for folder in self.folders]
        for note in self.notes:
            installer.report(note)
        for number, plan in enumerate(self.plans, 1):
            if not plan.is_installed and not installer.owns_workspace:
                why = "root owns the workspace, so suites can't write into it"
                message = f"packages can't be installed in {plan.folder}: {why}"
                if plan.folder in self.needed:
                    raise InstallError(message, advice=_ROOT_ADVICE)
                installer.report(message)
                continue
            path = [node_bin] if node_bin is not None else []
            if plan.tool is not None and not (
                plan.is_installed and shutil.which(plan.command[0], path=installer.environ.get("PATH"))
            ):
                tool_bin = await _install_tool(plan, self.files, installer, path, f"tools-{number}")
                path.insert(0, tool_bin)
                programs.append(tool_bin)
            if plan.is_installed:
                installer.report(f"the packages of {plan.why} are installed already: node_modules exists")
                continue
            await _install_packages(plan, installer, os.pathsep.join(map(str, path)))
        return tuple(dict.fromkeys(programs))


def find_javascript(
    root: Path,
    top: Path,
    sources: Iterable[SuiteSource],
    *,
    path: str,
    with_packages: bool,
    forced: bool = False,
    needs_node: bool = False,
) -> JavaScript | None:
    """What the suites need of JavaScript; None if none of them needs any.

    A command needs it if it names a program of Node.js. A shell, make and the like may need it if a package.json is in
    the folder or above: then packages that can't be installed are left out.

    Args:
        root: the project.
        top: the workspace, above which no file is read.
        sources: the suites.
        path: the PATH of suites.
        with_packages: whether packages are installed, too.
        forced: the settings ask for Node.js and packages, whatever the suites need.
        needs_node: the settings name a command that needs Node.js.

    Raises:
        InstallError: it is forced, and there is no package.json; or the lock file isn't supported.
    """
    files = WorkspaceFiles(top if root.resolve().is_relative_to(top.resolve()) else root)
    if forced and not any(files.has(place / PACKAGE) for place in files.upward(root)):
        raise InstallError(
            f"install = 'node', but {root} has no {PACKAGE}",
            advice="Add it, name another folder with `working_directory`, or set `install` to auto.",
        )
    # Whether a folder's packages are certainly needed.
    folders = dict.fromkeys((root,) if forced or needs_node else (), True)
    for source in sources:
        if (need := _find_need(source, root, files)) is not None:
            folder = root / source.cwd
            folders[folder] = need or folders.get(folder, False)
    if not folders:
        return None
    node = Node(find_request(tuple(folders), files), find_on_path(path))
    javascript = JavaScript(node, files, is_needed=any(folders.values()))
    return _add_packages(javascript, folders) if with_packages else javascript


def _add_packages(javascript: JavaScript, folders: Mapping[Path, bool]) -> JavaScript:
    """Add the packages of folders, each with whether they are certainly needed."""
    files, plans, needed, notes = javascript.files, dict[Path, PackagePlan](), set[Path](), list[str]()
    for folder, is_needed in folders.items():
        try:
            plan = find_package_plan(folder, files)
        except InstallError as error:
            if is_needed:
                raise
            notes.append(error.message)
            continue
        if plan is not None:
            plans.setdefault(plan.folder, plan)
            needed |= {plan.folder} if is_needed else set()
    packages = dict.fromkeys(
        place for folder in folders for place in files.upward(folder) if files.has(place / PACKAGE)
    )
    return replace(
        javascript,
        plans=tuple(plans.values()),
        folders=tuple(packages),
        needed=frozenset(needed),
        notes=tuple(dict.fromkeys(notes)),
    )


def _find_need(source: SuiteSource, root: Path, files: WorkspaceFiles) -> bool | None:
    """True if a suite certainly needs Node.js, False if it may need it, None if not."""
    if source.kind is not SourceKind.COMMAND or source.error is not None or not source.argv:
        return None
    program, *words = source.argv
    name = Path(program).name
    # Words of its arguments, such as `-k jest`, name no program.
    if _PYTHON.fullmatch(name):
        return None
    packages = [place / PACKAGE for place in files.upward(root / source.cwd) if files.has(place / PACKAGE)]
    if name in _RUNNERS:
        is_named = any(_NODE_WORDS.search(word) for word in words)
        return True if is_named else False if packages else None
    is_named = _NODE_PROGRAM.fullmatch(name) is not None or any(_NODE_NAME.fullmatch(word) for word in words)
    return True if is_named or any(_depends_on(files.read_table(package), program) for package in packages) else None


def _depends_on(package: Mapping[str, Any], name: str) -> bool:
    """Whether a package.json lists a package. Most packages with a program have the program's name."""
    tables = (package.get(table) for table in DEPENDENCIES)
    return any(isinstance(table, dict) and name in table for table in tables)


def names_node(command: str) -> bool:
    """Whether a shell command names a program of Node.js."""
    return _NODE_WORDS.search(command) is not None


async def _install_tool(
    plan: PackagePlan, files: WorkspaceFiles, installer: Installer, path: Sequence[Path], name: str
) -> Path:
    """Install a package manager outside of the workspace, from the registry that the project's .npmrc names."""
    contents = {PACKAGE: json.dumps({"private": True})}
    if (settings := files.read(plan.folder / ".npmrc")) is not None:
        contents[".npmrc"] = settings
    folder = installer.open_folder(name, contents)
    words = ("npm", "install", "--no-save", "--no-package-lock", "--ignore-scripts", str(plan.tool))
    await installer.run(words, folder, path=os.pathsep.join(map(str, path)), why=f"for {plan.why}")
    return folder / NODE_MODULES / ".bin"


async def _install_packages(plan: PackagePlan, installer: Installer, path: str) -> None:
    for note in plan.notes:
        installer.report(f"{plan.why}: {note}")
    started = perf_counter()
    await installer.run(plan.command, plan.folder, path=path, why=f"made from {plan.why}")
    identity = installer.identity
    if identity is not None and identity.shared is not None:
        # The programs that suites run may write into node_modules, such as caches.
        await anyio.to_thread.run_sync(release, identity.shared, identity.uid, identity.shared.stat())
    installer.report(f"packages installed from {plan.why} in {perf_counter() - started:.1f} s")
