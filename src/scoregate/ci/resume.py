"""Resume a run that did not finish: find it, and reuse its results if its conditions are the same."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import IO, TypeAlias

from anyio import to_thread
from pydantic_core import to_json

from scoregate.ci import git
from scoregate.ci.archive import read_run
from scoregate.ci.archive.cases import dump_case
from scoregate.ci.code_digest import OUTPUT, read_code
from scoregate.ci.job import JobContext
from scoregate.ci.plan import Plan
from scoregate.ci.report.text import one_line
from scoregate.ci.settings import GatewayMode, Settings
from scoregate.ci.user_ids import Identity
from scoregate.core.records import record
from scoregate.core.runs.cases import CaseKey, Status
from scoregate.core.runs.policy import Policy
from scoregate.core.runs.reuse import CHANGED, GONE, suite_reuse_problem, trial_reuse_problem
from scoregate.core.runs.run import Conditions, ReusedRun, Run, SuiteResult
from scoregate.core.text import format_local_time
from scoregate.errors import GitHubRefused, RecordError, UsageError

SuiteKey: TypeAlias = tuple[str | None, str, str]
# The digest of a case, and its tags, which the digest leaves out.
Definition: TypeAlias = tuple[str, tuple[str, ...]]
_REUSE_VARIABLE = "SCOREGATE_REUSE"
_MOST_REASONS, _MOST_FILES = 10, 5
_LOGS = (".log", "nohup.out")
_SETTINGS = ("model", "model_base_url", "model_headers", "python", "python_version", "install", "install_groups")


@record
class ReusableResults:
    """Results of a stored run that a plan's suites may reuse.

    Args:
        run: the stored run.
        plan: the plan, its suites given the results.
        definitions: the digests and tags of the cases whose results are offered, by suite and trial.
        refused: the number of the other results by reason.
    """

    run: Run
    plan: Plan
    definitions: Mapping[SuiteKey, Mapping[CaseKey, Definition]]
    refused: Counter[str] = field(default_factory=Counter)


@record
class ResumedPlan:
    """A plan that reuses an earlier run, if there is one; `notices` describe it."""

    plan: Plan
    notices: tuple[str, ...] = ()
    reusable: ReusableResults | None = None
    name: str = ""

    def describe_reuse(self, run: Run) -> Run:
        """The run that was made by the plan, with a notice of the results that it reused."""
        return run if self.reusable is None else describe_reuse(run, self.reusable, self.name)


ResumePlan: TypeAlias = Callable[[Plan, Settings], Awaitable[ResumedPlan]]


async def resume_run(
    context: JobContext,
    folder: Path,
    identity: Identity | None,
    plan: Plan,
    settings: Settings,
    *,
    last: Path | None,
    is_required: bool = False,
) -> ResumedPlan:
    """Offer a plan the results of the last run, if that did not finish and had the same conditions.

    In a job, the last run is the attempt before this one.

    Args:
        context: the job's context.
        folder: is created for the files that the suites read.
        identity: the user that reads them.
        plan: the plan.
        settings: the settings of the project.
        last: the folder of the last run outside of a job; None if it must not be reused.
        is_required: whether the plan is refused before its first call if the conditions differ.

    Raises:
        UsageError: the conditions are not the same, and `is_required`.
    """
    try:
        run, name = await _find_earlier_run(context, last)
    except (RecordError, GitHubRefused) as error:
        return ResumedPlan(plan, (f"no results of an earlier run are reused: {error.message}",))
    if run is None:
        return ResumedPlan(plan)
    if not is_incomplete(run, settings.policy()):
        return ResumedPlan(plan, (f"{name} had finished{_outcome(run)}, so everything was run again",))
    tree = await git.read_work_tree(plan.root)
    conditions = await read_conditions(plan.root, settings, tree)
    if not (why := await _describe_difference(run, conditions, plan, tree)):
        reusable = await to_thread.run_sync(offer_results, run, plan, folder, identity)
        return ResumedPlan(reusable.plan, (), reusable, name)
    notice = f"no results of {name} are reused: {why}"
    if context.connection is None and is_required:
        raise UsageError(
            f"--resume: {notice}",
            advice="Undo the change, let git ignore the file, or measure everything again: --resume --force.",
        )
    return ResumedPlan(plan, (notice,))


async def _describe_difference(run: Run, now: Conditions, plan: Plan, tree: git.WorkTree | None) -> str:
    """What differs between the conditions of a run and those of now; empty if its results can be reused."""
    then = run.conditions
    if then is None or tree is None or None in (then.code, now.code):
        return "it is unknown whether the code is the same"
    if then.settings != now.settings:
        return "its model, interpreter or environment was another one"
    if then.code == now.code:
        return ""
    if then.tracked is None or then.tracked != now.tracked:
        files = await git.list_changed_files(plan.root, run.commit)
        if run.commit != tree.commit:
            change = f"the commit was {run.commit or 'none':.7} and is {tree.commit or 'none':.7}"
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
        from scoregate.ci.unread_files import find_unread

        return path not in find_unread(known, [path])
    return not path.endswith(_LOGS)


def _name_files(paths: Sequence[str]) -> str:
    shown = ", ".join(one_line(path, 100) for path in paths[:_MOST_FILES])
    more = f" and {len(paths) - _MOST_FILES:,} more" if len(paths) > _MOST_FILES else ""
    return f" ({shown}{more})" if paths else ""


async def _find_earlier_run(context: JobContext, last: Path | None) -> tuple[Run | None, str]:
    """The run to resume, and its name for notices.

    Raises:
        RecordError: there is none, or it can't be read.
        GitHubRefused: it can't be downloaded.
    """
    connection = context.connection
    if connection is not None:
        attempt = connection.github.run_attempt
        if attempt < 2 or connection.api is None:
            return None, ""
        from scoregate.ci.baseline.artifact import read_earlier_attempt

        run = await read_earlier_attempt(connection, connection.api)
        return run, "" if run is None else f"attempt {run.attempt} of this job"
    if last is None:
        return None, ""
    run = await to_thread.run_sync(read_run, last)
    return run, f"the run of {format_local_time(run.started)}"


def is_incomplete(run: Run, policy: Policy) -> bool:
    """Whether a run was stopped, a part of it failed, or a suite has more errors than its limit."""
    from scoregate.core.gate.run_rules import find_script_failures

    return (
        not run.complete
        or bool(find_script_failures(run))
        or any(
            not suite.complete
            or bool(suite.errors)
            or len(suite.columns.errored_rows()) > (policy.limits_of(suite).max_error_rate or 0) * len(suite.columns)
            for suite in run.suites
        )
    )


def _outcome(run: Run) -> str:
    passed, failed = (sum(suite.columns.count(each) for suite in run.suites) for each in (Status.PASSED, Status.FAILED))
    return f" ({passed:,} of {passed + failed:,} cases passed)" if passed + failed else ""


async def read_conditions(root: Path, settings: Settings, tree: git.WorkTree | None) -> Conditions:
    """The conditions of a run of the project now; the folder of reports is not one of them.

    Args:
        root: the project.
        settings: the settings of the project.
        tree: what is checked out; None outside a repository.
    """
    chosen = {name: getattr(settings, name) for name in _SETTINGS}
    if rules := settings.criteria().score_settings:
        chosen["evaluators"] = rules
    if clusters := settings.policy().cluster_settings:
        chosen["cluster"] = clusters
    gateway = settings.gateway
    if gateway.mode is not GatewayMode.OFF and (gateway.providers or gateway.mode is GatewayMode.REPLAY):
        # What answers the calls of models: other servers, or recorded calls.
        chosen["gateway"] = {"providers": gateway.providers, "replays": gateway.mode is GatewayMode.REPLAY}
    if settings.otlp_receiver:
        chosen["otlp_receiver"] = True
    values = to_json(chosen, serialize_unknown=True)
    digest, left_out = hashlib.blake2b(values, digest_size=8).hexdigest(), root / settings.out
    if tree is None:
        return Conditions(None, digest)
    code = await read_code(root, tree, left_out=left_out)
    return Conditions(code.whole, digest, code.tracked, code.untracked)


def offer_results(run: Run, plan: Plan, folder: Path, identity: Identity | None) -> ReusableResults:
    """Offer the results of a stored run to a plan: those of suites that it has once, without errors.

    Args:
        run: the stored run.
        plan: the plan.
        folder: is created for the files that the suites read, outside of the project.
        identity: the user that reads them.

    Raises:
        OSError: they can't be written.
    """
    folder.mkdir(mode=0o711)
    launches = {launch.name: launch for launch in plan.launches}
    numbers = Counter(map(suite_key, run.suites))
    suites = {
        index: suite
        for index, suite in enumerate(run.suites)
        if suite.script in launches and numbers[suite_key(suite)] == 1 and len(suite.columns)
    }
    refused = Counter[str]()
    definitions: dict[SuiteKey, dict[CaseKey, Definition]] = {suite_key(suite): {} for suite in suites.values()}
    files = {script: folder / f"{number}.jsonl" for number, script in enumerate({s.script for s in suites.values()})}
    for script, path in files.items():
        own = {index: suite for index, suite in suites.items() if suite.script == script}
        with path.open("xb") as file:
            path.chmod(0o600)
            _write(file, run, own, definitions=definitions, refused=refused)
        if identity is not None:
            path.chmod(0o400)
            identity.share(path)
    new_launches = [
        replace(launch, environment={**launch.environment, _REUSE_VARIABLE: str(files[launch.name])})
        if launch.name in files
        else launch
        for launch in plan.launches
    ]
    offering = replace(plan, launches=tuple(new_launches), offered=(*plan.offered, run))
    return ReusableResults(run, offering, definitions, refused)


def _write(
    file: IO[bytes],
    run: Run,
    suites: Mapping[int, SuiteResult],
    *,
    definitions: Mapping[SuiteKey, dict[CaseKey, Definition]],
    refused: Counter[str],
) -> None:
    heads = [
        {"id": suite.id, "params": suite.params, "evaluators": list(suite.evaluators.values())}
        for suite in suites.values()
    ]
    file.write(to_json({"run": run.id, "suites": heads}, serialize_unknown=True) + b"\n")
    for number, suite in enumerate(suites.values()):
        for case in suite.cases:
            if reason := trial_reuse_problem(case):
                refused[reason] += 1
                continue
            definitions[suite_key(suite)][case.key] = case.digest, case.tags
            file.write(dump_case(replace(case, suite=number)) + b"\n")


def suite_key(suite: SuiteResult) -> SuiteKey:
    """What identifies a suite in several runs: its script, its id, and its parameters as JSON."""
    return suite.script, suite.id, json.dumps(dict(suite.params or {}), sort_keys=True, default=str)


def describe_reuse(run: Run, reusable: ReusableResults, name: str) -> Run:
    """The run with a notice of how many results it reused, and why not the others.

    Args:
        run: the run that was made with an offer.
        reusable: the results that were offered.
        name: the name of the stored run, for the notice.
    """
    reused = sum(suite.columns.reused for suite in run.suites)
    trials = sum(len(suite.columns) for suite in run.suites)
    reasons = reusable.refused + Counter(_refusals(run, reusable))
    notice = f"{reused:,} of {trials:,} results were reused from {name}"
    if reasons:
        shown = (f"{number:,} {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
        notice += f"; not reused: {', '.join(shown)}"
    source = reusable.run
    used = ReusedRun(source.id, source.started, source.finished, source.attempt) if reused else None
    return replace(run, reused_from=used, notices=(*run.notices, notice))


def _refusals(run: Run, reusable: ReusableResults) -> Iterator[str]:
    """The reasons why trials that were offered were run again."""
    then = {suite_key(suite): suite for suite in reusable.run.suites}
    now = {suite_key(suite): suite for suite in run.suites}
    for key, definitions in reusable.definitions.items():
        suite = now.get(key)
        why = (
            "whose suite did not run" if suite is None else suite_reuse_problem(suite.evaluators, then[key].evaluators)
        )
        rows = {} if suite is None else {suite.columns.key(row): row for row in range(len(suite.columns))}
        for trial, definition in definitions.items():
            row = rows.get(trial)
            if suite is not None and row is not None and suite.columns.sources[row]:
                continue
            if why or suite is None:
                yield why if suite is None else f"of {suite.label} ({why})"
            elif row is None:
                yield GONE
            else:
                is_same = definition == (suite.columns.digests[row], suite.columns.tags.get(row, ()))
                yield f"of {suite.label} (its SDK measures all)" if is_same else CHANGED
