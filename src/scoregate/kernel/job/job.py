"""The context of a job: the project, its settings, GitHub, and what follows from them for reports."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from scoregate.errors import UsageError
from scoregate.kernel.host import git
from scoregate.kernel.host.runner import in_container, read_ci_job
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.github.context import (
    Connection,
    GitHubJob,
    MeasuredCommit,
    default_branch,
    find_token,
    make_measured_commit,
    open_connection,
    pull_request,
    refuse_fork_code,
)
from scoregate.kernel.job.publish.delivery import PublishTarget, Render
from scoregate.kernel.judge.settings import BaselineKind, CommentMode, Settings, ShowOutputs
from scoregate.kernel.judge.settings.limit_fields import hides_keys
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.job.commit_files import CommitFiles
    from scoregate.kernel.job.github.base import BaseCommit

WRITING_EVENTS = ("push", "schedule", "workflow_dispatch")
_KINDS_WITH_BASE = (
    BaselineKind.AUTO,
    BaselineKind.ARTIFACT,
    BaselineKind.BRANCH,
    BaselineKind.HISTORY,
    BaselineKind.RERUN,
)


@record
class JobContext:
    """Where a run takes place.

    Args:
        root: the project.
        environ: the host's environment, without the variables that hold scoregate's token.
        settings: the settings of the project.
        redact: removes secrets from what is written.
        folder: the project's folder within the repository; empty at its top.
        open_out: the path of the folder of the run while it is kept open; None if it is not.
        connection: the connection to GitHub; None outside of jobs.
        subject: the commit that is measured; None outside of jobs.
        base: the commit that the job's changes are tested on top of.
        head: the files of the measured commit, if the job has checked out another one.
    """

    root: Path
    environ: Mapping[str, str]
    settings: Settings
    redact: Redactor
    folder: str = ""
    open_out: Path | None = None
    connection: Connection | None = None
    subject: MeasuredCommit | None = None
    base: BaseCommit | None = None
    head: CommitFiles | None = None

    @property
    def out(self) -> Path:
        """The folder of the run and its reports."""
        return self.open_out or self.named_out

    @property
    def skips_missing(self) -> bool:
        """Whether suites are skipped whose variables are not set, as in the jobs of forks."""
        return self.subject is not None and self.subject.read_only

    @property
    def facts(self) -> RunFacts:
        """What is known for the features that take part in the job."""
        return RunFacts(self.settings, self.root, self.environ, in_job=self.connection is not None)

    @property
    def named_out(self) -> Path:
        """The same folder, by the path that people and other steps use."""
        return self.root / self.settings.out


@asynccontextmanager
async def open_job_context(
    root: Path,
    environ: Mapping[str, str],
    settings: Settings,
    *,
    stop: anyio.Event | None = None,
    suite_variables: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[JobContext]:
    """The context, until the block ends; within a job it holds an open connection.

    Args:
        root: the project.
        environ: the host's environment.
        settings: the settings of the project.
        stop: once it is set, no request is retried.
        suite_variables: more variables for suites, whose secrets are redacted too.

    Raises:
        UsageError: a fork's code is checked out in a job that has this repository's rights.
    """
    token = find_token(settings, environ)
    redact = Redactor({*secret_values(environ), *secret_values(suite_variables), *filter(None, (token,))})
    without_token = {name: value for name, value in environ.items() if not token or token not in value}
    top = await git.top_level(root) or root
    folder = await anyio.to_thread.run_sync(_relative_folder, root, top)
    context = JobContext(root, without_token, settings, redact, folder)
    async with open_connection(settings, environ, stop) as connection:
        if connection is None:
            yield context
            return
        if connection.github.is_approved:
            await _check_approved_run(connection.github, root, settings)
        for source_folder in _source_folders(root, settings):
            refuse_fork_code(connection.github, await git.head_commit(source_folder))
        base = None
        if settings.baseline_kind in _KINDS_WITH_BASE:
            from scoregate.kernel.job.github.base import find_base

            base = await find_base(connection.github, root, connection.api, branch=settings.base_branch)
        yield replace(context, connection=connection, subject=make_measured_commit(connection.github), base=base)


async def _check_approved_run(github: GitHubJob, root: Path, settings: Settings) -> None:
    """Check that a run of an approved commit measures that commit, and that its code can't take the keys.

    Raises:
        UsageError: it doesn't, or it could.
    """
    head = await git.head_commit(root)
    if head != github.sha:
        raise UsageError(
            f"{github.sha[:7]} was approved, but {(head or 'no commit')[:7]} is checked out",
            advice="Give actions/checkout the approved commit as `ref`.",
        )
    if not hides_keys(settings):
        raise UsageError(
            "a run of an approved commit gets keys through the gateway only",
            advice="Set `gateway: on` in the workflow.",
        )
    request = pull_request(github)
    if request is not None and request.is_fork_of(github.repository) and not in_container(os.environ):
        raise UsageError(
            "without the container, the code of a fork could take the keys",
            advice="Use `scoregate/scoregate`, not `scoregate/scoregate/composite`.",
        )


def _relative_folder(root: Path, top: Path) -> str:
    path = os.path.relpath(root.resolve(), top.resolve())
    return "" if path == os.curdir else Path(path).as_posix()


def _source_folders(root: Path, settings: Settings) -> Iterator[Path]:
    """The folders of the code that is run: the project, and what the settings name, maybe another repository."""
    names = (*settings.paths, *(command.cwd for command in settings.commands))
    for path in (root, *(root / name for name in names)):
        folder = path if path.is_dir() else path.parent
        if folder.is_dir():
            yield folder


def make_report_context(context: JobContext) -> ReportContext:
    """What reports show of the job."""
    settings, connection, subject = context.settings, context.connection, context.subject
    show = settings.show_outputs is ShowOutputs.FULL
    report = ReportContext(
        generated_at=time.time(), folder=context.folder, show_outputs=show, redact=context.redact.text
    )
    if connection is None or subject is None:
        job = read_ci_job(context.environ)
        report = replace(
            report,
            run_url=job.url or None,
            pull_request=bool(job.request),
            request=job.request,
            base_branch=job.request_branch or None,
        )
        if settings.origin("out") != "--out":
            return report  # commands find the default folder by themselves
        path = os.path.relpath(context.named_out)
        return replace(report, named=str(context.named_out.resolve()) if path.startswith(os.pardir) else path)
    return replace(
        report,
        key=connection.key,
        repository=connection.github.repository_url,
        commit=subject.commit,
        run=subject.run,
        run_url=subject.run_url,
        pull_request=subject.request is not None,
        base_branch=context.base.branch if context.base else None,
    )


def make_publish_target(context: JobContext, files: Mapping[str, Render]) -> PublishTarget:
    """Where reports can go."""
    target = PublishTarget(
        context.out,
        files,
        named=context.named_out,
        comment=context.settings.comment,
        annotations=context.settings.annotations,
        redact=context.redact.text,
        redact_chunks=context.redact.stream,
        log=partial(print, flush=True),
    )
    if context.connection is None or context.subject is None:
        return target
    # If baselines come from the data branch, runs of the base branch are stored there.
    github, settings = context.connection.github, context.settings
    is_base_branch = github.ref_name == (settings.base_branch or default_branch(github))
    uses_data_branch = settings.baseline_kind is BaselineKind.BRANCH
    is_stored = uses_data_branch and is_base_branch and github.event_name in WRITING_EVENTS
    return replace(
        target,
        connection=context.connection,
        comment=CommentMode.OFF if github.is_approved else target.comment,  # a later job has the right to comment
        request=context.subject.request,
        read_only=context.subject.read_only,
        measured_here=context.subject.measured_here,
        stored=is_stored,
    )
