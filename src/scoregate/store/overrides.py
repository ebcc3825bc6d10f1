"""People's corrections of judges, by evaluator."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, FiniteFloat, TypeAdapter

from scoregate.core.override import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
from scoregate.store.kinds import Kind
from scoregate.store.lines import JSON_LINES
from scoregate.store.protocol import Store
from scoregate.store.words import Said, age, keep, key_of, same_words

Score = Annotated[FiniteFloat, Field(ge=0, le=1)]
_FIELDS = TypeAdapter(tuple[EvaluationOverrideField, ...])


class Override(Said):
    """A person's correction of a judge's score of one output; both scores in [0, 1].

    An `override_score` that equals the original says that the judge was right.
    """

    original_score: Score
    override_score: Score
    input_fields: tuple[EvaluationOverrideField, ...] = ()
    output_fields: tuple[EvaluationOverrideField, ...] = ()
    comments: tuple[EvaluationOverrideComment, ...] = ()

    def about(self) -> object:
        """The input, the output, and the judge's score.

        Raises:
            ValueError: neither input nor output is known, so that nothing tells it apart.
        """
        if not self.input_fields and not self.output_fields:
            raise ValueError("an override needs the input or the output that was judged (or an id)")
        fields = [_FIELDS.dump_python(each, mode="json") for each in (self.input_fields, self.output_fields)]
        return [*fields, self.original_score]

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
    keep(store, OVERRIDES, (evaluator,), [item])
    return item


def overrides(store: Store, evaluator: str) -> list[Override]:
    """All corrections of an evaluator, the oldest first.

    Raises:
        StoreError: they cannot be read.
    """
    return sorted(store.read(OVERRIDES, (evaluator,)), key=age)


def recent_overrides(store: Store, evaluator: str, count: int) -> list[EvaluationOverride]:
    """The newest corrections of an evaluator, at most `count`, the newest first; always the same for the same store.

    Raises:
        StoreError: they cannot be read.
    """
    return [item.as_given() for item in overrides(store, evaluator)[::-1][: max(0, count)]]
