"""Code judges as users write them."""

from __future__ import annotations

from typing import Any, ClassVar

from scoregate.judges import BinaryResponse, CategoricalResponse, Category, Judge, NumericResponse

LIMIT = 20


class Short(Judge[BinaryResponse]):
    """Sync."""

    def score(self, data: Any) -> BinaryResponse:
        return BinaryResponse(value=len(data["output"]) < LIMIT, reason="counted")


class Stars(NumericResponse):
    min_score: ClassVar[float] = 1
    max_score: ClassVar[float] = 5


class Starred(Judge[Stars]):
    """Async, with its own scale."""

    name = "stars"

    async def score(self, data: Any) -> Stars:
        return Stars(value=float(data["stars"]), citations=[{"span_id": "a1", "span_attribute": "output"}])


class Tone(CategoricalResponse):
    categories: ClassVar[list[Category]] = [Category(value="kind", score=1), Category(value="odd")]


class Toned(Judge[Tone]):
    """Categories, one of them without a score."""

    async def score(self, data: Any) -> Tone:
        return Tone(value=data["tone"])


class Broken(Judge[NumericResponse]):
    """Raises, or returns an invalid value."""

    def score(self, data: Any) -> Any:
        return data["returns"] if "returns" in data else data["missing"]
