"""Offer the results of a stored run to the suites of a plan, which take those that are still right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import IO, TypeAlias

from pydantic_core import to_json

from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.archive.cases import dump_case
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseKey
from scoregate.kernel.types.runs.reuse import trial_reuse_problem
from scoregate.kernel.types.runs.run import Run, SuiteResult

SuiteKey: TypeAlias = tuple[str | None, str, str]
# The digest of a case, and its tags, which the digest leaves out.
Definition: TypeAlias = tuple[str, tuple[str, ...]]
_REUSE_VARIABLE = "SCOREGATE_REUSE"


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
