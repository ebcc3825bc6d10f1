"""What judges have said of outputs, for people to correct."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoregate.core.case import CaseResult
from scoregate.core.evaluation import Evaluation
from scoregate.core.override import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
from scoregate.core.record import SuiteResult
from scoregate.review.battles import digest, text_of
from scoregate.store import Override

Fields = tuple[EvaluationOverrideField, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's score of one output, in [0, 1], and why; `battles` are the keys of those in which the output fights."""

    evaluator: str
    suite: str
    name: str
    score: float
    reason: str
    inputs: Fields
    outputs: Fields
    battles: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Tells it apart."""
        texts = [field.value for field in (*self.inputs, *self.outputs)]
        return digest(self.evaluator, f"{self.score!r}", *texts)

    def override(self, score: float, comments: Iterable[EvaluationOverrideComment]) -> EvaluationOverride:
        """A person's correction, as the store takes it."""
        return EvaluationOverride(self.score, score, list(self.inputs), list(self.outputs), list(comments))

    def said(self, overrides: Iterable[Override]) -> dict[str, Override]:
        """The corrections of this score, by who made them; of one person the last counts."""
        about = self.score, self.inputs, self.outputs
        same = (each for each in overrides if (each.original_score, each.input_fields, each.output_fields) == about)
        return {each.by: each for each in same}


def judged_of(case: CaseResult, suite: SuiteResult, battles: Iterable[str]) -> Iterator[Judged]:
    """What judges said of a case: evaluators that ask a model, and those that give a reason.

    Args:
        battles: the keys of those of this case that wait for people.
    """
    battles = tuple(battles)
    for name, evaluation in case.evaluations.items():
        reason = _reason(evaluation)
        if case.output is None or not (reason or _asks(suite, name, evaluation)):
            continue
        inputs, outputs = fields_of("input", case.input), fields_of("output", case.output)
        title = case.name or case.hash
        yield Judged(name, suite.label, title, evaluation.score, reason, inputs, outputs, battles)


def fields_of(name: str, value: object) -> Fields:
    """A value of a record as the fields that people see: those of an object, else one, called as it is itself."""
    if isinstance(value, Mapping) and len(value) > 1:
        return tuple(EvaluationOverrideField(str(key), str(key), text_of(part)) for key, part in value.items())
    return (EvaluationOverrideField(name, name, text_of(value)),)


def choices_of(seen: Iterable[float]) -> Sequence[float]:
    """The scores that a judge is known to give, the best first; none where they are too many for choices."""
    found = sorted({0.0, 1.0, *seen}, reverse=True)
    return found if len(found) <= _MOST_CHOICES else ()


_MOST_CHOICES = 7


def _asks(suite: SuiteResult, name: str, evaluation: Evaluation) -> bool:
    info = suite.evaluators.get(name)
    asked = info is not None and info.fingerprint is not None and info.fingerprint.model is not None
    return asked or (evaluation.usage is not None and evaluation.usage.model is not None)


def _reason(evaluation: Evaluation) -> str:
    metadata = evaluation.metadata
    return text_of(metadata.get("reason")) if isinstance(metadata, Mapping) else ""
