"""A base that is made now: the same suites, run in a work tree of another commit."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread

from scoregate.ci import git
from scoregate.ci.github.base import Base
from scoregate.ci.plan import Kind, Launch, Plan
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.errors import GitError

_PACKAGES = "node_modules"
_FETCH = "Fetch it first; in a workflow, give actions/checkout `fetch-depth: 0`."


@dataclass(frozen=True, slots=True)
class BaseTree:
    """The project as it is at another commit; `note` says in words which."""

    path: Path
    note: str


@asynccontextmanager
async def base_tree(root: Path, settings: Settings, base: Base | None = None) -> AsyncIterator[BaseTree]:
    """A work tree of the commit that `rerun:REF` names, without it of the base, else where HEAD left its branch.

    It is in a temporary folder and gone afterwards, also when cancelled.

    Args:
        root: the project. base: what a job says its changes are tested on top of.

    Raises:
        GitError: there is no repository, or no such commit in it.
    """
    top, commit, note = await _located(root, settings, base)
    prefix = await anyio.to_thread.run_sync(_below, root, top)
    async with git.worktree(top, commit) as tree:
        yield BaseTree(tree / prefix, note)


async def findable(root: Path, settings: Settings, *, base: Base | None) -> None:
    """Look for the commit of `rerun` before anything is run; that base itself is made later.

    Args:
        base: a job's; where that cannot be run, there is none, which is no error.

    Raises:
        GitError: there is no repository, or no such commit in it.
    """
    if settings.baseline_kind is BaselineKind.RERUN and (base is None or settings.rerun_ref is not None):
        await _located(root, settings, base)


async def _located(root: Path, settings: Settings, base: Base | None) -> tuple[Path, str, str]:
    top = await git.top_level(root)
    if top is None:
        raise GitError(
            f"the base cannot be run (--baseline {settings.baseline}): {root} is in no git repository",
            advice="Name a run as the baseline, or none.",
        )
    return top, *await _base(root, settings, base)


def _below(root: Path, top: Path) -> Path:
    return root.resolve().relative_to(top.resolve())


async def _base(root: Path, settings: Settings, base: Base | None) -> tuple[str, str]:
    head = await git.head_commit(root)
    if settings.rerun_ref is not None:
        commit, note = await _named(root, settings.rerun_ref)
    elif base is not None and base.commit is not None and await git.commit_of(root, base.commit):
        commit, note = base.commit, f"{base.branch}@{base.commit[:7]}"
    else:
        commit, note = await _parted(root, settings)
    same = commit == head and not await git.is_dirty(root)
    return commit, f"rerun of {note}, which is the commit itself" if same else f"rerun of {note}"


async def _named(root: Path, ref: str) -> tuple[str, str]:
    for name in (ref, f"origin/{ref}"):
        if (commit := await git.commit_of(root, name)) is not None:
            return commit, commit[:7] if commit.startswith(ref) else f"{name}@{commit[:7]}"
    raise GitError(f"--baseline rerun:{ref} names no commit of {root}", advice=_FETCH)


async def _parted(root: Path, settings: Settings) -> tuple[str, str]:
    branch = await git.default_branch(root, settings.base_branch)
    if branch is None:
        sought = settings.base_branch or "main or master"
        raise GitError(f"--baseline rerun: {root} has no branch {sought}", advice=f"{_FETCH} Or name it: rerun:REF.")
    commit = await git.merge_base(root, branch, "HEAD")
    if commit is None:
        raise GitError(f"--baseline rerun: HEAD and {branch} have no commit in common here", advice=_FETCH)
    return commit, f"{branch}@{commit[:7]}"


def rerooted(plan: Plan, tree: Path, *, imports: Iterable[Path] = ()) -> Plan:
    """The plan in another tree; what is not there is left out, with a notice.

    Args:
        tree: the root in the other tree.
        imports: folders that Python is to import from, as `import_folders` finds them; those in the root are taken
            from the tree.
    """
    path = os.pathsep.join(str(_moved(folder, plan.root, tree)) for folder in imports)
    there = [launch for launch in plan.launches if _is_there(launch, tree)]
    launches = (
        replace(
            launch,
            argv=(_program(launch, plan.root, tree), *launch.argv[1:]),
            cwd=_moved(launch.cwd, plan.root, tree),
            environment={
                **launch.environment,
                "SCOREGATE_ROOT": str(tree),
                **({"PYTHONPATH": path} if path else {}),
            },
        )
        for launch in there
    )
    notices = (
        f"{launch.name} is new here: the base does not have it" for launch in plan.launches if launch not in there
    )
    return Plan(tree, plan.interpreter, tuple(launches), notices=tuple(notices))


def _is_there(launch: Launch, tree: Path) -> bool:
    if launch.kind is Kind.COMMAND:
        return (tree / launch.source.cwd).is_dir()
    return (tree / launch.source.path).is_file()


def lend_packages(base: Plan, plan: Plan) -> None:
    """Let Node find, in another tree, what is installed here beside the commands: git follows none of it.

    Args:
        base: the plan in the other tree.
    """
    folders = {plan.root, *(launch.cwd for launch in plan.launches if launch.kind is Kind.COMMAND)}
    for here in (folder / _PACKAGES for folder in folders):
        there = _moved(here, plan.root, base.root)
        if here.is_dir() and there.parent.is_dir() and not there.exists():
            there.symlink_to(here.resolve(), target_is_directory=True)


def _program(launch: Launch, root: Path, tree: Path) -> str:
    """A program that the other tree does not have, such as one of an environment in the project, is that of here."""
    program = launch.argv[0]
    here = launch.cwd / program
    if "/" not in program or not here.is_file() or (_moved(launch.cwd, root, tree) / program).exists():
        return program
    return str(here)


def _moved(path: Path, root: Path, tree: Path) -> Path:
    return tree / path.relative_to(root) if path.is_relative_to(root) else path
