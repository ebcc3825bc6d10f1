"""The settings by which a change is judged: its own, or with `policy_from = "base"` those of its base.

The base's are those in the settings file of the base's commit, else those that a base run on disk was made with. What
the workflow says (flags, inputs, variables) holds over both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread

from scoregate.ci import git
from scoregate.ci.archive import RUN_FILE, read_head, run_folder
from scoregate.ci.commit_files import CommitFiles, GitFiles, GitHubFiles
from scoregate.ci.discover.base_gates import with_base_gates
from scoregate.ci.github.answers import text_at
from scoregate.ci.github.api import Api
from scoregate.ci.github.base import Base, base_of
from scoregate.ci.github.connection import connect
from scoregate.ci.settings import BaselineKind, PolicySource, Settings, load_settings
from scoregate.ci.settings.file import OWN_FILE, SHARED_FILE, layer_of
from scoregate.ci.settings.layers import Layer
from scoregate.ci.settings.ownership import with_added
from scoregate.errors import GitError, GitHubRefused, RecordError, ScoregateError, SettingsError

_FETCH = "in a workflow, give actions/checkout `fetch-depth: 0`, or the job `contents: read` and a token"
_OWN_BASE = "`baseline` names a folder in the settings file, which the change may have written: name it in the workflow"


@dataclass(frozen=True, slots=True)
class BaseSettings:
    """What the base's file sets, and its files; or why that cannot be known."""

    layer: Layer | None = None
    files: CommitFiles | None = None
    folder: str = ""
    problem: str = ""

    @property
    def requests_itself(self) -> bool:
        """Whether the base's file says that the base's settings judge."""
        return self.layer is not None and self.layer.values.get("policy_from") == PolicySource.BASE


async def judging_settings(root: Path, environ: Mapping[str, str], flags: Mapping[str, Any], *, cwd: Path) -> Settings:
    """The settings of a change, or, where it or its base or the workflow demands that, of its base.

    Args:
        root: the project. flags: what the command line gave. cwd: what paths in these are relative to.

    Raises:
        SettingsError: the change's own settings cannot be used.
    """
    own = load_settings(root, environ, flags=flags, cwd=cwd)
    if own.policy_from is PolicySource.HEAD and not _is_open(own, "policy_from"):
        return own
    async with connect(own, environ) as connection:
        base = None
        if connection is not None:
            branch = own.base_branch if not own.is_of_file("base_branch") else None
            base = await base_of(connection.github, root, connection.api, branch=branch)
        found = await _find(root, own, base=base, api=connection.api if connection else None)
        if own.policy_from is PolicySource.HEAD and not found.requests_itself:
            return _noticed(own, found.problem) if base is not None and found.problem else own
        try:
            return await _applied(found, own, load_settings(root, environ, flags=flags, cwd=cwd, base=found.layer))
        except ScoregateError as error:
            return _unavailable(own, error.message)


def _is_open(settings: Settings, name: str) -> bool:
    """Whether the workflow leaves it to a file."""
    return settings.is_of_file(name) or settings.origin(name) == "default"


def _noticed(own: Settings, problem: str) -> Settings:
    told = f"whether the base's settings ask to judge this change (policy_from) is unknown: {problem}"
    return own.model_copy(update={"notices": (*own.notices, told)})


def _unavailable(own: Settings, why: str) -> Settings:
    return own.model_copy(update={"policy_from": PolicySource.BASE, "policy_problem": why})


async def _applied(found: BaseSettings, own: Settings, judging: Settings) -> Settings:
    if found.layer is None:
        return _unavailable(own, found.problem)
    if judging.baseline_kind is BaselineKind.FILE and judging.is_of_file("baseline"):
        return _unavailable(own, _OWN_BASE)
    if found.files is not None:
        judging = await with_base_gates(judging, found.files, found.folder)
    return with_added(judging, own).model_copy(update={"policy_from": PolicySource.BASE})


async def _find(root: Path, own: Settings, *, base: Base | None, api: Api | None) -> BaseSettings:
    """The base's settings; a folder that the change itself names as its base is never looked into."""
    named = not _is_open(own, "baseline")
    if named and own.baseline_kind is BaselineKind.FILE and (recorded := _recorded(root / own.baseline)) is not None:
        return BaseSettings(recorded)
    try:
        top = await git.top_level(root)
        folder = "" if top is None else await to_thread.run_sync(_below, root, top)
        files = await _files(top, own if named else None, own, base=base, api=api)
        if files is None:
            return BaseSettings(problem=f"the base's commit is not known here ({_FETCH})")
        return BaseSettings(await _layer(files, folder), files, folder)
    except (GitError, GitHubRefused, SettingsError) as error:
        return BaseSettings(problem=f"{error.message} ({_FETCH})")


def _below(root: Path, top: Path) -> str:
    """The project's folder within the repository; empty at its top."""
    way = root.resolve().relative_to(top.resolve())
    return "" if way == Path() else way.as_posix()


def _recorded(path: Path) -> Layer | None:
    try:
        head = read_head(run_folder(path) / RUN_FILE)
    except RecordError:
        return None
    return None if head.settings is None else Layer(head.settings, lambda _: OWN_FILE)


async def _files(
    top: Path | None, named: Settings | None, own: Settings, *, base: Base | None, api: Api | None
) -> CommitFiles | None:
    """The files of the base's commit: the one that the workflow names, that of the job's base, or where HEAD left."""
    commit = None
    if top is not None:
        if named is not None and named.rerun_ref is not None:
            commit = await git.commit_of(top, named.rerun_ref) or await git.commit_of(top, f"origin/{named.rerun_ref}")
        elif base is None:
            commit = await _left(top, own)
        elif base.commit is not None:
            commit = await git.commit_of(top, base.commit)
        if commit is not None:
            return GitFiles(top, commit)
    if base is None or api is None:
        return None
    return GitHubFiles(api, base.commit or text_at(await api.get(f"git/ref/heads/{base.branch}"), "object", "sha"))


async def _left(top: Path, own: Settings) -> str | None:
    """The commit at which HEAD left the branch that changes go to."""
    branch = await git.default_branch(top, own.base_branch if not own.is_of_file("base_branch") else None)
    return None if branch is None else await git.merge_base(top, branch, "HEAD")


async def _layer(files: CommitFiles, folder: str) -> Layer:
    at = f"{folder}/" if folder else ""
    own, shared = await files.read(f"{at}{OWN_FILE}"), await files.read(f"{at}{SHARED_FILE}")
    return layer_of(own, shared, where="the base")
