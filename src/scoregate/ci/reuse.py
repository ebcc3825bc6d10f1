"""Stored results, offered to the suites of a plan, and what became of the offer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TypeAlias

from pydantic_core import to_json

from scoregate.ci.archive.lines import case_line
from scoregate.ci.identity import Identity
from scoregate.ci.plan import Launch, Plan
from scoregate.core.case import CaseKey
from scoregate.core.record import ReusedRun, Run, SuiteResult
from scoregate.core.reuse import CHANGED, GONE, why_not_suite, why_not_trial

SuiteKey: TypeAlias = tuple[str | None, str, str]
_VARIABLE = "SCOREGATE_REUSE"
_MOST_REASONS = 10


@dataclass(frozen=True, slots=True)
class Offer:
    """Results of a stored run that a plan's suites may take instead of measuring them.

    Args:
        run: the stored one. plan: whose suites get them. digests: by suite and trial, those that are offered.
        refused: how many are not, by reason.
    """

    run: Run
    plan: Plan
    digests: Mapping[SuiteKey, Mapping[CaseKey, str]]
    refused: Counter[str] = field(default_factory=Counter)


def offer(run: Run, plan: Plan, folder: Path, identity: Identity | None) -> Offer:
    """Offer the results of a stored run to a plan: those of a suite that it has once, without errors.

    Args:
        folder: is made for the files that the suites read, outside of the project. identity: who reads them.

    Raises:
        OSError: they cannot be written.
    """
    folder.mkdir(mode=0o711)
    launches = {launch.name: launch for launch in plan.launches}
    numbers = Counter(map(key_of, run.suites))
    wanted = {
        at: suite
        for at, suite in enumerate(run.suites)
        if suite.script in launches and numbers[key_of(suite)] == 1 and len(suite.columns)
    }
    refused = Counter[str]()
    digests: dict[SuiteKey, dict[CaseKey, str]] = {key_of(suite): {} for suite in wanted.values()}
    files = {script: folder / f"{number}.jsonl" for number, script in enumerate({s.script for s in wanted.values()})}
    for script, path in files.items():
        own = {at: suite for at, suite in wanted.items() if suite.script == script}
        with path.open("xb") as file:
            path.chmod(0o600)
            _write(file, run, own, digests=digests, refused=refused)
        if identity is not None:
            path.chmod(0o400)
            identity.share(path)
    told = tuple(_told(launch, files.get(launch.name)) for launch in plan.launches)
    return Offer(run, replace(plan, launches=told), digests, refused)


def key_of(suite: SuiteResult) -> SuiteKey:
    """What a suite is known by from one run to the next: its script, its id, and its parameters as JSON."""
    return suite.script, suite.id, json.dumps(dict(suite.params or {}), sort_keys=True, default=str)


def _write(
    file: IO[bytes],
    run: Run,
    suites: Mapping[int, SuiteResult],
    *,
    digests: Mapping[SuiteKey, dict[CaseKey, str]],
    refused: Counter[str],
) -> None:
    heads = [
        {"id": suite.id, "params": suite.params, "evaluators": list(suite.evaluators.values())}
        for suite in suites.values()
    ]
    file.write(to_json({"run": run.id, "suites": heads}, serialize_unknown=True) + b"\n")
    for number, suite in enumerate(suites.values()):
        for case in suite.cases:
            if reason := why_not_trial(case):
                refused[reason] += 1
                continue
            digests[key_of(suite)][case.key] = case.digest
            file.write(case_line(replace(case, suite=number)) + b"\n")


def _told(launch: Launch, path: Path | None) -> Launch:
    return launch if path is None else replace(launch, environment={**launch.environment, _VARIABLE: str(path)})


def settled(run: Run, offered: Offer, name: str) -> Run:
    """The run that was made with an offer, with what of it was taken and why the rest was not.

    Args:
        name: what the stored run is called in words.
    """
    reused = sum(len(suite.columns.reused) for suite in run.suites)
    trials = sum(len(suite.columns) for suite in run.suites)
    reasons = offered.refused + Counter(_refusals(run, offered))
    told = f"{reused:,} of {trials:,} results were reused from {name}"
    if reasons:
        shown = (f"{number:,} {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
        told += f"; not reused: {', '.join(shown)}"
    source = offered.run
    used = ReusedRun(source.id, source.started, source.finished, source.attempt) if reused else None
    return replace(run, reused_from=used, notices=(*run.notices, told))


def _refusals(run: Run, offered: Offer) -> Iterator[str]:
    """Why each trial was measured again that was offered."""
    then = {key_of(suite): suite for suite in offered.run.suites}
    now = {key_of(suite): suite for suite in run.suites}
    for key, digests in offered.digests.items():
        suite = now.get(key)
        why = "whose suite did not run" if suite is None else why_not_suite(suite.evaluators, then[key].evaluators)
        rows = {} if suite is None else {suite.columns.key(row): row for row in range(len(suite.columns))}
        for trial, digest in digests.items():
            row = rows.get(trial)
            if suite is not None and row in suite.columns.reused:
                continue
            if why or suite is None:
                yield why if suite is None else f"of {suite.label} ({why})"
            elif row is None:
                yield GONE
            else:
                yield CHANGED if suite.columns.digests[row] != digest else f"of {suite.label} (its SDK measures all)"
