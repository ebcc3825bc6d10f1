"""What people say of a judge's score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

# For pydantic, which is not imported here: a field that does not exist is an error.
_AS_WRITTEN = {"extra": "forbid"}


@dataclass(frozen=True)
class EvaluationOverrideField:
    """A field of the input or output that was judged."""

    __pydantic_config__: ClassVar[dict[str, str]] = _AS_WRITTEN

    id: str
    name: str
    value: str


@dataclass(frozen=True)
class EvaluationOverrideComment:
    """What a person said of a part of a field."""

    __pydantic_config__: ClassVar[dict[str, str]] = _AS_WRITTEN

    field_id: str
    quoted_text: str
    comment_text: str


@dataclass(frozen=True)
class EvaluationOverride:
    """A person's correction of a judge's score; both scores in [0, 1]."""

    original_score: float
    override_score: float
    input_fields: list[EvaluationOverrideField] = field(default_factory=list)
    output_fields: list[EvaluationOverrideField] = field(default_factory=list)
    comments: list[EvaluationOverrideComment] = field(default_factory=list)
