"""A suite as the engine runs it: live objects, never serialised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scoregate.core.events import ErrorInfo, EvaluatorInfo, Origin


class Case(NamedTuple):
    """What the function under test is given, under a hash that stays the same for the case's lifetime."""

    hash: str
    value: Any
    repeats: int = 1


class Description(NamedTuple):
    """A case as the record tells it: `body` has a JSON form, `cluster` groups cases that belong together.

    `digest` is that of the definition, to tell whether it changed under the same hash; `origin` is the line of the file
    that it was read from, where there is one.
    """

    name: str
    body: Any
    digest: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    origin: Origin | None = None


class Scorer(NamedTuple):
    """An evaluator: `score(case, output)` gives an Evaluation or None, at most `max_concurrency` at a time."""

    info: EvaluatorInfo
    score: Callable[..., Any]
    max_concurrency: int = 10


class Limits(NamedTuple):
    """How a suite may run: cases at a time, retries of a transient failure, seconds that a case may take.

    `scoring_s` are the seconds that scorers may take while no case is in the function under test; then the run is given
    up.
    """

    max_case_concurrency: int = 10
    retries: int = 0
    timeout_s: float | None = None
    scoring_s: float | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases, the function under test, and what scores its outputs.

    `hook(case, output)` runs before the scorers, and what it returns reaches them as `hook_results`; `conclusion`
    scores a case once all the scorers are done with it. `variants` are the parameters of a grid search, one run each;
    `problems` is what is wrong with the suite; `trace_form(output)` is what the record keeps of how it came about;
    `message` titles the run.
    """

    id: str
    cases: Sequence[Case]
    task: Callable[[Any], Any]
    describe: Callable[[Case], Description]
    output_form: Callable[[Any], Any]
    scorers: Sequence[Scorer] = ()
    conclusion: Scorer | None = None
    trace_form: Callable[[Any], Any] | None = None
    hook: Callable[[Any, Any], Any] | None = None
    limits: Limits = Limits()  # noqa: RUF009
    origin: Origin | None = None
    variants: Sequence[Mapping[str, Any] | None] = (None,)
    problems: Sequence[ErrorInfo] = ()
    message: str | None = None

    @property
    def evaluators(self) -> tuple[Scorer, ...]:
        """All that score, the conclusion last."""
        return (*self.scorers, self.conclusion) if self.conclusion else tuple(self.scorers)

    @property
    def trials(self) -> int:
        """How many times a variant calls the function under test, retries aside."""
        return sum(case.repeats for case in self.cases)
