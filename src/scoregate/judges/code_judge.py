"""Code judges: classes of the user with a method that scores an example."""

from __future__ import annotations

import abc
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

from scoregate.engine.fingerprint import fingerprint_object
from scoregate.engine.imports import import_target as found_at
from scoregate.engine.imports import module_name
from scoregate.errors import JudgmentValidationError
from scoregate.judges.responses import BinaryResponse, CategoricalResponse, NumericResponse, Response
from scoregate.store.judges import Grading, ScoreType

R = TypeVar("R", bound=Response)
_SCORE_TYPES: dict[type[Response], ScoreType] = {
    BinaryResponse: "binary",
    NumericResponse: "numeric",
    CategoricalResponse: "categorical",
}


class Judge(abc.ABC, Generic[R]):
    """A judge in Python: `class Short(Judge[BinaryResponse])`.

    Attributes:
        name: its name; that of the class if not given.

    Raises:
        TypeError: a subclass names no response, or `CategoricalResponse` itself, which has no categories.
    """

    name: str | None = None
    version = 1
    response_type: ClassVar[type[Response]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # From `__dict__`: a subclass would inherit the attribute of its base.
        for base in cls.__dict__.get("__orig_bases__", ()):
            given = get_args(base)
            if isinstance(get_origin(base), type) and issubclass(get_origin(base), Judge) and given:
                _set_response_type(cls, given[0])

    @abc.abstractmethod
    def score(self, data: Any) -> Any:
        """Score one example, as an instance of the response; sync, or `async def`.

        Args:
            data: the example; `data["field"]` and `data.properties` are its fields.
        """


def _set_response_type(cls: type[Judge[Any]], response: Any) -> None:
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


def get_score_type(judge: Judge[Any]) -> ScoreType:
    """Binary, numeric or categorical.

    Raises:
        TypeError: its class names no response.
    """
    response = getattr(judge, "response_type", None)
    if response is None:
        raise TypeError(f"{type(judge).__name__} names no response; write class {type(judge).__name__}(Judge[…])")
    return next(name for base, name in _SCORE_TYPES.items() if issubclass(response, base))


_NO_EFFECT = ("name",)


def load_code_judge(target: str) -> Judge[Any]:
    """Import the judge of "module:Class"; a class is called without arguments.

    Raises:
        JudgmentValidationError: there is no such judge.
    """
    try:
        return to_instance(found_at(target))
    except JudgmentValidationError:
        raise
    except Exception as error:  # the user's module may raise anything
        raise JudgmentValidationError(
            f"the code judge {target!r:.100} cannot be loaded: {type(error).__name__}: {error!s:.300}",
            advice="Name a module that can be imported from here, and a class in it that takes no arguments.",
        ) from error


def to_instance(given: Any) -> Judge[Any]:
    """An instance of a judge.

    Raises:
        JudgmentValidationError: the argument is not a judge.
        TypeError: the class needs arguments, or names no response.
    """
    judge = given() if isinstance(given, type) and issubclass(given, Judge) else given
    if not isinstance(judge, Judge):
        raise JudgmentValidationError(f"a code judge is a subclass of Judge or an instance, not {given!r:.100}")
    get_score_type(judge)
    return judge


def judge_target(judge: Judge[Any]) -> str:
    """The "module:Class" of a judge; for a script the name of its file. It can't name a class inside a function."""
    return f"{module_name(type(judge))}:{type(judge).__qualname__}"


def judge_name(judge: Judge[Any]) -> str:
    """The name of a judge, or of its class."""
    return judge.name or type(judge).__name__


def code_grading(judge: Judge[Any], target: str) -> Grading:
    """What a version of a judge consists of; `source` is None if its code can't be read."""
    response = judge.response_type
    bounds: dict[str, Any] = {}
    if issubclass(response, NumericResponse):
        bounds = {"min_score": response.min_score, "max_score": response.max_score}
    return Grading(
        kind="code",
        score_type=get_score_type(judge),
        target=target,
        source=source_digest(judge),
        categories=tuple(getattr(response, "categories", ())),
        **bounds,
    )


def source_digest(judge: Judge[Any]) -> str | None:
    """A digest of its code and of its parameters, with the model that it names."""
    code = fingerprint_object(judge, ignore=_NO_EFFECT)
    return None if code.source is None else f"{code.source}{code.parameters}{code.model or ''}"
