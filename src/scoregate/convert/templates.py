"""Templates in values: variables are put in when a configuration is converted, as its values are known then."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from scoregate.evals.prompts import format_value

_VARIABLE = re.compile(r"\{\{-?\s*(\w+(?:\.\w+)*)\s*((?:\|\s*\w+\s*)*)-?\}\}")
_TEMPLATE = re.compile(r"\{[{%#]")
_MOST_CHARACTERS = 100_000
_ENVIRONMENT = "env"
_FILTERS: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
    "safe": str,
}


class UnsupportedTemplate(ValueError):
    """A template with more than variables; the text names the part."""


def fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Put variables into the texts of a value.

    Args:
        value: JSON types.
        values: the variables.

    Raises:
        UnsupportedTemplate: a text has a statement, an expression that is no variable, or reads the environment.
    """
    if isinstance(value, str):
        return _fill_text(value, values)
    if isinstance(value, list):
        return [fill(each, values) for each in value]
    if isinstance(value, dict):
        return {key: fill(each, values) for key, each in value.items()}
    return value


def _fill_text(text: str, values: Mapping[str, Any]) -> str:
    if not _TEMPLATE.search(text):
        return text
    rest = _VARIABLE.sub("", text)
    if (unknown := _TEMPLATE.search(rest)) is not None:
        raise UnsupportedTemplate(
            f"the template {rest[unknown.start() : unknown.start() + 40]!r} is more than a variable"
        )

    def find(match: re.Match[str]) -> str:
        if match[1].partition(".")[0] == _ENVIRONMENT and _ENVIRONMENT not in values:
            raise UnsupportedTemplate(f"the template {match[0]!r:.60} reads a variable of the environment")
        value: Any = values
        for name in match[1].split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        result = str(format_value(value))
        for name in filter(None, map(str.strip, match[2].split("|"))):
            if name not in _FILTERS:
                raise UnsupportedTemplate(f"the filter {name!r} of a template is unknown")
            result = _FILTERS[name](result)
        return result

    filled = _VARIABLE.sub(find, text)
    if len(filled) > _MOST_CHARACTERS:
        raise UnsupportedTemplate(f"a filled template is longer than {_MOST_CHARACTERS:,} characters")
    return filled
