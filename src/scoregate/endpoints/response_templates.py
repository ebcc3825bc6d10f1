"""Jinja over an answer: its fields are names; nothing that the other side wrote is read as a template or a path."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from jinja2 import ChainableUndefined, Undefined

from scoregate.endpoints.answers import Answer, Finder
from scoregate.endpoints.json_paths import Path, path_of
from scoregate.endpoints.sandbox import evaluator, expression_of, names_in, parsed, sandbox
from scoregate.endpoints.surroundings import Surroundings

_ANSWERS = sandbox(ChainableUndefined)
_TEXT, _WHOLE, _PATH = "response_text", "response", "jsonpath"


def template_finder(text: str, surroundings: Surroundings) -> Finder:
    """What finds a field: a name or an expression alone gives what it is, anything else a text; an empty one is none.

    Names are the fields of the answer, `response` for all of it, `response_text` for it as it came, and
    `jsonpath("$.a")` for what is at a path.

    Raises:
        EndpointError: the template cannot be read.
    """
    tree = parsed(text, _ANSWERS, surroundings)
    is_text_alone = names_in(tree) <= {_TEXT}
    is_expression = expression_of(tree) is not None
    evaluate = evaluator(tree, _ANSWERS)
    jsonpath = partial(_at, surroundings=surroundings)

    def found(answer: Answer) -> Any:
        names = {_TEXT: answer.string}
        value = evaluate(names if is_text_alone else {**_names(answer.value, jsonpath), **names})
        return None if isinstance(value, Undefined) or (value == "" and not is_expression) else value

    return found


def _names(value: Any, jsonpath: Any) -> dict[str, Any]:
    fields = value if isinstance(value, dict) else {}
    return {_WHOLE: value, **fields, _PATH: partial(jsonpath, value)}


def _at(value: Any, path: str, surroundings: Surroundings) -> Any:
    return _path(path, surroundings)(value)


@lru_cache(maxsize=64)
def _path(text: str, surroundings: Surroundings) -> Path:
    return path_of(text, surroundings)
