"""The settings that judge a change: its own, or with `policy_from = "base"` those of its base.

The base's settings are in the file of its commit, or in a base run on disk. The workflow's settings (flags, inputs,
variables) win over both.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from scoregate.errors import GitError, GitHubRefused, RecordError, ScoregateError, SettingsError
from scoregate.kernel.host import git
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.archive import RUN_FILE, read_head, run_folder
from scoregate.kernel.judge.settings import BaselineKind, PolicySource, Settings, load_settings
from scoregate.kernel.judge.settings.ownership import with_added_suites
from scoregate.kernel.judge.settings.sources import OF_BASE, OWN_FILE, SHARED_FILE, Layer, make_file_layer
from scoregate.kernel.run.discover.files import DEFAULT_FOLDER, TEST_SETS
from scoregate.kernel.run.durations import read_durations
from scoregate.kernel.run.plan import Plan, SourceKind, SuiteSource
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, dump_baseline_outputs
from scoregate.kernel.types.runs.run import Run

if TYPE_CHECKING:
    from scoregate.kernel.job.commit_files import CommitFiles
    from scoregate.kernel.job.github.base import BaseCommit
    from scoregate.kernel.job.github.client import Api

_SUITE_TABLE = "testset"
_FETCH = f"{git.FETCH_ADVICE}; or, in GitHub, give the job `contents: read` and a token"
_OWN_BASE = "`baseline` names a folder in a settings file that the change may have written; set it in the workflow"


@record
class BaseSettings:
    """The settings in the base's file, and the files of its commit; or the reason why they are unknown.

    Args:
        layer: the settings; None if they are unknown.
        files: the files of the base's commit; None if the settings come from a run on disk.
        folder: the project's folder within the repository.
        problem: why the settings are unknown.
    """

    layer: Layer | None = None
    files: CommitFiles | None = None
    folder: str = ""
    problem: str = ""

    @property
    def requests_itself(self) -> bool:
        """Whether the base's file says that the base's settings judge."""
        return self.layer is not None and self.layer.values.get("policy_from") == PolicySource.BASE


async def load_judging_settings(
    root: Path, environ: Mapping[str, str], flags: Mapping[str, Any], *, cwd: Path
) -> Settings:
    """The settings of a change, or of its base if the change, its base or the workflow asks for that.

    Args:
        root: the project.
        environ: the environment.
        flags: the flags from the command line.
        cwd: paths in the flags are relative to it.

    Raises:
        SettingsError: the change's own settings are not valid.
    """
    own = load_settings(root, environ, flags=flags, cwd=cwd)
    if own.policy_from is PolicySource.HEAD and not _is_left_to_file(own, "policy_from"):
        return own
    from scoregate.kernel.job.github.base import find_base
    from scoregate.kernel.job.github.context import open_connection

    async with open_connection(own, environ) as connection:
        base = None
        if connection is not None:
            branch = own.base_branch if not own.is_from_file("base_branch") else None
            base = await find_base(connection.github, root, connection.api, branch=branch)
        settings = await _find_base_settings(root, own, base=base, api=connection.api if connection else None)
        if own.policy_from is PolicySource.HEAD and not settings.requests_itself:
            if base is None or not settings.problem:
                return own
            notice = f"it is unknown whether the base's settings judge this change (policy_from): {settings.problem}"
            return own.model_copy(update={"notices": (*own.notices, notice)})
        try:
            judging = load_settings(root, environ, flags=flags, cwd=cwd, base=settings.layer)
            names_folder = judging.baseline_kind is BaselineKind.FILE and judging.is_from_file("baseline")
            if settings.layer is None or names_folder:
                return _without_base_settings(own, settings.problem if settings.layer is None else _OWN_BASE)
            if settings.files is not None:
                judging = await with_base_gates(judging, settings.files, settings.folder)
            return with_added_suites(judging, own).model_copy(update={"policy_from": PolicySource.BASE})
        except ScoregateError as error:
            return _without_base_settings(own, error.message)


def _is_left_to_file(settings: Settings, name: str) -> bool:
    """Whether no flag, input or variable of the workflow sets it."""
    return settings.is_from_file(name) or settings.origin(name) == "default"


def _without_base_settings(own: Settings, why: str) -> Settings:
    return own.model_copy(update={"policy_from": PolicySource.BASE, "policy_problem": why})


async def _find_base_settings(root: Path, own: Settings, *, base: BaseCommit | None, api: Api | None) -> BaseSettings:
    """Find the base's settings; a folder that the change itself names as its baseline is never read."""
    is_named = not _is_left_to_file(own, "baseline")
    if is_named and own.baseline_kind is BaselineKind.FILE:
        with suppress(RecordError):
            head = read_head(run_folder(root / own.baseline) / RUN_FILE)
            if head.settings is not None:
                return BaseSettings(Layer(head.settings, lambda _: OWN_FILE))
    try:
        top = await git.top_level(root)
        folder = "" if top is None else await to_thread.run_sync(_project_folder, root, top)
        files = await _find_commit_files(top, own if is_named else None, own, base=base, api=api)
        if files is None:
            return BaseSettings(problem=f"the base's commit is not in this repository ({_FETCH})")
        return BaseSettings(await read_commit_layer(files, folder), files, folder)
    except (GitError, GitHubRefused, SettingsError) as error:
        return BaseSettings(problem=f"{error.message} ({_FETCH})")


