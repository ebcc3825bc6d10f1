"""What judges have said of outputs, for people to correct."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoregate.core.calibration import digest_fingerprint
from scoregate.core.case import CaseResult
from scoregate.core.evaluation import Evaluation
from scoregate.core.override import EvaluationOverrideComment, EvaluationOverrideField
from scoregate.core.parts import Choice
from scoregate.core.record import SuiteResult
from scoregate.review.battles import digest, text_of
from scoregate.review.choosing import chosen_score
from scoregate.store import Override

Fields = tuple[EvaluationOverrideField, ...]
_MOST_GUESSED = 7


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's score of one output, in [0, 1], and why.

    `battles` are the keys of those in which the output fights; `choices` are the scores that the judge can give, none
    that is not known. `asked`: it asked a model. `fingerprint` tells which judge it was, as `digest_fingerprint` does.
    `sampled`: it was drawn at random.
    """

    evaluator: str
    suite: str
    name: str
    score: float
    reason: str
    inputs: Fields
    outputs: Fields
    battles: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    asked: bool = False
    fingerprint: str = ""
    sampled: bool = False

    @property
    def key(self) -> str:
        """Tells it apart; a sampled one also by its judge, since what people said of another judge is not of it."""
        sample = [self.fingerprint] if self.sampled else []
        return _key(self.evaluator, self.score, self.inputs, outputs=self.outputs, sample=sample)

    def override(self, score: float, by: str, *, comments: Iterable[EvaluationOverrideComment] = ()) -> Override:
        """A person's correction, as the store keeps it; the same score says that the judge was right.

        Raises:
            UsageError: the judge has choices, and this is none of them.
        """
        return Override(
            original_score=self.score,
            override_score=chosen_score(score, self.score, self.choices, evaluator=self.evaluator),
            input_fields=self.inputs,
            output_fields=self.outputs,
            comments=tuple(comments),
            by=by,
            fingerprint=self.fingerprint,
            sampled=self.sampled,
        )


def judged_key(evaluator: str, override: Override) -> str:
    """Of the score that an override corrects."""
    return _key(
        evaluator,
        override.original_score,
        override.input_fields,
        outputs=override.output_fields,
        sample=[override.fingerprint] if override.sampled else [],
    )


def _key(evaluator: str, score: float, inputs: Fields, *, outputs: Fields, sample: Iterable[str]) -> str:
    fields = json.dumps([[(each.id, each.name, each.value) for each in side] for side in (inputs, outputs)])
    return digest(evaluator, repr(float(score)), fields, *sample)


def judged_of(case: CaseResult, suite: SuiteResult, battles: Iterable[str]) -> Iterator[Judged]:
    """What judges said of a case: evaluators that ask a model, and those that give a reason.

    Args:
        battles: the keys of those of this case that wait for people.
    """
    battles = tuple(battles)
    for name, evaluation in case.evaluations.items():
        reason, asked = _reason(evaluation), _asks(suite, name, evaluation)
        if case.output is None or not (reason or asked):
            continue
        info = suite.evaluators.get(name)
        yield Judged(
            evaluator=name,
            suite=suite.label,
            name=case.name or case.hash,
            score=evaluation.score,
            reason=reason,
            inputs=fields_of("input", case.input),
            outputs=fields_of("output", case.output),
            battles=battles,
            choices=info.choices if info else (),
            asked=asked,
            fingerprint=digest_fingerprint(info.fingerprint) if info else "",
        )


def fields_of(name: str, value: object) -> Fields:
    """A value of a record as the fields that people see: those of an object, else one, called as it is itself."""
    if isinstance(value, Mapping) and len(value) > 1:
        return tuple(EvaluationOverrideField(str(key), str(key), text_of(part)) for key, part in value.items())
    return (EvaluationOverrideField(name, name, text_of(value)),)


def choices_of(judged: Judged, seen: Iterable[float]) -> Sequence[Choice]:
    """What is offered to who corrects a score, the best first: the judge's choices, each score once by all its names.

    Where these are not known, what the judge is seen to give; nothing where that is too much to choose among.
    """
    names: dict[float, list[str]] = {}
    for each in judged.choices:
        names.setdefault(each.value, []).append(each.name)
    if not names:
        names = {score: [] for score in {0.0, 1.0, *seen}} if is_guessable(seen := set(seen)) else {}
    return [Choice(score, " / ".join(filter(None, names[score]))) for score in sorted(names, reverse=True)]


def is_guessable(seen: Iterable[float]) -> bool:
    """Whether a judge of which these scores are known seems to choose among few."""
    return len({0.0, 1.0, *seen}) <= _MOST_GUESSED


def _asks(suite: SuiteResult, name: str, evaluation: Evaluation) -> bool:
    info = suite.evaluators.get(name)
    asked = info is not None and info.fingerprint is not None and info.fingerprint.model is not None
    return asked or (evaluation.usage is not None and evaluation.usage.model is not None)


def _reason(evaluation: Evaluation) -> str:
    metadata = evaluation.metadata
    return text_of(metadata.get("reason")) if isinstance(metadata, Mapping) else ""
