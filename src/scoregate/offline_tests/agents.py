"""How an agent is called: its parameters filled from an example's fields, by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.engine.signatures import parameters_of

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class Filling:
    """Which field each parameter gets.

    `fields` has the fields by parameter, `required` those that must be there; `takes_rest`: `**kwargs` gets the others.
    """

    agent: str
    fields: Mapping[str, str]
    required: frozenset[str]
    takes_rest: bool

    def check(self, examples: Iterable[Mapping[str, Any]]) -> None:
        """Hold every example against it.

        Raises:
            TypeError: one lacks a field that the agent needs.
        """
        for fields in examples:
            if missing := sorted(self.required - fields.keys()):
                raise TypeError(
                    f"Agent entrypoint {self.agent}() requires example field(s) {missing} that are not present in the"
                    " example data (check the dataset schema or pass a field_mapping)."
                )

    def arguments(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What the agent is called with."""
        given = {parameter: fields[field] for parameter, field in self.fields.items() if field in fields}
        if self.takes_rest:
            taken = {*self.fields, *self.fields.values()}
            given |= {name: value for name, value in fields.items() if name not in taken}
        return given


def filling_of(agent: Callable[..., Any], field_mapping: Mapping[str, str] | None = None) -> Filling:
    """How an agent is called: a parameter gets the field that it is mapped to, else the one of its name.

    Raises:
        TypeError: it is no callable, or one that cannot be called by keywords; or the mapping is no dict of strings.
    """
    name, mapping = name_of(agent), _checked(field_mapping)
    parameters = _parameters(agent, name)
    if unreachable := [each.name for each in parameters if _is_unreachable(each)]:
        raise TypeError(
            f"Agent entrypoint {name}() requires {unreachable} by position, and fields are given by name only."
        )
    by_name = [each for each in parameters if each.kind in _BY_NAME]
    fields = {each.name: mapping.get(each.name, each.name) for each in by_name}
    required = frozenset(fields[each.name] for each in by_name if each.default is each.empty)
    return Filling(name, fields, required, any(each.kind is each.VAR_KEYWORD for each in parameters))


def name_of(agent: Any) -> str:
    """What an agent is called: a function's name, that of the function in a partial, or the class of an object."""
    while isinstance(agent, functools.partial):
        agent = agent.func
    return str(getattr(agent, "__name__", type(agent).__name__))


def _parameters(agent: Any, name: str) -> list[inspect.Parameter]:
    if not callable(agent):
        raise TypeError(f"agent_function must be callable, not {agent!r:.100}")
    try:
        return parameters_of(agent)
    except ValueError:
        raise TypeError(f"Agent entrypoint {name}() does not tell its parameters; wrap it in a function.") from None


def _is_unreachable(parameter: inspect.Parameter) -> bool:
    return parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty


def _checked(mapping: Any) -> Mapping[str, str]:
    given = {} if mapping is None else mapping
    if not isinstance(given, Mapping) or not all(isinstance(word, str) for pair in given.items() for word in pair):
        raise TypeError(f"field_mapping must be a dict from parameters to fields, not {mapping!r:.100}")
    return given
