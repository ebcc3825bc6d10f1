"""People's corrections of scores, by evaluator."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, FiniteFloat, TypeAdapter

from scoregate.kernel.compare.agreement import Calibrations
from scoregate.kernel.compare.judge_checks import Review
from scoregate.kernel.types.evaluation import (
    EvaluationOverride,
    EvaluationOverrideComment,
    EvaluationOverrideField,
    Threshold,
)
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import ReviewRecord, age_key, is_same_review, item_id, upsert

Score = Annotated[FiniteFloat, Field(ge=0, le=1)]


def _to_threshold(value: object) -> object:
    """A threshold from the cell of a table, where its bounds are a dict."""
    if not isinstance(value, dict):
        return value
    try:
        return Threshold(**value)
    except TypeError as error:
        raise ValueError(f"is no threshold: {error}") from None


_FIELDS = TypeAdapter(tuple[EvaluationOverrideField, ...])


class Source(StrEnum):
    """Why a score was reviewed: it was drawn at random, or a person chose it."""

    SAMPLE = "sample"
    CHOSEN = "chosen"


class Override(ReviewRecord):
    """A person's correction of a judge's score of one output. Both scores are in [0, 1].

    If `override_score` equals the original score, the judge was right. `fingerprint` is that of the judge, see
    `digest_fingerprint`; empty if it is unknown. `sampled`: the score was drawn at random from a run's scores.
    `threshold` decides which scores pass; None if the case has none. `failing_share` is the share of the judge's scores
    in the run that fail, for a sample that has more of the rarer verdict; None for other reviews, and for samples of
    earlier versions, which ignored the verdict.
    """

    original_score: Score
    override_score: Score
    input_fields: tuple[EvaluationOverrideField, ...] = ()
    output_fields: tuple[EvaluationOverrideField, ...] = ()
    comments: tuple[EvaluationOverrideComment, ...] = ()
    fingerprint: str = ""
    sampled: bool = False
    threshold: Annotated[Threshold | None, BeforeValidator(_to_threshold)] = None
    failing_share: Score | None = None

    def about(self) -> object:
        """The input, the output and the judge's score, for a sampled score also the judge.

        So the correction of a sampled score and of a chosen score do not replace each other.

        Raises:
            ValueError: neither input nor output is known.
        """
        if not self.input_fields and not self.output_fields:
            raise ValueError("an override needs the input or the output that was judged (or an id)")
        fields = [_FIELDS.dump_python(each, mode="json") for each in (self.input_fields, self.output_fields)]
        sample = [self.fingerprint] if self.sampled else []
        return [*fields, self.original_score, *sample]

    def to_review(self) -> Review:
        """The scores for a comparison of the judge with people."""
        return Review(self.original_score, self.override_score, self.threshold, self.failing_share)

    def to_evaluation_override(self) -> EvaluationOverride:
        """The argument of an evaluator's `example_output_mapper`."""
        fields = list(self.input_fields), list(self.output_fields)
        return EvaluationOverride(self.original_score, self.override_score, *fields, list(self.comments))


OVERRIDES = Kind("overrides", Override, JSON_LINES, ("evaluator",), item_id, is_same_review)


def add_override(
    store: Store, evaluator: str, override: EvaluationOverride, *, by: str = "", at: datetime | None = None
) -> Override:
    """Store a correction of an evaluator's score. It replaces the person's earlier correction for the same output.

    Args:
        store: the store.
        evaluator: the evaluator's id.
        override: the correction.
        by: the reviewer.
        at: the time, with a time zone; default: now.

    Raises:
        pydantic.ValidationError: a score is outside [0, 1], or neither input nor output is given.
        StoreError: it could not be written.
    """
    item = Override(
        original_score=override.original_score,
        override_score=override.override_score,
        input_fields=tuple(override.input_fields),
        output_fields=tuple(override.output_fields),
        comments=tuple(override.comments),
        by=by,
        created_at=at or datetime.now(UTC),
    )
    upsert(store, OVERRIDES, (evaluator,), [item])
    return item


def read_overrides(store: Store, evaluator: str) -> list[Override]:
    """All corrections of an evaluator, the oldest first.

    Raises:
        StoreError: they cannot be read.
    """
    return sorted(store.read(OVERRIDES, (evaluator,)), key=age_key)


def recent_overrides(store: Store, evaluator: str, count: int) -> list[EvaluationOverride]:
    """The newest corrections of an evaluator, at most `count`, the newest first. The order is deterministic.

    Corrections of sampled scores are left out: they test the judge, so the judge must not see them as examples.

    Raises:
        StoreError: they cannot be read.
    """
    chosen = [item for item in read_overrides(store, evaluator) if not item.sampled]
    return [item.to_evaluation_override() for item in chosen[::-1][: max(0, count)]]


def split_by_source(items: Iterable[Override]) -> list[tuple[Source, str, list[Override]]]:
    """The corrections of chosen scores, and those of sampled scores for each fingerprint of the judge.

    The oldest correction comes first, and the judge that was reviewed last comes last.
    """
    items = sorted(items, key=age_key)
    chosen = [item for item in items if not item.sampled]
    samples = [(Source.SAMPLE, fingerprint, group) for fingerprint, group in group_samples(items).items()]
    return [*([(Source.CHOSEN, "", chosen)] if chosen else []), *samples]


def group_samples(items: Iterable[Override]) -> dict[str, list[Override]]:
    """The corrections of sampled scores by the judge's fingerprint; the judge that was reviewed last comes last.

    Only the latest correction of an output counts, since several corrections of it are not several outputs. It keeps
    the place of the first one, so a later opinion doesn't change which outputs were reviewed first.
    """
    groups: dict[str, dict[Hashable, Override]] = {}
    for item in sorted(items, key=age_key):
        if item.sampled:
            # Popped, so that it is added at the end.
            group = groups[item.fingerprint] = groups.pop(item.fingerprint, {})
            group[item.input_fields, item.output_fields, item.original_score] = item
    return {fingerprint: list(group.values()) for fingerprint, group in groups.items()}


def read_calibrations(store: Store) -> Calibrations:
    """The sampled reviews of each judge, the oldest first.

    Raises:
        StoreError: the corrections cannot be read.
    """
    return {
        (name, fingerprint): [item.to_review() for item in group]
        for (name,) in store.list_keys(OVERRIDES)
        for fingerprint, group in group_samples(store.read(OVERRIDES, (name,))).items()
        if fingerprint
    }
