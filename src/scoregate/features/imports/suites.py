"""The suites of result files: their trials become events, under keys that identify the cases in every run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypedDict

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import FreeNames, Grade, Trial, with_unique_names
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import CaseFinished, CaseOutput, CaseStarted, Errored, Event, Labelled, Scored
from scoregate.kernel.types.identity import bounded_name, digest, identify_case

_SHORT = 8


@dataclass(slots=True)
class CaseKeys:
    """Chooses the keys of the cases of a suite. They don't depend on the order of the file, if there are ids.

    The key of a case is its name, or instead of a position its input. If several cases share it, their definition is
    added, and if they share this too, their own id or position.
    """

    _ids: dict[tuple[int, str], str] = field(default_factory=dict)
    _definitions: dict[tuple[int, str], str] = field(default_factory=dict)
    _shared: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> CaseKeys:
        """The keys of the cases of these trials; those after a part that can't be read are unknown."""
        keys = cls()
        with suppress(ImportFailed, ValueError):  # raised again when the trials are read as events
            for trial in trials:
                keys.add(trial)
        return keys

    def add(self, trial: Trial, run: int = 0) -> None:
        """Note a trial.

        Args:
            trial: the trial.
            run: the number of its test run: positions in different test runs are different cases anyway.
        """
        own, definition = _own_id(trial), digest(trial.definition)
        for key in _candidates(trial, definition):
            is_same_id = self._ids.setdefault((run, key), own) == own
            if not is_same_id or self._definitions.setdefault((trial.repeat, key), definition) != definition:
                self._shared.add(key)

    def choose(self, trial: Trial) -> str:
        """The first key of a trial's case that no other case has; the last one if all are shared."""
        candidates = _candidates(trial, digest(trial.definition))
        return next((key for key in candidates if key not in self._shared), candidates[-1])


def _own_id(trial: Trial) -> str:
    return "" if trial.own is None else trial.own or trial.key


def _candidates(trial: Trial, definition: str) -> list[str]:
    """The keys that a trial's case may have, each with more that distinguishes it."""
    key = identify_case(trial.key, trial.input) or definition
    parts = [key, definition[:_SHORT], _own_id(trial)]
    if parts[2] == trial.key and key == bounded_name(trial.key):
        parts.pop()
    return [bounded_name(" ".join(filter(None, parts[:end]))) for end in range(1, len(parts) + 1)]


@dataclass(slots=True)
class Suite:
    """A suite whose trials become events. Trials of one key, and evaluators of one name, get different numbers."""

    id: str
    keys: CaseKeys = field(default_factory=CaseKeys)
    _names: FreeNames = field(default_factory=FreeNames)

    def events_of(self, trial: Trial) -> Iterator[Event]:
        """The events of one trial."""
        trial_id: _TrialId = {"suite": self.id, "case": self._key(trial), "repeat": trial.repeat}
        name, definition = trial.name or bounded_name(trial.key) or trial_id["case"], digest(trial.definition)
        yield CaseStarted(
            **trial_id,
            name=name,
            input=trial.described_input,
            digest=definition,
            tags=trial.tags,
            cluster=trial.cluster,
        )
        yield CaseOutput(
            **trial_id, output=trial.output, duration_ms=trial.duration_ms, attempts=trial.attempts, usage=trial.usage
        )
        yield from (_grade_event(trial_id, grade) for grade in with_unique_names(trial.grades))
        if trial.error is not None:
            yield Errored(**trial_id, stage="task", error=trial.error)
        yield CaseFinished(**trial_id, unscored=trial.unscored)

    def _key(self, trial: Trial) -> str:
        return self._names.take(trial.case or self.keys.choose(trial), trial.repeat)


class _TrialId(TypedDict):
    """The trial that an event belongs to."""

    suite: str
    case: str
    repeat: int


def _grade_event(trial_id: _TrialId, grade: Grade) -> Event:
    error = grade.error
    if error is None and grade.label:
        return Labelled(
            **trial_id, evaluator=grade.evaluator, label=grade.label, metadata=grade.metadata, usage=grade.usage
        )
    if error is None and grade.score is not None:
        return Scored(
            **trial_id,
            evaluator=grade.evaluator,
            score=grade.score,
            threshold=grade.threshold,
            metadata=grade.metadata or None,
            usage=grade.usage,
        )
    error = error or ErrorInfo("NoScore", "it returned no score")
    return Errored(**trial_id, stage="evaluator", error=error, evaluator=grade.evaluator, usage=grade.usage)
