"""A baseline from a rerun: the same suites, run in a work tree of another commit."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import anyio
import anyio.to_thread

from scoregate.errors import GitError
from scoregate.kernel.host import git
from scoregate.kernel.host.file_access import find_repository
from scoregate.kernel.host.user_ids import Identity, process_rights
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import Plan, SourceKind, list_import_folders
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.arms import Arm

_PACKAGES = "node_modules"
_SCRIPTS = (SourceKind.PYTHON, SourceKind.PYTEST)
_FETCH = f"{git.FETCH_ADVICE[0].upper()}{git.FETCH_ADVICE[1:]}."


@record
class BaseTree:
    """The project at another commit; `note` describes the commit."""

    path: Path
    note: str


@asynccontextmanager
async def open_base_tree(root: Path, settings: Settings, base: BaseCommit | None = None) -> AsyncIterator[BaseTree]:
    """A work tree of the commit that `rerun:REF` names, else of the job's base, else of the merge base.

    It is in a temporary folder, which is removed afterwards, also when cancelled.

    Args:
        root: the project.
        settings: the settings of the project.
        base: the commit that a job's changes are tested on top of.

    Raises:
        GitError: there is no repository, or no such commit in it.
    """
    top, commit, note = await _locate_base(root, settings, base)
    prefix = await anyio.to_thread.run_sync(_project_folder, root, top)
    async with git.open_worktree(top, commit) as tree:
        yield BaseTree(tree / prefix, note)


async def check_base_exists(root: Path, settings: Settings, *, base: BaseCommit | None) -> None:
    """Check that the commit of `rerun` exists before anything is run; the base itself runs later.

    Args:
        root: the project.
        settings: the settings of the project.
        base: the base commit of a job. If it can't be run, there is no baseline, which is not an error.

    Raises:
        GitError: there is no repository, or no such commit in it.
    """
    if base is None or settings.rerun_ref is not None:
        await _locate_base(root, settings, base)


async def _locate_base(root: Path, settings: Settings, base: BaseCommit | None) -> tuple[Path, str, str]:
    top = await git.top_level(root)
    if top is None:
        raise GitError(
            f"the base can't be run (--baseline {settings.baseline}): {root} is not in a git repository",
            advice="Set the baseline to a run, or to none.",
        )
    head = await git.head_commit(root)
    if settings.rerun_ref is not None:
        for name in (settings.rerun_ref, f"origin/{settings.rerun_ref}"):
            if (commit := await git.resolve_commit(root, name)) is not None:
                break
        else:
            raise GitError(
                f"--baseline rerun:{settings.rerun_ref} is not a commit of {root}",
                advice=f"Check its spelling, or {git.FETCH_ADVICE}.",
            )
        note = commit[:7] if commit.startswith(settings.rerun_ref) else f"{name}@{commit[:7]}"
    elif base is not None and base.commit is not None and await git.resolve_commit(root, base.commit):
        commit, note = base.commit, f"{base.branch}@{base.commit[:7]}"
    else:
        commit, note = await _find_merge_base(root, settings)
    is_same = commit == head and not await git.is_dirty(root)
    return top, commit, f"rerun of {note}, which is the commit itself" if is_same else f"rerun of {note}"


def _project_folder(root: Path, top: Path) -> Path:
    return root.resolve().relative_to(top.resolve())


async def _find_merge_base(root: Path, settings: Settings) -> tuple[str, str]:
    branch = await git.default_branch(root, settings.base_branch)
    if branch is None:
        name = settings.base_branch or "main or master"
        raise GitError(f"--baseline rerun: {root} has no branch {name}", advice=f"{_FETCH} Or name it: rerun:REF.")
    commit = await git.merge_base(root, branch, "HEAD")
    if commit is None:
        raise GitError(f"--baseline rerun: HEAD and {branch} have no commit in common here", advice=_FETCH)
    return commit, f"{branch}@{commit[:7]}"


@record
class ImportFolders:
    """The folders outside of its environment that Python imports from, each in the order in which they are searched.

    Args:
        named: those of the user's PYTHONPATH, which are searched before the project's own.
        installed: those in its repository that its environment adds, which are searched after the project's own.
    """

    named: tuple[Path, ...] = ()
    installed: tuple[Path, ...] = ()

    def move_installed(self, root: Path, other: Path) -> ImportFolders:
        """The folders with those that its environment adds in another work tree of the project."""
        tops = _find_tops(root, other)
        return replace(self, installed=tuple(_move_path(each, *tops) for each in self.installed))

    def move(self, root: Path, tree: Path, own: Iterable[str]) -> str:
        """The PYTHONPATH of a script in another tree, in the order of the script's here; empty if none is needed.

        Args:
            root: the top of the work tree here.
            tree: the top of the other tree.
            own: the folders of the project itself, in the other tree.
        """
        if not self.named and not self.installed:
            return ""
        named, installed = (
            [str(_move_path(each, root, tree)) for each in part] for part in (self.named, self.installed)
        )
        return os.pathsep.join(dict.fromkeys((*named, *own, *installed)))


def move_plan(
    plan: Plan,
    tree: Path,
    *,
    imports: ImportFolders | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
    move_text: Callable[[str], str] = str,
) -> Plan:
    """The plan in another tree; launches that are missing there are skipped with a notice.

    Args:
        plan: the plan here.
        tree: the root in the other tree.
        imports: folders that Python imports from; those in this work tree are replaced by those in the other.
        environ: the variables of the host that processes get.
        move_text: replaces paths of this work tree in variables and commands by those of the other one.
    """
    launches, notices = [], []
    tops = _find_tops(plan.root, tree)
    for launch in plan.launches:
        is_command, source = launch.kind is SourceKind.COMMAND, launch.source
        if source.arm is Arm.WITHOUT:
            continue  # it does not depend on the change
        is_there = (tree / source.path).exists if launch.kind is SourceKind.AGENT else (tree / source.path).is_file
        if not ((tree / source.cwd).is_dir() if is_command else is_there()):
            notices.append(f"{launch.name} is new: the base does not have it")
            continue
        cwd = _move_path(launch.cwd, plan.root, tree)
        program, path_here = launch.argv[0], launch.cwd / launch.argv[0]
        if "/" in program and path_here.is_file() and not (cwd / program).exists():
            # Programs that git does not track, as in a virtual environment, are those of the project's own tree.
            program = str(path_here)
        environment = {**launch.environment, "SCOREGATE_ROOT": str(tree)}
        if imports and (path := imports.move(*tops, list_import_folders(tree, source.import_folders))):
            environment["PYTHONPATH"] = path
        environment |= _move_variables({**environ, **environment}, move_text)
        words = map(move_text, launch.argv[1:]) if is_command else launch.argv[1:]
        launches.append(replace(launch, argv=(program, *words), cwd=cwd, environment=environment))
    return Plan(tree, plan.interpreter, tuple(launches), notices=tuple(notices), head=plan.root)


def _move_variables(variables: Mapping[str, str], move_text: Callable[[str], str]) -> dict[str, str]:
    """The variables that change. Those of scoregate name its own files, which both sides share."""
    moved = {name: move_text(value) for name, value in variables.items() if not name.startswith("SCOREGATE_")}
    return {name: value for name, value in moved.items() if value != variables[name]}


def add_base_suites(plan: Plan, base: Plan) -> Plan:
    """The plan with the launches that only the base has. Scripts and agents run in the way in which the base runs them.

    Args:
        plan: the plan of the change.
        base: the plan of the base's suites, as if they were in the tree of the change.
    """
    launches = {launch.name: launch for launch in plan.launches}
    for other in base.launches:
        launch = launches.setdefault(other.name, other)
        is_script = launch.kind in _SCRIPTS and other.kind in _SCRIPTS
        if is_script or launch.kind is other.kind is SourceKind.AGENT:
            launches[other.name] = replace(launch, argv=other.argv, kind=other.kind, source=other.source)
    return replace(plan, launches=tuple(launches.values()), broken=base.broken)


def link_node_packages(base: Plan, plan: Plan) -> None:
    """Link the installed Node packages that commands can import into another tree: git does not track them.

    They are in the folders from a command's to the top of the repository, and in those with a package.json, which are
    the members of a workspace.

    Args:
        base: the plan in the other tree.
        plan: the plan here.
    """
    commands = [launch for launch in plan.launches if launch.kind is SourceKind.COMMAND]
    project_top, base_top = _find_tops(plan.root, base.root)
    folders = [each for folder in (plan.root, *(each.cwd for each in commands)) for each in (folder, *folder.parents)]
    if commands:
        folders += [_move_path(folder, base_top, project_top) for folder in _find_package_folders(base_top)]
    top = base_top.resolve()
    for folder in dict.fromkeys(each for each in folders if each.is_relative_to(project_top)):
        packages, link = folder / _PACKAGES, _move_path(folder, project_top, base_top) / _PACKAGES
        # A folder of the base may be a link that leads out of its tree.
        is_inside = link.parent.is_dir() and link.parent.resolve().is_relative_to(top)
        if is_inside and packages.is_dir() and not os.path.lexists(link):
            link.symlink_to(packages.resolve(), target_is_directory=True)


def _find_tops(root: Path, tree: Path) -> tuple[Path, Path]:
    """The tops of two work trees, of which the roots of a project are given; the roots outside of a repository."""
    for folder, base_folder in zip((root, *root.parents), (tree, *tree.parents), strict=False):
        if (base_folder / ".git").exists():
            return folder, base_folder
    return root, tree


def _find_package_folders(top: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in (_PACKAGES, ".git")]
        if "package.json" in files:
            yield Path(folder)


def _move_path(path: Path, root: Path, tree: Path) -> Path:
    return tree / path.relative_to(root) if path.is_relative_to(root) else path


_TIMEOUT_S = 60.0
# Finders of editable installs keep the folders of packages in MAPPING, and not in `sys.path`.
_QUERY_SCRIPT = """
import json, os, sys
maps = [vars(module).get("MAPPING", {}) for name, module in sys.modules.items() if name.startswith("__editable__")]
packages = [os.path.dirname(path) for each in maps for path in each.values()]
print(json.dumps({"prefix": sys.prefix, "path": [os.path.abspath(each) for each in sys.path[1:] + packages]}))
"""


async def find_import_folders(
    interpreter: Interpreter, root: Path, *, environ: Mapping[str, str], identity: Identity | None = None
) -> ImportFolders:
    """The folders outside of its environment that Python imports from: all of PYTHONPATH, and those in the repository.

    Without them the base's suites would import the project's own packages from the user's tree.

    Args:
        interpreter: the Python that runs the suites.
        root: the project; absolute, without links.
        environ: the whole environment of the process that lists the folders. The user's code may run in that process.
        identity: the user that the process runs as; None for the host's own.

    Returns:
        Absolute folders; none if Python fails.
    """
    command = [*interpreter.argv, "-c", _QUERY_SCRIPT]
    try:
        with anyio.fail_after(_TIMEOUT_S):
            process = await anyio.run_process(
                command, cwd=root, env=environ, input=b"", stderr=subprocess.DEVNULL, **process_rights(identity)
            )
        answer = json.loads(process.stdout.splitlines()[-1])  # a start-up file of the user may print something before
        folders, prefix = map(Path, answer["path"]), Path(answer["prefix"])
    except (OSError, subprocess.CalledProcessError, TimeoutError, ValueError, LookupError, TypeError):
        return ImportFolders()
    named = {root / each for each in environ.get("PYTHONPATH", "").split(":") if each}
    import_folders, top = tuple(dict.fromkeys(folders)), find_repository(root)
    return ImportFolders(
        tuple(each for each in import_folders if each in named),
        tuple(
            each
            for each in import_folders
            if each not in named and each.is_relative_to(top) and not each.is_relative_to(prefix)
        ),
    )
