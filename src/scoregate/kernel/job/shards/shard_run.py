"""Run one shard of a partition: record its suites, measure more for features, and judge nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from scoregate import __version__
from scoregate.errors import RecordError
from scoregate.features.table import FEATURES
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.host import git
from scoregate.kernel.host.process import run_until_stopped
from scoregate.kernel.job.base_settings import add_base_values
from scoregate.kernel.job.pipeline import NOT_SOUGHT, find_baseline, settle_run
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.shards.sharding import (
    check_partition,
    check_shards,
    digest_code,
    divide_plan,
    restrict_to_shard,
)
from scoregate.kernel.job.steps import (
    INTERRUPTED,
    LoadSteps,
    PlannedRun,
    Step,
    Work,
    change_plan,
    find_sides,
    finish_plan,
    measure_more,
    store,
)
from scoregate.kernel.judge.archive import RUN_FILE, RUN_FOLDER, read_head, read_run
from scoregate.kernel.judge.judge import compare_sides, judge_sides
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import DiscoveredSuites, Plan, make_plan
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.confirmations import confirmations_of
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.sharding.partition import Partition
from scoregate.kernel.types.slots import NO_SLOTS

_INCOMPLETE = 3
_NO_PYTHON = Interpreter(("python",), "only names are read")


@record
class ShardRequest:
    """The shard to run.

    Args:
        number: its number, from 1.
        of: the number of shards.
        partition: the partition; None to compute it here.
    """

    number: int
    of: int
    partition: Partition | None = None


@record
class ShardResult:
    """The result of running a shard.

    Args:
        run: what was recorded.
        problems: why it is not complete.
        is_reused: a complete run of this shard was there already, so nothing was run.
        interrupted: the run was stopped.
    """

    run: Run
    problems: tuple[str, ...] = ()
    is_reused: bool = False
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """0 if the shard is complete, 3 if not, 130 if it was interrupted; a failed case is no problem of a shard."""
        if self.interrupted:
            return INTERRUPTED
        return _INCOMPLETE if self.problems else 0


def find_shard_problems(run: Run) -> Iterator[str]:
    """Why the run of a shard is not complete: a part of it could not be measured."""
    yield from find_script_failures(run).values()
    if not run.end.complete:
        yield "the run was stopped before its end, or its record is damaged"
    for suite in run.suites:
        if not suite.complete and not suite.skipped:
            yield f"{suite.label}: {len(suite.columns):,} of {suite.planned or 0:,} trials have finished"


async def run_shard(settings: Settings, ports: Ports, out: Path, request: ShardRequest, load: LoadSteps) -> ShardResult:
    """Run the suites of one shard and record them.

    Args:
        settings: the settings of the project.
        ports: what the pipeline acts through.
        out: the folder of the shard's run.
        request: the shard.
        load: loads the steps of features.

    Raises:
        UsageError: a setting needs the whole run, or the partition is not of this plan.
    """
    check_shards(settings)
    suites = await ports.discover(settings)
    settings = merge_suite_gates(settings, suites.sources)
    baseline = await run_until_stopped(ports.stop, find_baseline(settings, ports.reporting), stopped=NOT_SOUGHT)
    partition = await _find_partition(
        make_plan(suites, settings, interpreter=_NO_PYTHON, root=ports.root), baseline, settings, request
    )
    finished = await to_thread.run_sync(_read_finished, out, partition, request.number)
    if finished is not None:
        return ShardResult(finished, is_reused=True)
    run = await _measure(suites, baseline, settings, ports, partition, number=request.number, load=load)
    return ShardResult(run, tuple(find_shard_problems(run)), interrupted=ports.stop.is_set())


async def _find_partition(plan: Plan, baseline: Baseline, settings: Settings, request: ShardRequest) -> Partition:
    tree = await git.read_work_tree(plan.root)
    code = await digest_code(plan, tree)
    if request.partition is None:
        return divide_plan(plan, baseline.run, settings, tree, code=code, shards=request.of, target_s=0)
    check_partition(request.partition, plan, settings, commit=None if tree is None else tree.commit, code=code)
    return request.partition


def _read_finished(out: Path, partition: Partition, number: int) -> Run | None:
    """The complete run of this shard in its folder; None without one."""
    try:
        head = read_head(out / RUN_FOLDER / RUN_FILE)
        shard = head.scope.shard
        if shard is None or (shard.partition, shard.number) != (partition.fingerprint, number):
            return None
        if head.code.version != __version__:  # `merge` refuses shards of different versions
            return None
        run = read_run(out / RUN_FOLDER, strictly=True)
    except RecordError:
        return None
    return None if any(find_shard_problems(run)) else run


async def _measure(
    suites: DiscoveredSuites,
    baseline: Baseline,
    settings: Settings,
    ports: Ports,
    partition: Partition,
    *,
    number: int,
    load: LoadSteps,
) -> Run:
    interpreter = await run_until_stopped(ports.stop, ports.prepare(settings, suites.sources), stopped=_NO_PYTHON)
    whole = make_plan(suites, settings, interpreter=interpreter, root=ports.root)
    plan, notices = restrict_to_shard(whole, partition, number, settings), (*settings.notices, *suites.notices)
    planned = PlannedRun(plan, baseline, settings, ports.reporting.context, whole=whole, notices=notices)
    facts = replace(planned.context.facts, settings=settings, sources=suites.sources, slots=ports.requests)

    def load_own(known: RunFacts) -> list[Step]:
        return [each for each in load(known) if each.in_shards]

    own_steps = load_own(facts)
    planned = add_base_values(await change_plan(own_steps, planned), ports)
    finished = await finish_plan(own_steps, planned, ports)
    recorded = await ports.record(finished.plan, settings, finished.notices)
    run = store(own_steps, recorded, finished.slots)
    compares = any(each.trials.needs_base(settings) for each in FEATURES)
    if _has_battles(run):
        run = _name_base(run, baseline)
    if run is not recorded:
        ports.amend(run)
    slots = await find_sides(own_steps, planned.context, settings) if compares and run.end.complete else NO_SLOTS
    sides = ComparedSides(run, baseline, settings, slots)
    compare, judge = partial(compare_sides, sides, load=load_own), partial(judge_sides, sides, load=load_own)
    work = Work(run, baseline, planned.plan, settings, ports, slots, compare, judge)
    measured = (await measure_more(own_steps, work)).run
    if confirmations_of(measured):
        measured = _name_base(measured, baseline)
        ports.amend(measured)
    return await settle_run(measured, ports)


def _name_base(run: Run, baseline: Baseline) -> Run:
    """The run of a shard with the baseline that its results depend on; `merge` must use the same."""
    if run.scope.shard is None or baseline.run is None:
        return run
    return run.with_shard(replace(run.scope.shard, base=baseline.run.id))


def _has_battles(run: Run) -> bool:
    infos = (info for suite in run.suites for info in suite.evaluators.values())
    return any(info.battles for info in infos) or any(
        (suite.sdk or "").startswith("autoblocks-") for suite in run.suites
    )
