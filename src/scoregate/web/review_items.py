"""Items to review: battles, shown without telling which output is new, and scores of judges."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scoregate.errors import UsageError
from scoregate.kernel.compare.agreement import digest_fingerprint
from scoregate.kernel.compare.judge_checks import PASSING
from scoregate.kernel.types.evaluation import Evaluation, EvaluationOverrideComment, EvaluationOverrideField, Threshold
from scoregate.kernel.types.event_values import Choice, EvaluatorInfo, HumanReviewField
from scoregate.kernel.types.media import show_references
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.store import Override, Verdict, Winner


class Side(StrEnum):
    """The better of two outputs, as a reviewer sees them."""

    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"

    @property
    def mirrored(self) -> Side:
        """The same verdict with the outputs exchanged."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}.get(self, self)


@dataclass(frozen=True, slots=True)
class Battle:
    """Two outputs of one case. `case` is its hash; `suite` and `name` are the names in reports."""

    evaluator: str
    case: str
    baseline: str
    challenger: str
    suite: str
    name: str
    input: str
    rubric: str

    @property
    def key(self) -> str:
        """A unique key that does not reveal which output is new."""
        return battle_key(self.evaluator, self)

    def texts(self, seed: str) -> tuple[str, str]:
        """The outputs, left and right; the order is fixed for a seed, such as a reviewer's name."""
        pair = sorted((self.baseline, self.challenger))  # sorted, so that the side does not show which output is new
        return (pair[1], pair[0]) if is_mirrored(self.key, seed) else (pair[0], pair[1])

    def verdict(self, side: Side, by: str, *, seed: str, comment: str = "") -> Verdict:
        """The verdict to store, of a reviewer who saw the battle with this seed."""
        wins = {Side.TIE: Winner.TIE}.get(side) or (
            Winner.BASELINE if (side is Side.LEFT) == (self.texts(seed)[0] == self.baseline) else Winner.CHALLENGER
        )
        return Verdict(
            case=self.case, baseline=self.baseline, challenger=self.challenger, winner=wins, comment=comment, by=by
        )


def battle_key(evaluator: str, pair: Battle | Verdict) -> str:
    """The key of a battle, or of the battle of a verdict, whichever of its outputs is the baseline."""
    return digest(evaluator, pair.case, *sorted((pair.baseline, pair.challenger)))


def is_mirrored(key: str, seed: str) -> bool:
    """Whether the alphabetically second output is on the left for this seed."""
    return bool(int(digest("side", seed, key), 16) % 2)


def verdict_side(verdict: Verdict) -> Side:
    """The side of a verdict, if the alphabetically first output is on the left."""
    if verdict.winner is Winner.TIE:
        return Side.TIE
    first = min(verdict.baseline, verdict.challenger)
    wins = verdict.baseline if verdict.winner is Winner.BASELINE else verdict.challenger
    return Side.LEFT if wins == first else Side.RIGHT


