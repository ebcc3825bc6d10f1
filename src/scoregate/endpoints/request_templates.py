"""Texts of a request mapping with Jinja in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from jinja2 import StrictUndefined, Undefined, nodes

from scoregate.endpoints.names import CONVERSATION, Context
from scoregate.endpoints.request_fillers import OMITTED, Filler, check_names
from scoregate.endpoints.sandbox import Sandbox, evaluator, names_in, parsed, sandbox
from scoregate.endpoints.surroundings import Surroundings

_REQUESTS = sandbox(StrictUndefined)
Naming: TypeAlias = Callable[[Context], Context]


class Omission(Exception):
    """A text asks for a conversation that has no id yet."""


class Unnamed(Undefined):
    """The id of a conversation that has none yet: a template may ask for it, and cannot print it."""

    def __str__(self) -> str:
        name = self._undefined_name
        raise Omission(f"there is no {name} before the first reply; write {{% if {name} %}} around what needs it")


def read(text: str, environment: Sandbox, surroundings: Surroundings) -> tuple[nodes.Template, Naming]:
    """The tree of a template, and what makes the names it is given ready: ids that are not there yet are `Unnamed`.

    Raises:
        EndpointError: as of `request_texts.text_filler`.
    """
    tree = parsed(text, environment, surroundings)
    used = names_in(tree)
    check_names(used, surroundings)
    ids = used & set(CONVERSATION)

    def named(context: Context) -> Context:
        unnamed = {name: Unnamed(name=name) for name in ids if context[name] is None}
        return {**context, **unnamed} if unnamed else context

    return tree, named


def template_filler(text: str, surroundings: Surroundings) -> Filler:
    """As `request_texts.text_filler`, of a text with Jinja in it."""
    tree, named = read(text, _REQUESTS, surroundings)
    evaluate = evaluator(tree, _REQUESTS)

    def filled(context: Context) -> Any:
        try:
            return _defined(evaluate(named(context)))
        except Omission:
            return OMITTED

    return filled


def _defined(value: Any) -> Any:
    """The value, where it is one; what a sandbox has kept back says so."""
    if isinstance(value, Unnamed):
        return OMITTED
    if isinstance(value, Undefined):
        str(value)
    return value
