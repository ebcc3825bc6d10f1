"""Texts of a request mapping with Jinja in them."""

from __future__ import annotations

from typing import Any

from jinja2 import StrictUndefined, Undefined

from scoregate.endpoints.names import CONVERSATION, Context
from scoregate.endpoints.request_fillers import OMITTED, Filler, check_names
from scoregate.endpoints.sandbox import evaluator, names_in, parsed, sandbox
from scoregate.endpoints.surroundings import Surroundings

_REQUESTS = sandbox(StrictUndefined)


class Omission(Exception):
    """A text asks for a conversation that has no id yet."""


class Unnamed(Undefined):
    """The id of a conversation that has none yet: a template may ask for it, and cannot print it."""

    def __str__(self) -> str:
        name = self._undefined_name
        raise Omission(f"there is no {name} before the first reply; write {{% if {name} %}} around what needs it")


def template_filler(text: str, surroundings: Surroundings) -> Filler:
    """As `request_texts.text_filler`, of a text with Jinja in it."""
    tree = parsed(text, _REQUESTS, surroundings)
    used = names_in(tree)
    check_names(used, surroundings)
    ids = used & set(CONVERSATION)
    evaluate = evaluator(tree, _REQUESTS)

    def filled(context: Context) -> Any:
        unnamed = {name: Unnamed(name=name) for name in ids if context[name] is None}
        try:
            value = evaluate({**context, **unnamed} if unnamed else context)
        except Omission:
            return OMITTED
        return _defined(value)

    return filled


def _defined(value: Any) -> Any:
    """The value, where it is one; what a sandbox has kept back says so."""
    if isinstance(value, Unnamed):
        return OMITTED
    if isinstance(value, Undefined):
        str(value)
    return value
