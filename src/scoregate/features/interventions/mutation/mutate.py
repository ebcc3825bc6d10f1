"""Measure the units of a project, several at a time, until all are done or the budget is spent."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio import to_thread
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from scoregate import __version__
from scoregate.errors import GitError
from scoregate.features.interventions.edited_trees.edited_runs import STOPPED, Contents, EditedRuns, find_gap
from scoregate.features.interventions.edited_trees.edits import apply_edits
from scoregate.features.interventions.edited_trees.tree_copy import TreeCopy, open_tree_copy
from scoregate.features.interventions.mutation.budget import Budget
from scoregate.features.interventions.mutation.chosen_units import Choice, ChosenUnit, FoundUnits, choose_units
from scoregate.features.interventions.mutation.outcomes import Judgement, Measured, judge_units
from scoregate.features.interventions.mutation.unedited_tree import UneditedTree, measure_unedited
from scoregate.features.interventions.mutation.unit_measurement import UnitMeasurement, UnitTries, count_rounds
from scoregate.features.interventions.mutation.units import Unit
from scoregate.kernel.job.fresh_trials import FailingCase
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.judgement import LoadJudgeSteps
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.dependencies.recording import digest_launch
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

_SLOWER, _LEAST_TIMEOUT_S = 5, 60.0
_MOST_GAPS = 3
"""After so many units in a row that can't be measured, the others are left out."""
_RESULTS = "units.jsonl"
_MEASURED: TypeAdapter[Measured] = TypeAdapter(Measured)
_Tries: TypeAlias = list[tuple[FailingCase, list[bool], list[bool]]]
"""The fresh trials of cases, in the edited tree and in the unedited one."""
_TRIES: TypeAdapter[_Tries] = TypeAdapter(_Tries)


@record
class MutationRequest:
    """What to measure.

    Attributes:
        choice: which units.
        budget: what may be spent.
        copies: how many units are measured at a time.
    """

    choice: Choice
    budget: Budget
    copies: int


@record
class MeasuredUnit:
    """A unit, what was measured of it, and its outcome."""

    chosen: ChosenUnit
    measured: Measured
    judgement: Judgement

    @property
    def unit(self) -> Unit:
        """The unit."""
        return self.chosen.unit


@record
class Mutation:
    """What was measured.

    Attributes:
        units: the units that were measured.
        left_out: the number of units that were not.
        ended: why they were not; empty if all were.
        problem: why nothing could be measured; empty if it could.
        red: the gates that do not hold in the unedited tree.
        skipped: why files that suites read have no units, or not all, by path.
        unknown: why it is unknown which files a script reads, by its name.
        cases: the names of all cases, by suite and hash.
        calls: the number of calls of models that were made.
        dollars: their cost, as far as prices are known.
    """

    units: tuple[MeasuredUnit, ...] = ()
    left_out: int = 0
    ended: str = ""
    problem: str = ""
    red: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[tuple[str, str], str] = field(default_factory=dict)
    calls: int = 0
    dollars: float = 0.0


async def mutate(
    plan: Plan, settings: Settings, ports: Ports, load: LoadJudgeSteps, asked: MutationRequest
) -> Mutation:
    """Measure whether the evals notice edits, in copies of the work tree.

    Raises:
        ScoregateError: the work tree can't be copied, or its files can't be listed.
    """
    started = time.monotonic()
    runs = EditedRuns(plan, settings, ports)
    async with runs.open_copies(asked.copies):
        ports.print_line("Measuring the unedited tree, in a copy.")
        unedited = await measure_unedited(runs)
        if problem := _explain_unmeasurable(unedited):
            return Mutation(problem=problem, calls=runs.spent.calls, dollars=runs.spent.dollars)
        runs.timeout_s = min(settings.timeout, _find_timeout(unedited))
        tree = await read_project_tree(ports.root, settings)
        async with open_tree_copy(ports.root, settings) as copy:
            if tree is None or copy.state != runs.state:
                raise GitError("the work tree changed while it was measured", advice="Run the command again.")
            folder = find_folder(ports.root, tree)
            found = await to_thread.run_sync(choose_units, asked.choice, unedited, copy, plan, tree, folder)
            ports.print_line(_describe_costs(found, unedited, asked.budget))
            end = partial(asked.budget.explain_end, runs.spent, started)
            units = max(1, len(found.units))
            stored = await _open_results(plan, settings, ports, copy.state)
            measurement = UnitMeasurement(runs, unedited, load, count_rounds(units), units, end)
            queue = _Queue(asked, measurement, copy, found.units, stored)
            await queue.run()
        return await to_thread.run_sync(_conclude, queue, found, unedited, runs)


