"""Record a plan that runs in parts on a cluster, as the run that one machine would have recorded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp

from scoregate.features.cluster.attempts import PartLog, PartState
from scoregate.features.cluster.budget import BudgetLeases
from scoregate.features.cluster.dispatch import Dispatcher
from scoregate.features.cluster.executor import Cluster, ClusterLost
from scoregate.features.cluster.live import LiveRecording
from scoregate.features.cluster.parts import divide_for_workers, make_part, restrict_to_part
from scoregate.features.cluster.recovery import OF_SHARDS
from scoregate.features.cluster.source_tree import SourceTree, pack_tree
from scoregate.kernel.host.process import run_until_stopped
from scoregate.kernel.host.secrets import secret_values
from scoregate.kernel.job.shards.merge_shards import find_shards, merge_shards
from scoregate.kernel.judge.archive import PARTS, RUN_FOLDER, amend_run
from scoregate.kernel.judge.settings import Settings, ShowOutputs
from scoregate.kernel.run.launch import LaunchEvent, LaunchLayer, open_layers
from scoregate.kernel.run.partial_run import CaseFilter, Excuse, FailureLimit
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.recording import Recorder, flush_regularly
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.sharding.partition import Partition

_MOST_REASONS = 5


@dataclass(slots=True)
class PartRecorder:
    """Records runs in parts, each on a worker of a cluster.

    Args:
        recorder: records runs on this machine; its folder, observers, service of calls and stop are used.
        cluster: the workers.
        scratch: a folder for temporary files.
    """

    recorder: Recorder
    cluster: Cluster
    scratch: Path

    async def record(
        self,
        plan: Plan,
        settings: Settings,
        notices: Sequence[str],
        *,
        folder: str = RUN_FOLDER,
        excuses: Sequence[Excuse] = (),
    ) -> Run:
        """Run the plan on the cluster; the run is on disk when this returns, or is cancelled."""
        recorder = self.recorder
        if not plan.launches:
            return await recorder.record(plan, settings, notices, folder=folder, excuses=excuses)
        openers = () if recorder.calls is None else (recorder.calls.around_launches,)
        async with open_layers(openers, recorder.make_launching(plan, settings, folder)) as layers:
            return await self._record(plan, settings, notices, layers, folder=folder, excuses=excuses)

    async def _record(
        self,
        plan: Plan,
        settings: Settings,
        notices: Sequence[str],
        layers: Sequence[LaunchLayer],
        *,
        folder: str,
        excuses: Sequence[Excuse],
    ) -> Run:
        recorder = self.recorder
        is_main = folder == RUN_FOLDER
        head = await recorder.describe(plan, settings, notices)
        selected = CaseFilter.for_plan(settings.selection, plan)
        failures = FailureLimit(settings.selection.max_failures if is_main else None, excuses)
        scratch = Path(mkdtemp(dir=self.scratch))
        if is_main:  # `recovery` finds the attempts there if this process is killed
            (recorder.out / folder).mkdir(parents=True, exist_ok=True)
            scratch = Path(mkdtemp(prefix=PARTS, dir=recorder.out / folder))
        live = LiveRecording(Path(folder).name, len(plan.launches), layers)
        log = await self._open_log(plan, settings, head, scratch, live, selected=selected, failures=failures)
        dispatcher = Dispatcher(self.cluster, await self._pack(plan, settings), settings, log)
        is_done = False
        try:
            work = run_until_stopped(failures.reached, dispatcher.run(log.parts), stopped=False)
            async with flush_regularly(log.flush_if_due):
                is_done = await run_until_stopped(recorder.stop, work, stopped=False)
            if dispatcher.problem:
                recorder.stop.set()  # without the cluster, nothing else of this run can be measured
        finally:
            parts = find_shards(log.close())
            run = merge_shards(parts, recorder.out / folder, settings, keep=recorder.keep if is_main else 0)
            run = self._complete(run, log, dispatcher)
            if selected is not None:
                scripts = selected.missing_nodes() if is_done and is_main else ()
                run = replace(run, notices=(*run.notices, *selected.notices), scripts=(*run.scripts, *scripts))
            stopped = "" if is_done else dispatcher.problem or failures.describe()
            run = replace(run, end=replace(run.end, stopped=stopped, complete=run.end.complete and is_done))
            amend_run(recorder.out / folder, run)
            shutil.rmtree(scratch, ignore_errors=True)
        return run

    async def _open_log(
        self,
        plan: Plan,
        settings: Settings,
        head: Run,
        scratch: Path,
        live: LiveRecording,
        *,
        selected: CaseFilter | None,
        failures: FailureLimit,
    ) -> PartLog:
        recorder, is_local = self.recorder, self.cluster.is_local
        workers = await self._count_workers()
        partition = divide_for_workers(plan, settings, workers)
        numbers = range(1, len(partition.shards) + 1)
        plans = (restrict_to_part(plan, partition, number, settings) for number in numbers)
        parts = {number: PartState(part) for number, part in zip(numbers, plans, strict=True)}

        def observe(event: LaunchEvent, recording: RunRecorder) -> None:
            failures.count(recording.finished)
            for each in recorder.observers:
                each(event, live)

        log = PartLog(
            scratch,
            head,
            parts,
            partial(make_part, partition=partition, is_local=is_local, secrets=frozenset(secret_values(os.environ))),
            lambda: RunReducer.for_policy(settings.policy()),
            observe,
            live,
            recorder.redact,
            live.layers,
            None if selected is None else selected.select,
            self._lease_budget(settings, partition),
            settings.show_outputs is ShowOutputs.FULL,
        )
        live.read_tallies, live.is_open = log.tallies, lambda script: log.count_open(script) > 0
        return log

    def _lease_budget(self, settings: Settings, partition: Partition) -> BudgetLeases | None:
        """Leases of the budget; None if there is none, or if all processes count at one place."""
        is_shared = self.cluster.is_local or self.recorder.calls is not None
        if is_shared or (settings.max_cost is None and settings.max_tokens is None):
            return None
        weights = {shard.number: shard.seconds or 1.0 for shard in partition.shards}
        return BudgetLeases(settings.max_cost, settings.max_tokens, weights)

    async def _count_workers(self) -> int:
        try:
            return max(1, sum((await self.cluster.list_workers()).values()))
        except ClusterLost:  # the dispatcher reports it
            return 1

    async def _pack(self, plan: Plan, settings: Settings) -> SourceTree:
        if self.cluster.is_local:
            return SourceTree(plan.root, "", Path(), 0)  # workers on this machine read the project itself
        return await pack_tree(plan.root, self.scratch, left_out=plan.root / settings.out)

    def _complete(self, run: Run, log: PartLog, dispatcher: Dispatcher) -> Run:
        """The merged run with what its parts don't know: where they ran, and what was counted."""
        parts, workers = number_format.count(len(log.parts), "part"), number_format.count(len(log.workers), "worker")
        kept = (notice for notice in run.notices if not OF_SHARDS.match(notice))
        lost = (
            f"{number_format.count(number, 'attempt')} of parts ended early: {reason}"
            for reason, number in list(log.lost.items())[:_MOST_REASONS]
        )
        notices = tuple(
            chain(
                [f"ran in {parts} on {workers}"],
                map(self.recorder.redact.text, chain(lost, dispatcher.describe())),
                kept,
            )
        )
        run = replace(run, notices=notices)
        for layer in log.layers:
            run = layer.add_to_run(run)
        return run
