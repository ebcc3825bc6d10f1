"""What an SDK says of a score: an evaluation, or the error that it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.core.evaluation import Assertion, Evaluation, Threshold
from scoregate.core.events import ErrorInfo

_BOUNDS = ("lt", "lte", "gt", "gte")


def evaluation_of(data: Mapping[str, Any]) -> Evaluation | ErrorInfo:
    """The evaluation in the body of a call; an error where it is none that could be compared."""
    try:
        score, threshold = _score(data.get("score")), _threshold(data.get("threshold"))
        return Evaluation(score, threshold, data.get("metadata"), tuple(_assertions(data)) or None)
    except (TypeError, ValueError) as error:
        return ErrorInfo(type(error).__name__, str(error), advice="Scores are numbers from 0 to 1.")


def remarks(data: Mapping[str, Any]) -> Iterator[str]:
    """What was taken though it is odd."""
    if isinstance(data.get("score"), bool):
        yield "gives true or false as its score, taken as 1 or 0"
    said = data.get("assertions")
    if said is not None and (not isinstance(said, list) or len(list(_assertions(data))) < len(said)):
        yield "gives assertions that are none, which were left out"


def _score(said: Any) -> Any:
    if said is None:
        raise TypeError("the score is null, which is also how JavaScript writes NaN")
    return float(said) if isinstance(said, bool) else said


def _threshold(said: Any) -> Threshold | None:
    if said is None:
        return None
    if not isinstance(said, Mapping):
        raise TypeError(f"the threshold must be an object, not {said!r:.80}")
    bounds = {name: bound for name in _BOUNDS if (bound := said.get(name)) is not None}
    return Threshold(**bounds) if bounds else None


def _assertions(data: Mapping[str, Any]) -> Iterator[Assertion]:
    said = data.get("assertions")
    for each in said if isinstance(said, list) else ():
        if isinstance(each, Mapping) and isinstance(criterion := each.get("criterion"), str):
            passed, required, metadata = each.get("passed"), each.get("required"), each.get("metadata")
            if isinstance(passed, bool) and isinstance(required, bool):
                yield Assertion(criterion, passed, required, _mapping(metadata))


def _mapping(metadata: Any) -> Mapping[str, Any] | None:
    return metadata if metadata is None or isinstance(metadata, Mapping) else {"value": metadata}
