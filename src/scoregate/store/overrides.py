"""People's corrections of judges, by evaluator."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, FiniteFloat, TypeAdapter

from scoregate.core.agreement import Calibrations, measure_agreement
from scoregate.core.evaluation import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import ReviewRecord, age, key_of, same_words, upsert

Score = Annotated[FiniteFloat, Field(ge=0, le=1)]
_FIELDS = TypeAdapter(tuple[EvaluationOverrideField, ...])


class Source(StrEnum):
    """How a score came to be reviewed: it was drawn at random, or somebody chose it."""

    SAMPLE = "sample"
    CHOSEN = "chosen"


class Override(ReviewRecord):
    """A person's correction of a judge's score of one output; both scores in [0, 1].

    An `override_score` that equals the original says that the judge was right. `fingerprint` tells which judge gave the
    score, as `digest_fingerprint` does; empty where that is not known. `sampled`: the score was drawn at random from a
    run's, and was not chosen by anybody.
    """

    original_score: Score
    override_score: Score
    input_fields: tuple[EvaluationOverrideField, ...] = ()
    output_fields: tuple[EvaluationOverrideField, ...] = ()
    comments: tuple[EvaluationOverrideComment, ...] = ()
    fingerprint: str = ""
    sampled: bool = False

    def about(self) -> object:
        """The input, the output, and the judge's score; of a sampled one also the judge.

        What was drawn at random and what people chose stand side by side, so that neither takes the other's place.

        Raises:
            ValueError: neither input nor output is known, so that nothing tells it apart.
        """
        if not self.input_fields and not self.output_fields:
            raise ValueError("an override needs the input or the output that was judged (or an id)")
        fields = [_FIELDS.dump_python(each, mode="json") for each in (self.input_fields, self.output_fields)]
        sample = [self.fingerprint] if self.sampled else []
        return [*fields, self.original_score, *sample]

    def as_given(self) -> EvaluationOverride:
        """As an evaluator's `example_output_mapper` gets it."""
        fields = list(self.input_fields), list(self.output_fields)
        return EvaluationOverride(self.original_score, self.override_score, *fields, list(self.comments))


OVERRIDES = Kind("overrides", Override, JSON_LINES, ("evaluator",), key_of, same_words)


def add_override(
    store: Store, evaluator: str, override: EvaluationOverride, *, by: str = "", at: datetime | None = None
) -> Override:
    """Keep a correction of an evaluator's score; of what one person said of one output, the latest counts.

    Args:
        by: who made it. at: when, with a time zone; now if not given.

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


def overrides(store: Store, evaluator: str) -> list[Override]:
    """All corrections of an evaluator, the oldest first.

    Raises:
        StoreError: they cannot be read.
    """
    return sorted(store.read(OVERRIDES, (evaluator,)), key=age)


def recent_overrides(store: Store, evaluator: str, count: int) -> list[EvaluationOverride]:
    """The newest corrections of an evaluator, at most `count`, the newest first; always the same for the same store.

    Those of sampled scores are left out: a judge that had seen them as examples could not be tested by them.

    Raises:
        StoreError: they cannot be read.
    """
    chosen = [item for item in overrides(store, evaluator) if not item.sampled]
    return [item.as_given() for item in chosen[::-1][: max(0, count)]]


def split_by_source(items: Iterable[Override]) -> list[tuple[Source, str, list[Override]]]:
    """What people chose to correct, and of each judge, by its fingerprint, what they said of a sample.

    The judge that was reviewed last comes last.
    """
    items = list(items)
    chosen = [item for item in items if not item.sampled]
    samples = [(Source.SAMPLE, fingerprint, said) for fingerprint, said in group_samples(items).items()]
    return [*([(Source.CHOSEN, "", chosen)] if chosen else []), *samples]


def group_samples(items: Iterable[Override]) -> dict[str, list[Override]]:
    """People's words on sampled scores by the judge's fingerprint, the judge that was reviewed last at the end.

    Of one output only the latest word counts: several people's words on it are no further outputs.
    """
    groups: dict[str, dict[Hashable, Override]] = {}
    for item in sorted(items, key=age):
        if item.sampled:
            group = groups[item.fingerprint] = groups.pop(item.fingerprint, {})
            group[item.input_fields, item.output_fields, item.original_score] = item
    return {fingerprint: list(group.values()) for fingerprint, group in groups.items()}


def read_calibrations(store: Store) -> Calibrations:
    """How well each judge agrees with people on sampled scores.

    Raises:
        StoreError: people's words cannot be read.
    """
    found = {
        (name, fingerprint): measure_agreement(said)
        for (name,) in store.shelves(OVERRIDES)
        for fingerprint, said in group_samples(store.read(OVERRIDES, (name,))).items()
        if fingerprint
    }
    return {judge: each for judge, each in found.items() if each is not None}