def _find_timeout(unedited: UneditedTree) -> float:
    """How long a script may take, in seconds: an edit can make it hang. Answers from the cache take no time."""
    slowest = max((each.duration_s for each in unedited.run.scripts), default=0.0)
    return max(_LEAST_TIMEOUT_S * (10 if unedited.stored else 1), _SLOWER * slowest)


def _conclude(queue: _Queue, found: FoundUnits, unedited: UneditedTree, runs: EditedRuns) -> Mutation:
    done = [(each, queue.results[number]) for number, each in enumerate(found.units) if number in queue.results]
    judged = judge_units([measured for _, measured in done])
    return Mutation(
        tuple(MeasuredUnit(each, measured, one) for (each, measured), one in zip(done, judged, strict=True)),
        len(found.units) - len(done),
        queue.ended or queue.gap or STOPPED,
        red=tuple(queue.measurement.list_red_gates()),
        skipped=found.skipped,
        unknown=unedited.unknown,
        cases=unedited.names,
        calls=runs.spent.calls,
        dollars=runs.spent.dollars,
    )


def _explain_unmeasurable(unedited: UneditedTree) -> str:
    """Why edits can't be compared with the unedited tree; empty if they can."""
    if not unedited.run.end.complete:
        return "the run of the unedited tree was stopped"
    if failures := list(unedited.failures.values()):
        return f"in a copy of the work tree, {failures[0]}"
    if gap := find_gap(unedited.run):
        return gap
    if not any(len(suite.columns) for suite in unedited.run.suites):
        return "no suite ran"
    return ""


def _describe_costs(found: FoundUnits, unedited: UneditedTree, budget: Budget) -> str:
    files = len({each.unit.file for each in found.units})
    text = f"{number_format.count(len(found.units), 'unit')} of {number_format.count(files, 'file')}."
    if not unedited.calls:
        return f"{text} No calls of models were seen. Budget: {budget}."
    expected = sum(each.cases or len(unedited.requests) for each in found.units) if unedited.requests else 0
    most = f"about {expected:,}" if expected else f"at most {unedited.calls * len(found.units):,}"
    return f"{text} They change {most} calls of models; cases that differ run again in both trees. Budget: {budget}."


@dataclass
class _Queue:
    """Measures units in their order, and keeps each result on disk, so that an interrupted command can go on."""

    asked: MutationRequest
    measurement: UnitMeasurement
    copy: TreeCopy
    units: tuple[ChosenUnit, ...]
    stored: _Results
    results: dict[int, Measured] = field(default_factory=dict)
    ended: str = ""
    gap: str = ""
    gaps: int = 0

    async def run(self) -> None:
        """Measure the units."""
        for number, chosen in enumerate(self.units):
            if (known := self.stored.known.get(_identify(chosen))) is not None:
                self.results[number] = known
        numbers = iter([number for number in range(len(self.units)) if number not in self.results])
        async with anyio.create_task_group() as tasks:
            for _ in range(self.asked.copies):
                tasks.start_soon(self._measure_next, numbers)

    async def _measure_next(self, numbers: Iterator[int]) -> None:
        runs = self.measurement.runs
        for number in numbers:
            stopped = STOPPED if runs.ports.stop.is_set() else ""
            self.ended = stopped or self.ended or self.measurement.explain_end()
            if self.ended or self.gaps >= _MOST_GAPS:
                return
            chosen = self.units[number]
            first, last = chosen.unit.lines
            lines = f"{first}" if first == last else f"{first}-{last}"
            place = f"{chosen.unit.file}:{lines} ({chosen.unit.operator})"
            runs.ports.print_line(f"{number + 1:,} of {len(self.units):,}: {place}")
            name = _identify(chosen)
            tries = self.stored.tries.get(name) or UnitTries()
            measured = await self.measurement.measure(edit_unit(self.copy, chosen.unit), chosen.scripts, tries)
            self.gap, self.gaps = self.gap or measured.gap, self.gaps + 1 if measured.gap else 0
            if not measured.gap and not runs.ports.stop.is_set():
                self.results[number] = measured
                await to_thread.run_sync(self.stored.add, name, measured)
            elif pairs := tries.pair(self.measurement.base_tries):  # the next command goes on with them
                await to_thread.run_sync(self.stored.add_tries, name, pairs)


