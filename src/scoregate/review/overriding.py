"""Corrections of judges as the store keeps them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import UTC, datetime

from scoregate.core.override import EvaluationOverrideComment
from scoregate.review.judged import Judged, judged_key
from scoregate.store import OVERRIDES, Override, Store
from scoregate.store.words import Kept, keep


def override_of(
    judged: Judged, score: float, by: str, *, comments: Iterable[EvaluationOverrideComment] = ()
) -> Override:
    """A person's correction of a judge's score; the same score says that the judge was right.

    Raises:
        UsageError: the judge has choices, and this is none of them.
    """
    return Override(
        original_score=judged.score,
        override_score=judged.checked(score),
        input_fields=judged.inputs,
        output_fields=judged.outputs,
        comments=tuple(comments),
        by=by,
    )


def keep_overrides(store: Store, evaluator: str, said: Iterable[Override]) -> Kept:
    """Keep corrections of now; of what one person says of one score, by whatever id, the last stays."""
    now = datetime.now(UTC)
    timed = [each.model_copy(update={"created_at": now}) for each in said]
    return keep(store, OVERRIDES, (evaluator,), timed, thing=_thing)


def _thing(said: Override) -> Hashable:
    return judged_key("", said), said.by
