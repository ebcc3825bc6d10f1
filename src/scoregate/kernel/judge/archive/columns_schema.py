"""The types of the lines of a columns file; what is read is validated against them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.cases import STATUSES

_Count = Annotated[int, Field(ge=0, lt=2**53)]
_Repeat = Annotated[int, Field(ge=0, lt=2**31)]
_Status = Annotated[int, Field(ge=0, lt=len(STATUSES))]
_Amount = Annotated[float, Field(ge=-1, allow_inf_nan=False)]
_Score = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]


class Block(TypedDict):
    """Some rows of a suite; −1 is a missing number."""

    suite: _Count
    hashes: list[str]
    repeats: list[_Repeat]
    digests: list[str]
    statuses: list[_Status]
    durations_ms: list[_Amount]
    costs: list[_Amount]
    tokens: list[_Amount]
    scores: dict[str, list[_Score]]


class Rest(TypedDict):
    """Everything else of a suite, after its rows: what few rows have, and counts."""

    suite: _Count
    tags: dict[_Count, tuple[str, ...]]
    clusters: dict[_Count, str]
    labels: dict[str, dict[str, _Count]]
    failed: dict[str, set[_Count]]
    judged: dict[str, _Count]
    errored: dict[str, set[_Count]]
    unscaled: dict[str, set[_Count]]
    answers: dict[str, dict[_Count, str]]
    cached: set[_Count]
    partly_paid: set[_Count]
    reused: set[_Count]
    unscored: _Count
    unscored_counts: dict[str, _Count]
    deferred: dict[str, list[_Count]]
    pending: _Count
    contested: _Count
    unpriced: set[str]
    thresholds: dict[str, Threshold | None]
    other_thresholds: dict[str, dict[_Count, Threshold | None]]


REST_FIELDS = tuple(name for name in Rest.__annotations__ if name != "suite")
