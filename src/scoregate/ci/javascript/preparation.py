"""Find out which suites need Node.js, and provide it with the packages of their folders."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import anyio.to_thread

from scoregate.ci.isolation import release
from scoregate.ci.javascript.installer import Installer
from scoregate.ci.javascript.node import Node, find_on_path
from scoregate.ci.javascript.node_version import find_request
from scoregate.ci.javascript.packages import NODE_MODULES, PackagePlan, find_package_plan
from scoregate.ci.javascript.project_files import PACKAGE, ProjectFiles
from scoregate.ci.plan import SourceKind, SuiteSource
from scoregate.errors import InstallError

_NODE_WORDS = re.compile(
    r"(?<![\w.-])(node|npm|npx|pnpm|pnpx|yarn|corepack|tsx|ts-node|vitest|jest|mocha|evalite|promptfoo)(?![\w-])"
    r"|\.[cm]?[jt]sx?(?!\w)"
)
_PYTHON = re.compile(r"python[\d.]*|pytest|uvx?|poetry|pdm|pipenv|hatch|inspect|deepeval")


@dataclass(frozen=True, slots=True)
class JavaScript:
    """What the suites need of JavaScript.

    Args:
        node: Node.js.
        plans: how packages are installed.
        folders: the folders with the packages that suites use; their programs are added to PATH.
    """

    node: Node
    plans: tuple[PackagePlan, ...] = ()
    folders: tuple[Path, ...] = ()

    def describe(self) -> tuple[str, ...]:
        """What will be used and installed, a line each."""
        return (self.node.describe(), *(plan.describe() for plan in self.plans))

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
        for number, plan in enumerate(self.plans, 1):
            path = [node_bin] if node_bin is not None else []
            if plan.tool is not None and not (
                plan.is_installed and shutil.which(plan.command[0], path=installer.environ.get("PATH"))
            ):
                tool_bin = await _install_tool(plan, installer, path, f"tools-{number}")
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

    A command needs it if it names a program of Node.js, or if it isn't Python's and a package.json is in its folder or
    above.

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
    files = ProjectFiles(top if root.resolve().is_relative_to(top.resolve()) else root)
    folders = [root / each.cwd for each in sources if _needs_node(each, root, files)]
    if forced and not any(files.has(place / PACKAGE) for place in files.upward(root)):
        raise InstallError(
            f"install = 'node', but {root} has no {PACKAGE}",
            advice="Add it, name another folder with `working_directory`, or set `install` to auto.",
        )
    if forced or needs_node:
        folders.append(root)
    if not folders:
        return None
    node = Node(find_request(folders, files), find_on_path(path))
    if not with_packages:
        return JavaScript(node)
    plans = [plan for folder in folders if (plan := find_package_plan(folder, files)) is not None]
    packages = [place for folder in folders for place in files.upward(folder) if files.has(place / PACKAGE)]
    by_folder = {plan.folder: plan for plan in plans}
    return JavaScript(node, tuple(by_folder.values()), tuple(dict.fromkeys(packages)))


def _needs_node(source: SuiteSource, root: Path, files: ProjectFiles) -> bool:
    if source.kind is not SourceKind.COMMAND or source.error is not None or not source.argv:
        return False
    if _PYTHON.fullmatch(Path(source.argv[0]).name):
        return False
    if any(_NODE_WORDS.search(word) for word in source.argv):
        return True
    return any(files.has(place / PACKAGE) for place in files.upward(root / source.cwd))


def names_node(command: str) -> bool:
    """Whether a shell command names a program of Node.js."""
    return _NODE_WORDS.search(command) is not None


async def _install_tool(plan: PackagePlan, installer: Installer, path: Sequence[Path], name: str) -> Path:
    """Install a package manager outside of the workspace, from the registry that the project's .npmrc names."""
    contents = {PACKAGE: json.dumps({"private": True})}
    if (settings := ProjectFiles(plan.folder).read(plan.folder / ".npmrc")) is not None:
        contents[".npmrc"] = settings
    folder = installer.open_folder(name, contents)
    words = ("npm", "install", "--no-save", "--no-package-lock", "--ignore-scripts", str(plan.tool))
    await installer.run(words, folder, path=os.pathsep.join(map(str, path)), why=f"for {plan.why}")
    return folder / NODE_MODULES / ".bin"


async def _install_packages(plan: PackagePlan, installer: Installer, path: str) -> None:
    identity = installer.identity
    if identity is not None and not identity.owns:
        raise InstallError(
            f"packages can't be installed in {plan.folder}: root owns the workspace, so suites can't write into it",
            advice="Install them in an earlier step, or check out the code as the runner's user.",
        )
    for note in plan.notes:
        installer.report(f"{plan.why}: {note}")
    started = perf_counter()
    await installer.run(plan.command, plan.folder, path=path, why=f"made from {plan.why}")
    if identity is not None and identity.shared is not None:
        # The programs that suites run may write into node_modules, such as caches.
        await anyio.to_thread.run_sync(release, identity.shared, identity.uid, identity.shared.stat())
    installer.report(f"packages installed from {plan.why} in {perf_counter() - started:.1f} s")
