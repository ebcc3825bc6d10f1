"""`/scoregate accept`: the entry that accepts a regression of the newest commit's run."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from datetime import date

from markupsafe import Markup

from scoregate.features.exemptions.accept_commit import commit_entries
from scoregate.features.exemptions.entries.commits import read_commit_exemptions
from scoregate.features.exemptions.entries.files import ACCEPTED_FILE
from scoregate.features.exemptions.entries.propose import find_worse_rows, make_entries
from scoregate.features.exemptions.entries.write import format_entry
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.job.base_settings import read_commit_layer
from scoregate.kernel.job.baseline.artifact import read_artifact
from scoregate.kernel.job.baseline.unpack import UNTRUSTED_BOUNDS
from scoregate.kernel.job.comment_command import (
    PREFIX,
    SPACES,
    Answer,
    CommandCall,
    CommandContext,
    CommandKind,
    CommandRefused,
    check_glob,
    quote_word,
    set_once,
)
from scoregate.kernel.job.commit_files import GitHubFiles
from scoregate.kernel.job.github.base import find_merged_base
from scoregate.kernel.job.github.context import MeasuredCommit, PullRequest
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.judge.settings import environment_value, load_settings
from scoregate.kernel.report.markdown import code, fence
from scoregate.kernel.types.exemptions import EXEMPTIONS, AcceptedRegression, Exemptions
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS

_MOST_ARTIFACTS = 100
_LONGEST_ENTRIES = 2_500
LONGEST_REASON = 500
_ISSUE = re.compile(r"[\w#./:-]{1,200}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_USAGE = f"{PREFIX} accept SUITE EVALUATOR until YYYY-MM-DD [at_most=DROP] [issue=ISSUE] because REASON"


@record
class AcceptCommand:
    """`accept`.

    Args:
        suite: a glob of suites.
        evaluator: a glob of evaluators.
        until: the last day of the entry, as an ISO date in UTC.
        reason: why the regression is accepted.
        at_most: the largest accepted drop, in (0, 1]; None for the drop of the newest run.
        issue: an issue; may be empty.
    """

    suite: str
    evaluator: str
    until: str
    reason: str
    at_most: float | None = None
    issue: str = ""

    async def carry_out(self, call: CommandCall) -> Answer:
        """Print the entries that accept the regressions, or commit them with the token of an app."""
        context, head = call.context, call.head
        folder = _find_folder(context.environ)
        entries = await _find_entries(context, head, self, call.login, folder)
        text = "\n\n".join(map(format_entry, dict.fromkeys(entries)))
        if len(text) > _LONGEST_ENTRIES:
            raise CommandRefused(f"{len(entries)} scores match: too many for one answer", advice="Name one scorer.")
        path = code(posixpath.join(folder, ACCEPTED_FILE))
        block = f"\n\n{fence(text.splitlines(), 'toml')}\n\n"
        label = f"It counts once someone with write access sets the label {code('scoregate: accept')}."
        if head.is_fork_of(context.connection.github.repository):
            return Answer(
                Markup(f"Add this to {path} of the base branch; in a fork's pull request no entry counts.{block}")
            )
        if not context.app_token:
            return Answer(Markup(f"Add this to {path} in this branch.{block}{label}"))
        commit = await commit_entries(call, posixpath.join(folder, ACCEPTED_FILE), entries)
        return Answer(Markup(f"{code(commit[:7])} adds this to {path}.{block}{label}"))


def _parse(words: Sequence[str], today: str) -> AcceptCommand:
    if "because" not in words:
        raise CommandRefused("`because` and a reason are missing", command=_USAGE)
    position = words.index("because")
    head, reason = words[:position], " ".join(words[position + 1 :])
    if not reason or len(reason) > LONGEST_REASON:
        raise CommandRefused(f"the reason must have 1 to {LONGEST_REASON} characters", command=_USAGE)
    if len(head) < 4 or head[2] != "until":
        raise CommandRefused("suite, scorer or `until` and a day are missing", advice=SPACES, command=_USAGE)
    options = dict[str, str]()
    patterns = {"at_most": re.compile(r"[0-9.]{1,10}"), "issue": _ISSUE}
    for word in head[4:]:
        name, equals, value = word.partition("=")
        if not equals or name not in patterns:
            raise CommandRefused(f"{quote_word(word)} is not an argument", command=_USAGE)
        set_once(options, name, value, patterns[name], _USAGE)
    return AcceptCommand(
        check_glob(head[0], _USAGE),
        check_glob(head[1], _USAGE),
        _check_day(head[3], today),
        reason,
        _parse_drop(options["at_most"]) if "at_most" in options else None,
        options.get("issue", ""),
    )


def _check_day(text: str, today: str) -> str:
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise CommandRefused(f"{quote_word(text)} is not a day; write it as 2026-12-31")
    if text < today:
        raise CommandRefused(f"{text} is over", advice=f"Name a day from {today} (UTC) on.")
    return text


def _parse_drop(text: str) -> float:
    try:
        drop = float(text)
    except ValueError:
        drop = 0.0
    if not 0 < drop <= 1:
        raise CommandRefused(f"at_most must be above 0 and at most 1, not {quote_word(text)}")
    return drop


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
    comparison = await _compare(context, head, run, folder)
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


async def _compare(context: CommandContext, head: PullRequest, run: Run, folder: str) -> Comparison:
    """Compare a run by the settings of its base, with the entries that the head has already."""
    base = await find_merged_base(context.api, head, merge_commit=run.code.commit)
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
    return await context.compare(job, run, NO_SLOTS.put(EXEMPTIONS, entries))


ACCEPT = CommandKind("accept", _USAGE, "print the entry that accepts a regression", _parse)