def edit_unit(copy: TreeCopy, unit: Unit) -> Contents:
    """The contents of the files that a unit's edits change."""
    contents = {}
    for path in {each.path for each in unit.edits}:
        edits = [each for each in unit.edits if each.path == path]
        contents[path] = apply_edits(copy.read(path) or b"", edits)
    return contents


def _identify(chosen: ChosenUnit) -> str:
    unit = chosen.unit
    content = to_json([unit.file, unit.operator, unit.text, unit.edits, sorted(chosen.scripts)])
    return blake2b(content, digest_size=8).hexdigest()


@dataclass
class _Results:
    """The results on disk, of one state of the code and the settings."""

    path: Path
    known: dict[str, Measured] = field(default_factory=dict)
    tries: dict[str, UnitTries] = field(default_factory=dict)

    def read(self, line: bytes) -> None:
        """Read a line."""
        with suppress(ValueError, KeyError, TypeError, ValidationError):  # a kill cuts the last line
            entry = json.loads(line)
            if "tries" in entry:
                tries = _TRIES.validate_python(entry["tries"])
                sides = {case: edited for case, edited, _ in tries}, {case: base for case, _, base in tries}
                self.tries[entry["unit"]] = UnitTries(*sides)
            else:
                self.known[entry["unit"]] = _MEASURED.validate_python(entry["measured"])

    def add_tries(self, unit: str, tries: _Tries) -> None:
        """Append the fresh trials of a unit that is not measured yet."""
        line = to_json({"unit": unit, "tries": tries}) + b"\n"
        with self.path.open("ab") as file:
            file.write(line)

    def add(self, unit: str, measured: Measured) -> None:
        """Append the result of a unit."""
        line = to_json({"unit": unit, "measured": measured}, inf_nan_mode="constants") + b"\n"
        with self.path.open("ab") as file:
            file.write(line)


async def _open_results(plan: Plan, settings: Settings, ports: Ports, state: str) -> _Results:
    """The results of an earlier command with the same files, launches, settings and gates; others are deleted."""
    conditions = await read_conditions(ports.root, settings, None)
    launches = [digest_launch(each) for each in plan.launches]
    gates = settings.policy().to_record()
    asked = blake2b(to_json([launches, gates], serialize_unknown=True), digest_size=8).hexdigest()
    head = {"version": __version__, "state": state, "settings": conditions.settings, "asked": asked}
    return await to_thread.run_sync(_read_results, ports.reporting.context.out / _RESULTS, head)


def _read_results(path: Path, head: Mapping[str, str]) -> _Results:
    content = path.read_bytes() if path.is_file() else b""
    lines, results = content.splitlines(), _Results(path)
    with suppress(ValueError):
        if lines and json.loads(lines[0]) == head:
            for line in lines[1:]:
                results.read(line)
            if not content.endswith(b"\n"):
                path.write_bytes(content + b"\n")
            return results
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_json(head) + b"\n")
    return results
