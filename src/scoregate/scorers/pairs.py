"""A scorer that asks a model whether the output is better than the baseline's output of the same case."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scoregate.engine.baseline_outputs import current_trial, recorded_baseline
from scoregate.engine.event_log import EventLog
from scoregate.engine.trial import Trial, serialize_output
from scoregate.grading.judge import BATTLE_CRITERIA, get_scorer_model, judge_battle, name_scorer_model
from scoregate.grading.prompts import Template, digest_texts
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import Choice
from scoregate.kernel.types.json_io import to_text
from scoregate.scorers.output_texts import check_field, read_output

if TYPE_CHECKING:
    from scoregate.models import Model

_OUTCOMES = {1.0: "better than the baseline", 0.5: "as good as the baseline", 0.0: "worse than the baseline"}
_reported: WeakSet[EventLog] = WeakSet()  # weak, so that the logs of earlier suites can go
_lock = threading.Lock()


@dataclass(frozen=True)
class PairwiseJudge:
    """A scorer that asks a model which of two outputs is better: this one, or that of the baseline.

    Attributes:
        name: the scorer's name in the record.
        criteria: what makes an output better.
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
        threshold: where a score passes; None only compares.
        max_concurrency: how many outputs are compared at once.
        field: the path of what the model sees of both outputs; None is all of them.
        higher_is_better: always true.
    """

    version = 1
    higher_is_better = True
    _battles = True

    name: str
    criteria: str
    model: str | Model | None = None
    threshold: Threshold | float | None = 0.5
    max_concurrency: int = 10
    field: str | None = None

    async def __call__(self, output: Any, input: Any = None) -> Evaluation | None:  # noqa: A002
        """Compare the output with the baseline's.

        Args:
            output: the output of the task.
            input: the input that both outputs answer.

        Returns:
            1 if the output is better, 0.5 for a tie, 0 if it is worse; None if the baseline has no output of this case.

        Raises:
            InvalidSuite: no suite runs.
            ValueError: an output is not a text, an image or a recording, and there is no `field`.
            ModelError: the model gives no answer.
            MissingExtra: a package is not installed.
        """
        trial = current_trial()
        if (recorded := recorded_baseline(trial)) is None:
            _report_missing(trial, self.name)
            return None
        # In the form in which a record has the baseline's output.
        challenger = read_output(serialize_output(output), self.field, "pairwise", media=True)
        baseline = read_output(recorded, self.field, "pairwise", media=True, what="the baseline's output")
        question = None if input is None else to_text(input)
        grade = await judge_battle(
            get_scorer_model(self.model), baseline, challenger, criteria=self.criteria, input_text=question
        )
        metadata = {"reason": grade.reason, "baseline": baseline, "challenger": challenger, "criteria": self.criteria}
        return Evaluation(grade.score or 0.0, metadata={**metadata, "prompt": grade.prompt})

    def _list_choices(self) -> Sequence[Choice]:
        return [Choice(score, name) for score, name in _OUTCOMES.items()]

    def _model_and_prompt(self) -> tuple[str, str]:
        """The model and a digest of the question without the case, for the fingerprint."""
        return name_scorer_model(self.model), digest_texts(Template.BATTLE.version, self.criteria)


def pairwise(
    criteria: str = BATTLE_CRITERIA,
    *,
    threshold: Threshold | float | None = 0.5,
    model: str | Model | None = None,
    field: str | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> PairwiseJudge:
    """Asks a model whether the output is better than the baseline's output of the same case.

    The model is asked once in each order. If its answers differ, the result is a tie, so a preference for the first or
    the second place decides nothing. Equal outputs are a tie without a question. A case without an output of the
    baseline has no score, and the report gives the reason.

    Args:
        criteria: what makes an output better; default: that it is more helpful.
        threshold: the score at or above which a case passes. Default: 0.5, so an output that is not worse passes.
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "pairwise".
        max_concurrency: how many outputs are compared at once.

    Raises:
        ValueError: the criteria are empty.
    """
    if not isinstance(criteria, str) or not criteria.strip():
        raise ValueError(f"pairwise needs criteria, not {criteria!r:.60}")
    path = check_field(field, "pairwise")
    return PairwiseJudge(name or "pairwise", criteria, model, threshold, max_concurrency, path)


def _report_missing(trial: Trial, name: str) -> None:
    """Print once per suite that there is nothing to compare with."""
    with _lock:
        is_reported = trial.log in _reported
        _reported.add(trial.log)
    if not is_reported:
        print(
            f"scoregate: {trial.log.suite}: {name} skips cases of which the baseline has no output. It compares with "
            "the base of `scoregate run`, from the first base on that has this scorer.",
            file=sys.stderr,
        )
