"""Where in an answer the fields of a reply are: by JSONPath or by a template, made ready once."""

from __future__ import annotations

from collections.abc import Mapping

from scoregate.endpoints.answers import Finder
from scoregate.endpoints.json_paths import path_of
from scoregate.endpoints.names import is_template
from scoregate.endpoints.surroundings import Surroundings

_PLAINLY = ("output", "conversation_id", "context", "metadata", "tool_calls")


def fields_of(mapping: Mapping[str, str] | None, surroundings: Surroundings) -> dict[str, Finder]:
    """What finds each field; `output` where it is not mapped is the field of that name.

    Raises:
        EndpointError: a JSONPath or a template cannot be read.
    """
    given = dict.fromkeys(_PLAINLY, "") if mapping is None else {"output": "", **mapping}
    return {name: _finder(text or f"$.{name}", name, surroundings) for name, text in given.items()}


def _finder(text: str, name: str, surroundings: Surroundings) -> Finder:
    if text.startswith("$"):
        find = path_of(text, surroundings)
        return lambda answer: find(answer.value)
    if is_template(text):
        from scoregate.endpoints.response_templates import template_finder

        return template_finder(text, surroundings)
    return surroundings.misconfigured(
        f"{text!r:.200}, which is to be {name!r:.60} of a reply, is neither a JSONPath nor a template",
        f"Write $.{text:.60}, or {{{{ {text:.60} }}}}.",
    )
