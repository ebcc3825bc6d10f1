"""The unedited tree: what its suites read, ask and answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from anyio import to_thread
from pydantic_core import to_json

from scoregate.features.interventions.edited_trees.edited_runs import UNEDITED, EditedRuns
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.job.fresh_trials import FailingCase
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.json_io import list_texts
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.usage import REQUEST_LOG

TrialKey: TypeAlias = tuple[str, str, str, str, int]
"""The script, the suite, the parameters, the case and the repeat of a trial."""
_SAMPLE, _SHORTEST_TEXT = 30, 6


@record
class Signature:
    """What a trial asked and answered.

    Attributes:
        digest: of its output, its errors and the stored answers that it used.
        graded: of its scores and labels, and the stored answers that they are made from.
        is_known: whether that is all it asked models.
    """

    digest: bytes
    graded: bytes = b""
    is_known: bool = True


@dataclass(frozen=True)
class UneditedTree:
    """What was measured of the tree without edits.

    Attributes:
        run: the run of all suites.
        signatures: what each trial asked and answered, by script, suite, parameters, case and repeat.
        requests: the texts that the function under test sent to models, by case; empty if none was seen.
        inputs: texts of some cases by script, by which files of cases are found.
        names: the names of cases, by the label of the suite and the hash.
        calls: the number of calls of models by the function under test, with stored answers.
        stored: the number of these that were answered from the cache.
    """

    run: Run
    signatures: Mapping[TrialKey, Signature]
    requests: Mapping[str, tuple[str, ...]]
    inputs: Mapping[str, tuple[str, ...]]
    names: Mapping[tuple[str, str], str]
    calls: int
    stored: int

    def select(self, scripts: Collection[str]) -> Run:
        """The run with some scripts only."""
        suites = tuple(each for each in self.run.suites if each.script in scripts)
        return replace(
            self.run, suites=suites, scripts=tuple(each for each in self.run.scripts if each.name in scripts)
        )

    @property
    def failures(self) -> Mapping[str, str]:
        """Why scripts failed, by name."""
        return find_script_failures(self.run)

    def list_readers(self, path: str) -> frozenset[str]:
        """The scripts that read a file."""
        known = self.run.dependencies
        places = {place for place, each in enumerate(known.table) if each.path == path and each.kind == "file"}
        return frozenset(each.script for each in known.scripts if places.intersection(each.uses))

    def list_files(self) -> list[str]:
        """The files that suites read, without those whose rows are cases."""
        known = self.run.dependencies
        used = {known.table[use] for each in known.scripts for use in each.uses}
        return sorted({each.path for each in used if each.kind == "file" and each.digest})

    @property
    def unknown(self) -> Mapping[str, str]:
        """Why it is unknown which files a script reads, or what it asks, by its name."""
        return {each.script: each.unknown for each in self.run.dependencies.scripts if each.unknown}

    def count_requests(self, text: str) -> int:
        """The number of cases with a request that contains a text, whatever its white space."""
        words = " ".join(text.split())
        return sum(any(words in each for each in texts) for texts in self.requests.values())


async def measure_unedited(runs: EditedRuns) -> UneditedTree:
    """Run all suites of the unedited tree, in a copy, and record which files they read and what they ask.

    Raises:
        ScoregateError: the copy, or the suites, can't be prepared.
    """
    log = runs.ports.scratch / "requests.jsonl"
    log.touch(mode=0o660)
    if runs.ports.identity is not None:
        runs.ports.identity.share(log)

    def add_log(plan: Plan) -> Plan:
        launches = (replace(each, environment={**each.environment, REQUEST_LOG: str(log)}) for each in plan.launches)
        return replace(plan, launches=tuple(launches))

    async with runs.open_run(UNEDITED, add_log, finds_uses=True, folder="unedited") as run:
        return await to_thread.run_sync(_read, run, log)


def _read(run: Run, log: Path) -> UneditedTree:
    signatures, names, calls, stored = {}, dict[tuple[str, str], str](), 0, 0
    inputs: dict[str, list[str]] = {}
    for suite in run.suites:
        seen = set[str]()
        for trial in suite.cases:
            signatures[identify_trial(suite, trial)] = sign_trial(trial)
            names[suite.label, trial.hash] = trial.name
            if trial.usage is not None:
                calls += trial.usage.calls
                stored += trial.usage.calls if trial.usage.cached else trial.usage.stored
            if trial.hash not in seen and len(seen) < _SAMPLE:
                seen.add(trial.hash)
                longest = max(list_texts(trial.input), key=len, default="")
                inputs.setdefault(suite.script or "", []).extend([longest] if len(longest) >= _SHORTEST_TEXT else [])
    return UneditedTree(
        run, signatures, _read_requests(log), {name: tuple(each) for name, each in inputs.items()}, names, calls, stored
    )


def identify_trial(suite: SuiteResult, trial: CaseResult) -> TrialKey:
    """What a trial has in common with the same trial in another tree."""
    case = FailingCase.make(suite, trial.hash)
    return case.script, case.suite, case.params, case.case, trial.repeat


def sign_trial(trial: CaseResult) -> Signature:
    """What a trial asked and answered. Of calls that are not stored, it is unknown what they asked."""
    usage = trial.usage
    own = [(each.error.type, each.error.message) for each in trial.errors if each.evaluator is None]
    others = [(each.evaluator, each.error.type, each.error.message) for each in trial.errors if each.evaluator]
    scores = [(name, each.score, each.usage and each.usage.answer) for name, each in sorted(trial.evaluations.items())]
    labels = sorted((name, str(each)) for name, each in trial.labels.items())
    is_known = usage is None or not usage.calls or usage.answer is not None
    return Signature(
        _digest([trial.output, own, usage and usage.answer]),
        _digest([others, scores, labels, sorted(trial.unscored)]),
        is_known and not trial.truncated,
    )


def _digest(content: object) -> bytes:
    return blake2b(to_json(content, serialize_unknown=True, inf_nan_mode="constants"), digest_size=16).digest()


def _read_requests(log: Path) -> dict[str, tuple[str, ...]]:
    requests: dict[str, dict[str, None]] = {}
    with suppress(OSError), log.open("rb") as lines:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                texts = (" ".join(text.split()) for text in entry["texts"])
                requests.setdefault(str(entry["case"]), {}).update(dict.fromkeys(texts))
    return {case: tuple(texts) for case, texts in requests.items()}


def holds_cases(content: bytes, inputs: Mapping[str, Sequence[str]]) -> bool:
    """Whether a file is the data of a suite: it has the texts of most of its cases.

    Args:
        content: the file.
        inputs: texts of cases, by script.
    """
    text = content.decode("utf-8", "replace")
    return any(
        2 * sum(each in text or json.dumps(each, ensure_ascii=True)[1:-1] in text for each in listed) > len(listed)
        for listed in inputs.values()
    )
