"""The name of a project in a history that several repositories share."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from scoregate.errors import GitError
from scoregate.kernel.host import git
from scoregate.kernel.job.github.context import GitHubJob, read_github_job

# `https://host/owner/name.git` and `git@host:owner/name`.
_REPOSITORY = re.compile(r"(?:.*[/:])?(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?")
_LONGEST = 200


async def find_project_name(root: Path, environ: Mapping[str, str]) -> str:
    """The name of a project: its repository, `owner/name`, and its folder there if it isn't the whole repository.

    In a job it is the job's repository. Elsewhere it is that of the remote `origin`, else the name of the folder.

    Args:
        root: the folder of the project.
        environ: the host's environment.
    """
    try:
        top = await git.top_level(root) or root
        remote = await git.origin_url(root) or ""
    except GitError:
        top, remote = root, ""
    return _name_project(root, top, remote, read_github_job(environ))


def _name_project(root: Path, top: Path, remote: str, github: GitHubJob | None) -> str:
    root, top = root.resolve(), top.resolve()
    match = _REPOSITORY.fullmatch(remote)
    repository = github.repository if github else match["name"] if match else top.name
    folder = os.path.relpath(root, top)
    return (repository if folder == os.curdir else f"{repository}/{Path(folder).as_posix()}")[:_LONGEST]
