"""What every format comes to: trials of cases with grades, told as events."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, TypedDict

from scoregate.core.evaluation import Threshold, Usage
from scoregate.core.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    ErrorInfo,
    Event,
    Scored,
)
from scoregate.core.wire import dump, ordered

PASSED = "passed"
MET = Threshold(gte=1)
_LONGEST_NAME = 200
_SCALE = (
    'State its scale in the metadata of the evaluation, as in {"scales": {"NAME": [1, 5]}}, or give scores in [0, 1].'
)


@dataclass(frozen=True, slots=True)
class Grade:
    """What one evaluator says of one trial; `error` in place of a score where it broke."""

    evaluator: str
    score: float | None = None
    threshold: Threshold | None = None
    metadata: Mapping[str, Any] | None = None
    usage: Usage | None = None
    error: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one case.

    `key` is the case's own id or name; empty where it has none. `definition` is what must stay the same for two
    trials to be of the same case. `unscored` names the evaluators that gave nothing, as they may.
    """

    key: str
    name: str = ""
    repeat: int = 0
    input: Any = None
    definition: Any = None
    output: Any = None
    duration_ms: float | None = None
    attempts: int = 1
    usage: Usage | None = None
    tags: tuple[str, ...] = ()
    grades: tuple[Grade, ...] = ()
    error: ErrorInfo | None = None
    unscored: tuple[str, ...] = ()


@dataclass(slots=True)
class Suite:
    """A suite that is being told. Two trials that would be one are told apart by a number, evaluators of one too."""

    id: str
    _taken: set[tuple[str, int]] = field(default_factory=set)

    def tell(self, trial: Trial) -> Iterator[Event]:
        """The events of one trial."""
        who: _Who = {"suite": self.id, "case": self._key(trial), "repeat": trial.repeat}
        name, definition = trial.name or who["case"], digest(trial.definition)
        yield CaseStarted(**who, name=name, input=trial.input, digest=definition, tags=trial.tags)
        yield CaseOutput(
            **who, output=trial.output, duration_ms=trial.duration_ms, attempts=trial.attempts, usage=trial.usage
        )
        yield from (_graded(who, grade) for grade in numbered(trial.grades))
        if trial.error is not None:
            yield Errored(**who, stage="task", error=trial.error)
        yield CaseFinished(**who, unscored=trial.unscored)

    def _key(self, trial: Trial) -> str:
        given = bounded_name(trial.key) or digest(trial.definition)
        case = next(free for free in _variations(given) if (free, trial.repeat) not in self._taken)
        self._taken.add((case, trial.repeat))
        return case


class _Who(TypedDict):
    """Of which trial an event tells."""

    suite: str
    case: str
    repeat: int


def _graded(who: _Who, grade: Grade) -> Event:
    error = grade.error or _complaint(grade)
    if error is None and grade.score is not None:
        return Scored(
            **who,
            evaluator=grade.evaluator,
            score=grade.score,
            threshold=grade.threshold,
            metadata=grade.metadata or None,
            usage=grade.usage,
        )
    error = error or ErrorInfo("NoScore", "it gave no score")
    return Errored(**who, stage="evaluator", error=error, evaluator=grade.evaluator, usage=grade.usage)


def _complaint(grade: Grade) -> ErrorInfo | None:
    if grade.score is None or (isfinite(grade.score) and 0 <= grade.score <= 1):
        return None
    return ErrorInfo("OutOfRange", f"its score {grade.score:g} is outside [0, 1]", advice=_SCALE)


def numbered(grades: Iterable[Grade]) -> Iterator[Grade]:
    """The grades, each evaluator under a name that no other of the trial has."""
    taken: set[str] = set()
    for grade in grades:
        given = bounded_name(grade.evaluator) or "unnamed"
        taken.add(name := next(free for free in _variations(given) if free not in taken))
        yield replace(grade, evaluator=name)


def _variations(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} #{number}"
        number += 1


def bounded_name(text: str) -> str:
    """A name that is short enough to be one; what is longer keeps its start and a digest of the whole."""
    text = text.strip()
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 20]}… {digest(text)[:12]}"


def digest(value: object) -> str:
    """Of any JSON: the same for equal values in every process; empty for None."""
    return "" if value is None else hashlib.sha256(dump(ordered(value))).hexdigest()[:24]


def excerpt(value: object, limit: int = 120) -> str:
    """The start of a text, or of a value as JSON, on one line."""
    text = value if isinstance(value, str) else dump(value).decode("utf-8", "replace")
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[:limit]}…"