def digest(*words: str) -> str:
    """A digest of words, of 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def find_battles(case: CaseResult, suite: str) -> Iterable[Battle]:
    """Find the battles of a case that wait for review."""
    for name in case.pending:
        if (contest := case.contests.get(name)) is not None:
            yield Battle(
                evaluator=name,
                case=case.hash,
                baseline=contest.baseline,
                challenger=contest.challenger,
                suite=suite,
                name=case.name or case.hash,
                input=_format_review_fields(case.review_inputs) or format_value(case.input),
                rubric=contest.rubric or "",
            )


def format_value(value: object) -> str:
    """Format a value for people: text as it is, a single field without its name, else JSON."""
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    value = show_references(value)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=2)


_TOLERANCE = 1e-9


def known_choices(evaluator: str, suites: Iterable[Mapping[str, EvaluatorInfo]]) -> tuple[Choice, ...]:
    """The choices of judges with this name; none if a judge may give any score, or there is no judge.

    Args:
        evaluator: the name of the judge.
        suites: the evaluators of each suite by name.
    """
    choices = [known[evaluator].choices for known in suites if evaluator in known]
    return tuple(choice for each in choices for choice in each) if all(choices) else ()


def is_choice(score: float, choices: Iterable[Choice]) -> bool:
    """Whether a score is among the choices."""
    return any(abs(each.value - score) <= _TOLERANCE for each in choices)


def chosen_score(score: float, own: float, choices: Sequence[Choice], *, evaluator: str) -> float:
    """A reviewer's score as the judge writes it: one of its choices, if they are known, or its own score.

    Raises:
        UsageError: the score is not among the choices.
    """
    scores = [*(each.value for each in choices), own] if choices else [score]
    if matches := [value for value in scores if abs(value - score) <= _TOLERANCE]:
        return matches[0]
    raise UsageError(f"score: {score:g} is not among the choices of {evaluator}: {format_choices(choices)}")


def format_choices(choices: Iterable[Choice]) -> str:
    """The choices with their names: `1 (Yes), 0 (No)`."""
    return ", ".join(dict.fromkeys(f"{each.value:g} ({each.name})" if each.name else f"{each.value:g}"
                                   for each in choices))  # fmt: skip


Fields = tuple[EvaluationOverrideField, ...]
_MAX_CHOICES = 7
# Where a score passes without a threshold, if a lower score is better.
_LOW_PASSES = Threshold(lte=PASSING)


@dataclass(frozen=True, slots=True)
class JudgedScore:
    """A judge's score of one output, in [0, 1], and its reason.

    `battles` are the keys of the battles of this output; `choices` are the scores that the judge can give, empty if
    unknown. `asked`: the judge called a model. `fingerprint` identifies the judge, as `digest_fingerprint` does.
    `sampled`: the score was drawn at random. `threshold` and `failing_share` are those of `Override`.
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
    threshold: Threshold | None = None
    failing_share: float | None = None

    @property
    def key(self) -> str:
        """A unique key. For a sampled score it contains the judge, since reviews of another judge don't count."""
        sample = [self.fingerprint] if self.sampled else []
        return _score_key(self.evaluator, self.score, self.inputs, outputs=self.outputs, sample=sample)

    def override(self, score: float, by: str, *, comments: Iterable[EvaluationOverrideComment] = ()) -> Override:
        """The override to store; an equal score confirms the judge.

        Raises:
            UsageError: the score is not among the choices of the judge.
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
            threshold=self.threshold,
            failing_share=self.failing_share,
        )


def judged_key(evaluator: str, override: Override) -> str:
    """The key of the score that an override corrects."""
    return _score_key(
        evaluator,
        override.original_score,
        override.input_fields,
        outputs=override.output_fields,
        sample=[override.fingerprint] if override.sampled else [],
    )


def _score_key(evaluator: str, score: float, inputs: Fields, *, outputs: Fields, sample: Iterable[str]) -> str:
    fields = json.dumps([[(each.id, each.name, each.value) for each in side] for side in (inputs, outputs)])
    return digest(evaluator, repr(float(score)), fields, *sample)  # 1 and 1.0 are one score


def find_judged_scores(case: CaseResult, suite: SuiteResult, battles: Iterable[str]) -> Iterator[JudgedScore]:
    """Find the scores of judges for a case: of evaluators that call a model or give a reason.

    Args:
        case: the case.
        suite: its suite.
        battles: the keys of its battles that wait for review.
    """
    battles = tuple(battles)
    for name, evaluation in case.evaluations.items():
        info = suite.evaluators.get(name)
        sources = (info.fingerprint if info else None, evaluation.usage)
        asked = any(source is not None and source.model is not None for source in sources)
        reason = _reason(evaluation)
        if case.output is None or not (reason or asked):
            continue
        yield JudgedScore(
            evaluator=name,
            suite=suite.label,
            name=case.name or case.hash,
            score=evaluation.score,
            reason=reason,
            inputs=_to_override_fields(case.review_inputs) or to_fields("input", case.input),
            outputs=_to_override_fields(case.review_outputs) or to_fields("output", case.output),
            battles=battles,
            choices=info.choices if info else (),
            asked=asked,
            fingerprint=digest_fingerprint(info.fingerprint) if info else "",
            threshold=evaluation.threshold or (None if info is None or info.higher_is_better else _LOW_PASSES),
        )


def _format_review_fields(fields: Sequence[HumanReviewField]) -> str:
    """The fields of a suite's own for reviewers, as one text."""
    if len(fields) == 1:
        return fields[0].value
    return "\n\n".join(f"{each.name}:\n{each.value}" for each in fields)


def _to_override_fields(fields: Sequence[HumanReviewField]) -> Fields:
    """The same as fields that corrections contain; a name that occurs again gets a number in its id."""
    counts: Counter[str] = Counter()
    override_fields = []
    for each in fields:
        counts[each.name] += 1
        number = f"-{counts[each.name]}" if counts[each.name] > 1 else ""
        override_fields.append(EvaluationOverrideField(f"{each.name}{number}", each.name, each.value))
    return tuple(override_fields)


def to_fields(name: str, value: object) -> Fields:
    """A value as fields for people: those of an object, else one field with this name."""
    if isinstance(value, Mapping) and len(value) > 1:
        return tuple(EvaluationOverrideField(str(key), str(key), format_value(part)) for key, part in value.items())
    return (EvaluationOverrideField(name, name, format_value(value)),)


def offered_choices(judged: JudgedScore, seen: Iterable[float]) -> Sequence[Choice]:
    """The choices for a reviewer, the best first: those of the judge, each score once with all its names.

    If they are unknown, the scores that the judge gave; none if these are too many.
    """
    names: dict[float, list[str]] = {}
    for each in judged.choices:
        names.setdefault(each.value, []).append(each.name)
    if not names:
        # The condition comes first: `seen` may be an iterator.
        names = {score: [] for score in {0.0, 1.0, *seen}} if is_guessable(seen := set(seen)) else {}
    return [Choice(score, " / ".join(filter(None, names[score]))) for score in sorted(names, reverse=True)]


def is_guessable(scores: Iterable[float]) -> bool:
    """Whether these scores are few enough to be choices of a judge."""
    return len({0.0, 1.0, *scores}) <= _MAX_CHOICES


def _reason(evaluation: Evaluation) -> str:
    metadata = evaluation.metadata
    return format_value(metadata.get("reason")) if isinstance(metadata, Mapping) else ""