async def read_commit_layer(files: CommitFiles, folder: str) -> Layer:
    """The settings in the file of a base's commit.

    Args:
        files: the files of the commit.
        folder: the project's folder within the repository; empty at its top.

    Raises:
        GitError, GitHubRefused: the file can't be read.
        SettingsError: the settings are not valid.
    """
    prefix = f"{folder}/" if folder else ""
    contents = [await files.read(f"{prefix}{name}") for name in (OWN_FILE, SHARED_FILE)]
    return make_file_layer(*contents, where="the base")


def _project_folder(root: Path, top: Path) -> str:
    """The project's folder within the repository; empty at its top."""
    path = root.resolve().relative_to(top.resolve())
    return "" if path == Path() else path.as_posix()


async def _find_commit_files(
    top: Path | None, named: Settings | None, own: Settings, *, base: BaseCommit | None, api: Api | None
) -> CommitFiles | None:
    """The files of the commit that the workflow names, of the job's base, or of the merge base."""
    from scoregate.kernel.job.commit_files import GitFiles, GitHubFiles
    from scoregate.kernel.job.github.responses import text_at

    commit = None
    if top is not None:
        if named is not None and named.rerun_ref is not None:
            commit = await git.resolve_commit(top, named.rerun_ref) or await git.resolve_commit(
                top, f"origin/{named.rerun_ref}"
            )
        elif base is None:
            branch = await git.default_branch(top, own.base_branch if not own.is_from_file("base_branch") else None)
            commit = None if branch is None else await git.merge_base(top, branch, "HEAD")
        elif base.commit is not None:
            commit = await git.resolve_commit(top, base.commit)
        if commit is not None:
            return GitFiles(top, commit)
    if base is None or api is None:
        return None
    return GitHubFiles(api, base.commit or text_at(await api.get(f"git/ref/heads/{base.branch}"), "object", "sha"))


async def with_base_gates(settings: Settings, files: CommitFiles, folder: str) -> Settings:
    """The base's settings with the gates in the suites' files of its commit.

    Args:
        settings: the settings of the base.
        files: the files of the base's commit.
        folder: the project's within the repository.

    Raises:
        GitError, GitHubRefused: the files can't be read.
        StoreError: the gates of one of them are not valid.
    """
    from scoregate.kernel.run.discover.testset_documents import read_gates
    from scoregate.store.suite_files import suite_name

    sources = []
    places = [PurePosixPath(folder, path) for path in (DEFAULT_FOLDER, *settings.paths)]
    for name in await files.list():
        # The same files that discovery reads.
        path = PurePosixPath(name)
        is_below = any(path.is_relative_to(place) for place in places)
        matches = path.is_relative_to(folder) and any(path.match(pattern) for pattern in TEST_SETS.patterns)
        if path.suffix != TEST_SETS.suffix or not (is_below or matches):
            continue
        content = await files.read(name)
        text = "" if content is None else content.decode("utf-8-sig", "replace")
        try:
            table = tomllib.loads(text).get(_SUITE_TABLE)
        except (ValueError, RecursionError):
            continue
        if isinstance(table, dict):
            title = table.get("name")
            suite = suite_name(title if isinstance(title, str) else None, path)
            gates = read_gates(text, shown=f"{name}{OF_BASE}")
            sources.append(SuiteSource(name, SourceKind.TESTSET, suite_ids=(suite,), gates=gates))
    return merge_suite_gates(settings, sources)


def add_base_values(planned: PlannedRun, ports: Ports) -> PlannedRun:
    """The plan with the baseline's outputs for its suites, and with its durations.

    Args:
        planned: the plan, and the baseline.
        ports: where files for suites are written.
    """
    base = planned.baseline.run
    # Without a base run, the store has the outputs, if it stays after the run.
    has_store = base is None and planned.context.connection is None
    plan = planned.plan if has_store else _add_outputs(planned.plan, base, ports)
    return replace(planned, plan=replace(plan, durations=read_durations(plan, base)))


def _add_outputs(plan: Plan, base: Run | None, ports: Ports) -> Plan:
    file, identity = ports.scratch / "champions.jsonl", ports.identity
    with file.open("xb") as lines:
        lines.writelines(() if base is None else dump_baseline_outputs(base))
    if identity is not None:
        file.chmod(0o400)
        identity.share(file)
    variables: Mapping[str, str] = {BASELINE_OUTPUTS_VARIABLE: str(file)}
    launches = (replace(launch, environment={**launch.environment, **variables}) for launch in plan.launches)
    return replace(plan, launches=tuple(launches))
