"""The responses of code judges: a value, a reason, and citations of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictBool, field_validator, model_validator

from scoregate.store.judges import Category

__all__ = ["BinaryResponse", "CategoricalResponse", "Category", "Citation", "NumericResponse", "Response"]


class Citation(BaseModel):
    """A place in the trace: a span and one of its attributes."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    span_id: str
    span_attribute: str


class Response(BaseModel):
    """The base of all responses."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    reason: str = ""
    citations: tuple[Citation, ...] = ()

    @field_validator("citations", mode="before")
    @classmethod
    def _none(cls, given: Any) -> Any:
        return () if given is None else given


class BinaryResponse(Response):
    """Yes or no."""

    value: StrictBool


class NumericResponse(Response):
    """A number from `min_score` to `max_score`: 0 to 1, unless a subclass sets them.

    Raises:
        pydantic.ValidationError: the value is no such number.
    """

    min_score: ClassVar[float] = 0.0
    max_score: ClassVar[float] = 1.0
    value: FiniteFloat = Field(strict=True)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.min_score < cls.max_score:
            raise TypeError(f"max_score of {cls.__name__} must be greater than its min_score")

    @model_validator(mode="after")
    def _in_range(self) -> NumericResponse:
        if not self.min_score <= self.value <= self.max_score:
            raise ValueError(f"the value must lie in [{self.min_score:g}, {self.max_score:g}], not {self.value!r}")
        return self


class CategoricalResponse(Response):
    """One of `categories`, which a subclass sets: a list of `Category(value, description)`.

    Raises:
        TypeError: a subclass has no categories, or two with the same value.
        pydantic.ValidationError: the value is none of them.
    """

    categories: ClassVar[Sequence[Category]] = ()
    value: str

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        values = [category.value for category in cls.categories]
        if not values or len(set(values)) < len(values):
            raise TypeError(f"{cls.__name__} needs `categories`, a list of Category(value=…) with different values")

    @model_validator(mode="after")
    def _known(self) -> CategoricalResponse:
        if self.value not in (values := [category.value for category in self.categories]):
            raise ValueError(f"the value must be one of {values!r:.200}, not {self.value!r:.60}")
        return self
