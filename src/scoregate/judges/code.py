"""Judges that are code of the user's: a class with a method that scores an example."""

from __future__ import annotations

import abc
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

from scoregate.judges.responses import BinaryResponse, CategoricalResponse, NumericResponse, Response
from scoregate.store.judges import ScoreType

R = TypeVar("R", bound=Response)
_TYPES: dict[type[Response], ScoreType] = {
    BinaryResponse: "binary",
    NumericResponse: "numeric",
    CategoricalResponse: "categorical",
}


class Judge(abc.ABC, Generic[R]):
    """A judge in Python: `class Short(Judge[BinaryResponse])`.

    Attributes:
        name: what it is called; that of the class if not given.

    Raises:
        TypeError: a subclass names no response, or `CategoricalResponse` itself, which has no categories.
    """

    name: str | None = None
    version = 1
    response_type: ClassVar[type[Response]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in cls.__dict__.get("__orig_bases__", ()):
            given = get_args(base)
            if isinstance(get_origin(base), type) and issubclass(get_origin(base), Judge) and given:
                _take(cls, given[0])

    @abc.abstractmethod
    def score(self, data: Any) -> Any:
        """Score one example, as an instance of the response; sync, or `async def`.

        Args:
            data: the example; `data["field"]` and `data.properties` are its fields.
        """


def _take(cls: type[Judge[Any]], response: Any) -> None:
    if isinstance(response, TypeVar):
        return
    if not isinstance(response, type) or not issubclass(
        response, BinaryResponse | NumericResponse | CategoricalResponse
    ):
        raise TypeError(
            f"{cls.__name__}: write Judge[BinaryResponse], Judge[NumericResponse] or Judge[…] of a subclass of"
            f" CategoricalResponse, not Judge[{response!r:.60}]"
        )
    if response is CategoricalResponse:
        raise TypeError(f"{cls.__name__}: subclass CategoricalResponse, and set its `categories`")
    cls.response_type = response


def score_type_of(judge: Judge[Any]) -> ScoreType:
    """Binary, numeric or categorical.

    Raises:
        TypeError: its class names no response.
    """
    response = getattr(judge, "response_type", None)
    if response is None:
        raise TypeError(f"{type(judge).__name__} names no response; write class {type(judge).__name__}(Judge[…])")
    return next(name for base, name in _TYPES.items() if issubclass(response, base))
