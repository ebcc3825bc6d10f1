"""A baseline that is made now: the same suites, run in a work tree of another commit."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from scoregate.ci import git
from scoregate.ci.github.base import BaseCommit
from scoregate.ci.interpreter import Interpreter
from scoregate.ci.plan import Launch, Plan, SourceKind
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.ci.user_ids import Identity, process_rights
from scoregate.errors import GitError

_PACKAGES = "node_modules"
_FETCH = "Fetch it first; in a workflow, give actions/checkout `fetch-depth: 0`."


@dataclass(frozen=True, slots=True)
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
        settings: of the project.
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
        settings: of the project.
        base: of a job. If it can't be run, there is no baseline, which is not an error.

    Raises:
        GitError: there is no repository, or no such commit in it.
    """
    if settings.baseline_kind is BaselineKind.RERUN and (base is None or settings.rerun_ref is not None):
        await _locate_base(root, settings, base)


async def _locate_base(root: Path, settings: Settings, base: BaseCommit | None) -> tuple[Path, str, str]:
    top = await git.top_level(root)
    if top is None:
        raise GitError(
            f"the base can't be run (--baseline {settings.baseline}): {root} is not in a git repository",
            advice="Set the baseline to a run, or to none.",
        )
    return top, *await _choose_commit(root, settings, base)


def _project_folder(root: Path, top: Path) -> Path:
    return root.resolve().relative_to(top.resolve())


async def _choose_commit(root: Path, settings: Settings, base: BaseCommit | None) -> tuple[str, str]:
    head = await git.head_commit(root)
    if settings.rerun_ref is not None:
        commit, note = await _resolve_ref(root, settings.rerun_ref)
    elif base is not None and base.commit is not None and await git.resolve_commit(root, base.commit):
        commit, note = base.commit, f"{base.branch}@{base.commit[:7]}"
    else:
        commit, note = await _find_merge_base(root, settings)
    same = commit == head and not await git.is_dirty(root)
    return commit, f"rerun of {note}, which is the commit itself" if same else f"rerun of {note}"


async def _resolve_ref(root: Path, ref: str) -> tuple[str, str]:
    for name in (ref, f"origin/{ref}"):
        if (commit := await git.resolve_commit(root, name)) is not None:
            return commit, commit[:7] if commit.startswith(ref) else f"{name}@{commit[:7]}"
    raise GitError(f"--baseline rerun:{ref} is not a commit of {root}", advice=_FETCH)


async def _find_merge_base(root: Path, settings: Settings) -> tuple[str, str]:
    branch = await git.default_branch(root, settings.base_branch)
    if branch is None:
        sought = settings.base_branch or "main or master"
        raise GitError(f"--baseline rerun: {root} has no branch {sought}", advice=f"{_FETCH} Or name it: rerun:REF.")
    commit = await git.merge_base(root, branch, "HEAD")
    if commit is None:
        raise GitError(f"--baseline rerun: HEAD and {branch} have no commit in common here", advice=_FETCH)
    return commit, f"{branch}@{commit[:7]}"


def move_plan(plan: Plan, tree: Path, *, imports: Iterable[Path] = ()) -> Plan:
    """The plan in another tree; launches that are missing there are skipped with a notice.

    Args:
        plan: the plan here.
        tree: the root in the other tree.
        imports: folders that Python imports from, as `find_import_folders` finds them; those in the root are replaced
            by those in the tree.
    """
    path = os.pathsep.join(str(_move_path(folder, plan.root, tree)) for folder in imports)
    there = [launch for launch in plan.launches if _exists_in(launch, tree)]
    launches = (
        replace(
            launch,
            argv=(_choose_program(launch, plan.root, tree), *launch.argv[1:]),
            cwd=_move_path(launch.cwd, plan.root, tree),
            environment={
                **launch.environment,
                "SCOREGATE_ROOT": str(tree),
                **({"PYTHONPATH": path} if path else {}),
            },
        )
        for launch in there
    )
    notices = (f"{launch.name} is new: the base does not have it" for launch in plan.launches if launch not in there)
    return Plan(tree, plan.interpreter, tuple(launches), notices=tuple(notices))


def _exists_in(launch: Launch, tree: Path) -> bool:
    if launch.kind is SourceKind.COMMAND:
        return (tree / launch.source.cwd).is_dir()
    return (tree / launch.source.path).is_file()


def link_node_packages(base: Plan, plan: Plan) -> None:
    """Link the Node packages next to the commands into another tree: git does not track them.

    Args:
        base: the plan in the other tree.
        plan: the plan here.
    """
    folders = {plan.root, *(launch.cwd for launch in plan.launches if launch.kind is SourceKind.COMMAND)}
    for here in (folder / _PACKAGES for folder in folders):
        there = _move_path(here, plan.root, base.root)
        if here.is_dir() and there.parent.is_dir() and not there.exists():
            there.symlink_to(here.resolve(), target_is_directory=True)


def _choose_program(launch: Launch, root: Path, tree: Path) -> str:
    """The program in the other tree; if it is missing, as in a virtual environment, the one here."""
    program = launch.argv[0]
    here = launch.cwd / program
    if "/" not in program or not here.is_file() or (_move_path(launch.cwd, root, tree) / program).exists():
        return program
    return str(here)


def _move_path(path: Path, root: Path, tree: Path) -> Path:
    return tree / path.relative_to(root) if path.is_relative_to(root) else path


_TIMEOUT_S = 60.0
_QUERY_SCRIPT = """
import json, os, sys
maps = [vars(module).get("MAPPING", {}) for name, module in sys.modules.items() if name.startswith("__editable__")]
packages = [os.path.dirname(path) for each in maps for path in each.values()]
print(json.dumps({"prefix": sys.prefix, "path": [os.path.abspath(each) for each in sys.path[1:] + packages]}))
"""


async def find_import_folders(
    interpreter: Interpreter, root: Path, *, environ: Mapping[str, str], identity: Identity | None = None
) -> tuple[Path, ...]:
    """The folders that Python imports from beside its environment: all of PYTHONPATH, and those in the project.

    Without them the base's suites would import the project's own packages from the user's tree.

    Args:
        root: absolute, without links.
        environ: the whole environment of the process that is asked; the user's code may run in it.
        identity: who that process runs as; None for ourselves.

    Returns:
        Absolute folders, in the order in which they are searched; none where Python gives no answer.
    """
    command = [*interpreter.argv, "-c", _QUERY_SCRIPT]
    try:
        with anyio.fail_after(_TIMEOUT_S):
            done = await anyio.run_process(
                command, cwd=root, env=environ, input=b"", stderr=subprocess.DEVNULL, **process_rights(identity)
            )
        answer = json.loads(done.stdout.splitlines()[-1])
        folders, prefix = map(Path, answer["path"]), Path(answer["prefix"])
    except (OSError, subprocess.CalledProcessError, TimeoutError, ValueError, LookupError, TypeError):
        return ()
    named = {root / each for each in environ.get("PYTHONPATH", "").split(":") if each}
    return tuple(
        folder
        for folder in dict.fromkeys(folders)
        if folder in named or (folder.is_relative_to(root) and not folder.is_relative_to(prefix))
    )
