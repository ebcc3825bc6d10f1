"""`/scoregate accept`: the entry that accepts a regression of the newest commit's run."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from scoregate.ci.base_settings import read_commit_layer
from scoregate.ci.baseline.artifact import read_artifact
from scoregate.ci.baseline.unpack import UNTRUSTED_BOUNDS
from scoregate.ci.comment_commands.commit import commit_entries
from scoregate.ci.comment_commands.context import CommandContext
from scoregate.ci.comment_commands.grammar import AcceptCommand, CommandRefused
from scoregate.ci.commit_files import GitHubFiles
from scoregate.ci.exemptions.commits import read_commit_exemptions
from scoregate.ci.exemptions.files import ACCEPTED_FILE
from scoregate.ci.exemptions.propose import find_worse_rows, make_entries
from scoregate.ci.exemptions.write import format_entry
from scoregate.ci.github.base import find_merged_base
from scoregate.ci.github.context import MeasuredCommit, PullRequest
from scoregate.ci.github.responses import number_at, text_at
from scoregate.ci.job import JobContext
from scoregate.ci.judge import judge
from scoregate.ci.pipeline import find_baseline
from scoregate.ci.report.markdown import code, fence
from scoregate.ci.reporting import build_reporting
from scoregate.ci.settings import environment_value, load_settings
from scoregate.ci.steps import ComparedSides, Judged
from scoregate.core.exemptions import EXEMPTIONS, AcceptedRegression, Exemptions
from scoregate.core.runs.run import Run
from scoregate.core.slots import NO_SLOTS

_MOST_ARTIFACTS = 100
_LONGEST_ENTRIES = 2_500


async def accept_regressions(
    context: CommandContext, pull: Mapping[str, Any], head: PullRequest, command: AcceptCommand, *, login: str
) -> Markup:
    """Print the entries that accept the regressions, or commit them with the token of an app.

    Args:
        context: where the command is carried out.
        pull: the pull request, as GitHub describes it.
        head: the same pull request.
        command: the command.
        login: who accepts them.

    Raises:
        CommandRefused: there is nothing to accept.
        SettingsError: the settings of the base, or the entries of the head, are not valid.
        RecordError: the stored run can't be read.
        GitHubRefused: GitHub can't be asked.
    """
    folder = _find_folder(context.environ)
    entries = await _find_entries(context, head, command, login, folder)
    text = "\n\n".join(map(format_entry, dict.fromkeys(entries)))
    if len(text) > _LONGEST_ENTRIES:
        raise CommandRefused(f"{len(entries)} scores match: too many for one answer", advice="Name one evaluator.")
    path = posixpath.join(folder, ACCEPTED_FILE)
    block = f"\n\n{fence(text.splitlines(), 'toml')}\n\n"
    label = f"It counts once someone with write access sets the label {code('scoregate: accept')}."
    if head.is_fork_of(context.connection.github.repository):
        return Markup(f"Add this to {code(path)} of the base branch; in a fork's pull request no entry counts.{block}")
    if not context.app_token:
        return Markup(f"Add this to {code(path)} in this branch.{block}{label}")
    commit = await commit_entries(context, head, text_at(pull, "head", "ref"), path, entries)
    return Markup(f"{code(commit[:7])} adds this to {code(path)}.{block}{label}")


def _find_folder(environ: Mapping[str, str]) -> str:
    """The project's folder within the repository, from the input; empty at its top.

    Raises:
        CommandRefused: it is outside.
    """
    named = environment_value("working_directory", environ)
    folder = posixpath.normpath(named[0]) if named else "."
    if folder.startswith(("/", "..")):
        raise CommandRefused(f"working-directory: {folder!r:.200} is outside of the repository")
    return "" if folder == "." else folder


async def _find_entries(
    context: CommandContext, head: PullRequest, command: AcceptCommand, login: str, folder: str
) -> list[AcceptedRegression]:
    run = await _read_run(context, head.head_sha)
    if run is None and command.at_most is None:
        raise CommandRefused(
            f"{head.head_sha[:7]} has no finished run with the key {context.connection.key}",
            advice="Wait for the run, or name the largest accepted drop, such as at_most=0.05",
        )
    if run is None:
        return [
            AcceptedRegression(
                suite=command.suite,
                evaluator=command.evaluator,
                until=command.until,
                reason=command.reason,
                by=login,
                at_most=command.at_most or 0.0,
                issue=command.issue,
            )
        ]
    comparison = (await _judge(context, head, run, folder)).comparison
    rows = find_worse_rows(comparison, command.suite, command.evaluator)
    return make_entries(
        comparison,
        rows,
        until=command.until,
        reason=command.reason,
        by=login,
        issue=command.issue,
        at_most=command.at_most,
    )


async def _read_run(context: CommandContext, commit: str) -> Run | None:
    """The newest stored run of a commit; its author controls what is in it."""
    api, name = context.api, context.connection.artifact
    count = 0
    async for artifact in api.pages("actions/artifacts", "artifacts", name=name):
        count += 1
        is_of_commit = text_at(artifact, "workflow_run", "head_sha") == commit
        if is_of_commit and artifact.get("expired") is not True and number_at(artifact, "id"):
            return await read_artifact(api, artifact, UNTRUSTED_BOUNDS)
        if count >= _MOST_ARTIFACTS:
            break
    return None


async def _judge(context: CommandContext, head: PullRequest, run: Run, folder: str) -> Judged:
    """Judge a run by the settings of its base, with the entries that the head has already."""
    base = await find_merged_base(context.api, head, merge_commit=run.commit)
    files = GitHubFiles(context.api, base.commit or head.base_sha)
    layer = await read_commit_layer(files, folder)
    settings = load_settings(context.root, context.environ, base=layer)
    own = await read_commit_exemptions(GitHubFiles(context.api, head.head_sha), folder, where="")
    entries = Exemptions(own.accepted, own.quarantined, today=time.strftime("%Y-%m-%d", time.gmtime()))
    github = context.connection.github
    job = JobContext(
        context.root,
        context.environ,
        settings,
        context.redact,
        connection=context.connection,
        subject=MeasuredCommit(head.head_sha, "", github.run, github.run_url, head, measured_here=False),
        base=base,
    )
    baseline = await find_baseline(settings, build_reporting(job))
    sides = ComparedSides(run, baseline, settings, NO_SLOTS.put(EXEMPTIONS, entries))
    return judge(sides, context.steps, with_slices=False)
