"""One trial of one case: what went in, what came out, what was said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from scoregate.core.evaluation import Evaluation, Naming, Usage
from scoregate.core.parts import ErrorInfo, Origin
from scoregate.core.pending import Contest


class Status(StrEnum):
    """A case's state: `failed` is certain, so it wins over `errored`; `scored` has no threshold to meet, or labels."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SCORED = "scored"
    UNSCORED = "unscored"


STATUSES = tuple(Status)


class CaseKey(NamedTuple):
    """A case of a suite: its hash and which repeat of it, from 0."""

    hash: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class CaseError:
    """An error of one case; `evaluator` where an evaluator raised, else the function under test did.

    `usage` is what was used up before it.
    """

    error: ErrorInfo
    evaluator: str | None = None
    usage: Usage | None = None


@dataclass(slots=True)
class CaseResult:
    """Everything known of one trial of one case. `suite` is the index of its suite within the run.

    `labels` is what evaluators said without a score; `contests` are the outputs that people are to choose between, by
    those of the `pending` evaluators that have told them.
    `origin` is the line that the case was read from, where it stands in a file of its own. `reused` is the id of the
    run that measured it, where that was an earlier one.
    """

    suite: int
    hash: str
    repeat: int = 0
    name: str = ""
    input: Any = None
    output: Any = None
    truncated: bool = False
    duration_ms: float | None = None
    attempts: int = 1
    digest: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    errors: list[CaseError] = field(default_factory=list)
    unscored: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    usage: Usage | None = None
    trace: Any = None
    labels: dict[str, Naming] = field(default_factory=dict)
    origin: Origin | None = None
    contests: dict[str, Contest] = field(default_factory=dict)
    reused: str | None = None

    @property
    def key(self) -> CaseKey:
        """What pairs this trial with another run's."""
        return CaseKey(self.hash, self.repeat)

    @property
    def status(self) -> Status:
        """The state of the whole case, over all its evaluations and errors."""
        passes = [evaluation.passed for evaluation in self.evaluations.values()]
        if False in passes:
            return Status.FAILED
        if self.errors:
            return Status.ERRORED
        if True in passes:
            return Status.PASSED
        return Status.SCORED if passes or self.labels else Status.UNSCORED
