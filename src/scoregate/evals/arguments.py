"""Arguments by name: which values of a case a function of the user receives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from inspect import Parameter
from typing import Any

from scoregate.engine.signatures import read_parameters
from scoregate.evals.annotations import takes_context
from scoregate.kernel.types.records import record

CONTEXT = "(context)"
"""The value of parameters that are annotated with `ScoreContext`, which no field can be named like."""
_VARIABLE = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@record
class Arguments:
    """How a function is called.

    Attributes:
        positional: the values that are passed by position, in order.
        keywords: the value for each parameter that is passed by name.
        optional: the parameters with a default, which are left out if there is no such value.
        extra: the values that `**kwargs` receives; None for all.
    """

    positional: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    optional: frozenset[str] = frozenset()
    extra: tuple[str, ...] | None = ()

    @property
    def names(self) -> set[str]:
        """The names of the values that are passed."""
        return {*self.positional, *(name for _, name in self.keywords)}

    def bind(self, values: Mapping[str, Any], fields: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of one call.

        Args:
            values: the values by name.
            fields: the fields of the case, for names that `values` lacks.

        Raises:
            TypeError: a value is missing.
        """

        def find(name: str) -> Any:
            if name in values:
                return values[name]
            if name in fields:
                return fields[name]
            raise TypeError(f"it has a parameter {name!r}, and this case has only {', '.join(fields)}")

        named = {
            parameter: find(name)
            for parameter, name in self.keywords
            if parameter not in self.optional or name in values or name in fields
        }
        extra = fields if self.extra is None else {name: values[name] for name in self.extra if name in values}
        return [find(name) for name in self.positional], {**extra, **named}


def read_arguments(
    function: Callable[..., Any], known: Collection[str], default: str, *, extra: tuple[str, ...] | None = ()
) -> Arguments:
    """Match the parameters of a function with names of values.

    Args:
        function: the user's function.
        known: the names of the values.
        default: the value of a function's only parameter if that matches no name.
        extra: the values that `**kwargs` receives; None for all fields, if there is no other parameter.

    Raises:
        TypeError: a parameter without a default matches no name.
    """
    try:
        parameters = read_parameters(function)
    except ValueError:  # a function in C without a signature
        return Arguments((default,))
    required = [each for each in parameters if each.default is Parameter.empty and each.kind not in _VARIABLE]
    candidates = required or [each for each in parameters if each.kind not in _VARIABLE]
    renamed = {each.name: CONTEXT for each in parameters if CONTEXT in known and takes_context(each, function)}
    unknown = [each.name for each in required if each.name not in known and each.name not in renamed]
    # A single parameter receives the default value, whatever its name is.
    is_single = len(candidates) == 1 and candidates[0].name not in known and not renamed
    if unknown and not is_single:
        raise TypeError(
            f"no value is named like its parameter{'s' if len(unknown) > 1 else ''} {', '.join(map(repr, unknown))}; "
            f"there are {', '.join(sorted({*known} - {CONTEXT}))}"
        )
    if is_single:
        renamed = {candidates[0].name: default}
    positional, keywords, optional = [], [], set()
    for each in parameters:
        name = renamed.get(each.name, each.name)
        if each.kind is Parameter.POSITIONAL_ONLY and (each in required or name in known):
            positional.append(name)
        elif each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY) and name in {*known, default}:
            keywords.append((each.name, name))
            optional |= {each.name} if each not in required else set()
    if not candidates and any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
        positional = [default]
    has_extra = any(each.kind is Parameter.VAR_KEYWORD for each in parameters)
    shown = extra if extra is not None or not (positional or keywords) else ()
    return Arguments(tuple(positional), tuple(keywords), frozenset(optional), shown if has_extra else ())


def count_required(function: Callable[..., Any]) -> int:
    """The number of parameters without a default."""
    try:
        parameters = read_parameters(function)
    except ValueError:  # a function in C without a signature
        return 1
    return sum(each.default is Parameter.empty and each.kind not in _VARIABLE for each in parameters)
