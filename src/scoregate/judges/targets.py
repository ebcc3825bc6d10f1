"""From "module:Class" to a code judge, and to what is kept of it."""

from __future__ import annotations

from typing import Any

from scoregate.engine.fingerprint import fingerprint
from scoregate.engine.targets import module_of
from scoregate.engine.targets import target as found_at
from scoregate.errors import JudgmentValidationError
from scoregate.judges.code import Judge, score_type_of
from scoregate.judges.responses import NumericResponse
from scoregate.store.judges import Grading

_WITHOUT_EFFECT = ("name",)


def loaded(target: str) -> Judge[Any]:
    """The judge behind "module:Class": an instance of the class, made without arguments, or an instance as it is.

    Raises:
        JudgmentValidationError: there is none.
    """
    try:
        return instance(found_at(target))
    except JudgmentValidationError:
        raise
    except Exception as error:  # the user's module may raise anything
        raise JudgmentValidationError(
            f"the code judge {target!r:.100} cannot be loaded: {type(error).__name__}: {error!s:.300}",
            advice="Name a module that can be imported from here, and a class in it that takes no arguments.",
        ) from error


def instance(given: Any) -> Judge[Any]:
    """A judge, of its class or as it is.

    Raises:
        JudgmentValidationError: it is no judge. TypeError: the class wants arguments, or names no response.
    """
    judge = given() if isinstance(given, type) and issubclass(given, Judge) else given
    if not isinstance(judge, Judge):
        raise JudgmentValidationError(f"a code judge is a subclass of Judge or an instance, not {given!r:.100}")
    score_type_of(judge)
    return judge


def target_of(judge: Judge[Any]) -> str:
    """How it is found again, a script by its file's name; a class inside of a function is not."""
    return f"{module_of(type(judge))}:{type(judge).__qualname__}"


def name_of(judge: Judge[Any]) -> str:
    """What it calls itself, or its class."""
    return judge.name or type(judge).__name__


def grading_of(judge: Judge[Any], target: str) -> Grading:
    """What a version of it is made of; `source` is None where its code is not to be had."""
    response = judge.response_type
    bounds: dict[str, Any] = {}
    if issubclass(response, NumericResponse):
        bounds = {"min_score": response.min_score, "max_score": response.max_score}
    return Grading(
        kind="code",
        score_type=score_type_of(judge),
        target=target,
        source=source_of(judge),
        categories=tuple(getattr(response, "categories", ())),
        **bounds,
    )


def source_of(judge: Judge[Any]) -> str | None:
    """A digest of its code and of its parameters."""
    found = fingerprint(judge, ignore=_WITHOUT_EFFECT)
    return None if found.source is None else f"{found.source}{found.parameters}"
