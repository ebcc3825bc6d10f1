"""Earlier attempts and pushes of a run: where they are found, and whether their conditions were those of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoregate.errors import GitHubRefused
from scoregate.kernel.host import git
from scoregate.kernel.job.baseline.artifact import read_attempts, read_last_pushes
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.settings.limit_fields import list_settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.code_digest import OUTPUT
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.declarations.declaration import Effect
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.runs.run import Conditions, Run
from scoregate.kernel.types.slots import Slot, Slots

_MOST_FILES = 5
_LOGS = (".log", "nohup.out")


@record
class EarlierAttempts:
    """The runs that earlier attempts of a job stored, the newest first, and the problem of those that can't be read."""

    runs: tuple[Run, ...] = ()
    problem: str = ""


FOUND: Slot[EarlierAttempts] = Slot("attempts.found")
"""The earlier attempts of the job, which are downloaded once for all features."""


async def find_attempts(context: JobContext, slots: Slots) -> tuple[Slots, EarlierAttempts]:
    """The slots that keep the earlier attempts of the job for other features, and these."""
    connection, found = context.connection, slots.get(FOUND)
    if found is not None:
        return slots, found
    if connection is None or connection.api is None or connection.github.run_attempt < 2:
        return slots, EarlierAttempts()
    try:
        runs, problem = await read_attempts(connection, connection.api)
        found = EarlierAttempts(tuple(runs), problem)
    except GitHubRefused as error:
        found = EarlierAttempts(problem=error.message)
    return slots.put(FOUND, found), found


async def find_pushes(planned: PlannedRun) -> EarlierAttempts:
    """The runs of the last pushes to the job's pull request, if runs record what their suites depend on."""
    connection, subject = planned.context.connection, planned.context.subject
    if connection is None or connection.api is None or subject is None or subject.request is None or subject.read_only:
        return EarlierAttempts()
    if not any(each.of(planned.settings) for each in list_settings(Effect.KEEPS_RESULTS)):
        return EarlierAttempts()
    try:
        runs, problem = await read_last_pushes(connection, connection.api, subject.branch)
    except GitHubRefused as error:
        return EarlierAttempts(problem=error.message)
    return EarlierAttempts(tuple(runs), problem)


def list_earlier(found: Sequence[Run], role: TrialRole) -> list[Run]:
    """Runs and the copies of earlier ones that they have, the oldest first, each once.

    Args:
        found: the runs that attempts or pushes stored.
        role: attempts of the same code, or pushes.
    """
    # To a push, the attempts of an earlier one are earlier pushes, too.
    roles = (TrialRole.MAIN,) if role is TrialRole.MAIN else (TrialRole.MAIN, TrialRole.PUSH)
    copies = (copy for run in found for each in roles for copy in run.companions_of(each))
    known = {each.id: replace(each, companions=_keep_again(each)) for each in (*copies, *found)}
    return sorted(known.values(), key=lambda each: each.started)


def _keep_again(run: Run) -> Mapping[TrialRole, tuple[Run, ...]]:
    """The further runs that were measured with it, before a gate failed."""
    again = run.companions_of(TrialRole.AGAIN)
    return {TrialRole.AGAIN: again} if again else {}


async def describe_difference(run: Run, now: Conditions, plan: Plan, tree: git.WorkTree | None) -> str:
    """What differs between the conditions of a run and those of now; empty if its results can be reused."""
    then = run.conditions
    if then is None or tree is None or None in (then.code, now.code):
        return "it is unknown whether the code is the same"
    if then.settings != now.settings:
        return "its model, interpreter or environment was another one"
    if then.code == now.code:
        return ""
    if then.tracked is None or then.tracked != now.tracked:
        files = await git.list_changed_files(plan.root, run.code.commit)
        if run.code.commit != tree.commit:
            change = f"the commit was {run.code.commit or 'none':.7} and is {tree.commit or 'none':.7}"
        else:
            change = "the uncommitted changes differ"
        return f"the code is not the same: {change}{_name_files(files)}"
    if then.untracked is None or now.untracked is None:
        return "the code is not the same: untracked files differ"
    read = [path for path in _find_changed(then.untracked, now.untracked) if _may_be_read(run, path)]
    return f"the code is not the same: untracked files differ{_name_files(read)}" if read else ""


def _find_changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    pairs = {path: (then.get(path), now.get(path)) for path in sorted({*then, *now})}
    return [path for path, (one, other) in pairs.items() if one != other and OUTPUT not in (one, other)]


def _may_be_read(run: Run, path: str) -> bool:
    """Whether a suite may read an untracked file: in doubt, it may. Logs are written, and not read."""
    known = run.dependencies
    names = {script.name for script in run.scripts}
    is_complete = bool(names) and all(
        (parts := known.find_scripts(name)) and not any(part.unknown or part.native for part in parts) for name in names
    )
    if is_complete:
        from scoregate.kernel.run.dependencies.unread import find_unread

        return path not in find_unread(known, [path])
    return not path.endswith(_LOGS)


def _name_files(paths: Sequence[str]) -> str:
    shown = ", ".join(one_line(path, 100) for path in paths[:_MOST_FILES])
    more = f" and {len(paths) - _MOST_FILES:,} more" if len(paths) > _MOST_FILES else ""
    return f" ({shown}{more})" if paths else ""


def is_incomplete(run: Run, policy: Policy) -> bool:
    """Whether a run was stopped, a part of it failed, or a suite has more errors than its limit."""
    from scoregate.kernel.gate.run_rules import find_script_failures

    return (
        not run.end.complete
        or bool(find_script_failures(run))
        or any(
            not suite.complete
            or bool(suite.errors)
            or len(suite.columns.errored_rows()) > (policy.limits_of(suite).max_error_rate or 0) * len(suite.columns)
            for suite in run.suites
        )
    )
