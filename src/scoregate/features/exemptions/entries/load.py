"""Which entries count: those of the work tree; on pull requests those of the base, and those that a label approves."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread

from scoregate.errors import GitError, GitHubRefused, SettingsError
from scoregate.features.exemptions.entries.files import (
    ExemptionFiles,
    has_files,
    read_files,
)
from scoregate.kernel.host import git
from scoregate.kernel.types.exemptions import Exemption, Exemptions, IgnoredExemption

if TYPE_CHECKING:
    from scoregate.kernel.job.commit_files import CommitFiles
    from scoregate.kernel.job.github.base import BaseCommit
    from scoregate.kernel.job.github.client import Api
    from scoregate.kernel.job.github.context import Connection, PullRequest
    from scoregate.kernel.judge.settings import Settings

_T = TypeVar("_T", bound=Exemption)
OF_BASE = " of the base"
_FETCH = f"{git.FETCH_ADVICE}; or, in GitHub, give the job `contents: read` and a token"


def read_tree_exemptions(root: Path) -> Exemptions:
    """The entries in the files of a work tree.

    Raises:
        SettingsError: a file is not valid.
    """
    files = read_files(root)
    return Exemptions(files.accepted, files.quarantined, today=_current_day())


def _current_day() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())  # UTC, so that an entry ends for everyone at once


async def load_exemptions(
    root: Path,
    *,
    connection: Connection | None = None,
    request: PullRequest | None = None,
    base: BaseCommit | None = None,
    folder: str = "",
    head: CommitFiles | None = None,
) -> Exemptions:
    """The entries that count. Of a pull request that has neither of the two files, none does.

    Args:
        root: the project.
        connection: the connection to GitHub; None outside of jobs.
        request: the pull request that is judged; None for a push, a merge group, and outside of jobs.
        base: its base; None if it is still to be found.
        folder: the folder of the project within the repository.
        head: the files of the pull request's commit; None if the work tree has them.

    Raises:
        SettingsError: a file of the work tree, or of the head, is not valid.
        GitError, GitHubRefused: a file of the head can't be read.
    """
    if head is None:
        tree, is_empty = await to_thread.run_sync(read_tree_exemptions, root), not has_files(root)
    else:
        tree = await _read_head(head, folder)
        is_empty = not (tree.accepted or tree.quarantined)
    if connection is None or request is None or is_empty:
        return tree
    from scoregate.features.exemptions.entries.approval import LABEL, find_approved_files
    from scoregate.kernel.job.github.base import find_base

    api = connection.api
    base = base or await find_base(connection.github, root, api)
    own, notices = await _read_base(root, base, api, folder)
    entries: tuple[Exemption, ...] = (*tree.accepted, *tree.quarantined)
    added = [each for each in entries if each not in (*own.accepted, *own.quarantined)]
    if not added:
        return Exemptions(own.accepted, own.quarantined, (), tree.today, notices, base_decides=True)
    approval = await find_approved_files(connection, request, folder)
    why = approval.why or f"its text changed after the label was set; set the label `{LABEL}` again"
    approved: tuple[Exemption, ...] = (*approval.files.accepted, *approval.files.quarantined)
    return Exemptions(
        (*own.accepted, *_approved(tree.accepted, added, approved)),
        (*own.quarantined, *_approved(tree.quarantined, added, approved)),
        tuple(IgnoredExemption(each, f"the pull request adds it: {why}") for each in added if each not in approved),
        tree.today,
        notices,
        base_decides=True,
    )


async def _read_head(files: CommitFiles, folder: str) -> Exemptions:
    from scoregate.features.exemptions.entries.commits import read_commit_exemptions

    found = await read_commit_exemptions(files, folder, where=" of the head")
    return Exemptions(found.accepted, found.quarantined, today=_current_day())


def _approved(entries: Iterable[_T], added: list[Exemption], approved: tuple[Exemption, ...]) -> Iterator[_T]:
    return (each for each in entries if each in added and each in approved)


async def _read_base(
    root: Path, base: BaseCommit, api: Api | None, folder: str
) -> tuple[ExemptionFiles, tuple[str, ...]]:
    """The entries of the base; without them, a notice that says why."""
    from scoregate.features.exemptions.entries.commits import read_commit_exemptions

    try:
        files = await _open_commit(root, base, api)
        if files is None:
            problem = f"the base's commit is not in this repository ({_FETCH})"
        else:
            return await read_commit_exemptions(files, folder, where=OF_BASE), ()
    except (GitError, GitHubRefused) as error:
        problem = error.message
    except SettingsError as error:
        problem = error.message.partition("\n")[0]
    return ExemptionFiles(), (f"No entry of the base's accepted.toml and quarantine.toml counts: {problem}.",)


async def _open_commit(root: Path, base: BaseCommit, api: Api | None) -> CommitFiles | None:
    from scoregate.kernel.job.commit_files import GitFiles, GitHubFiles

    top = await git.top_level(root)
    if base.commit is None:
        return None
    commit = await git.resolve_commit(top, base.commit) if top is not None else None
    if top is not None and commit is not None:
        return GitFiles(top, commit)
    return None if api is None else GitHubFiles(api, base.commit)


async def load_job_exemptions(root: Path, settings: Settings, environ: Mapping[str, str]) -> Exemptions:
    """The entries that count for a finished run; in the job of a pull request as for a run of the job.

    Raises:
        SettingsError: a file of the work tree is not valid.
    """
    if not has_files(root):
        return Exemptions(today=_current_day())
    from scoregate.kernel.job.github.context import open_connection, pull_request

    async with open_connection(settings, environ) as connection:
        request = None if connection is None else pull_request(connection.github)
        top = await git.top_level(root) or root
        folder = await to_thread.run_sync(lambda: root.resolve().relative_to(top.resolve()).as_posix())
        folder = "" if folder == "." else folder
        return await load_exemptions(root, connection=connection, request=request, folder=folder)
