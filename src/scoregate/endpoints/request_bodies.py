"""What is sent: a mapping whose texts are templates, made ready once and filled for every message."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from scoregate.endpoints.names import Context
from scoregate.endpoints.request_fillers import OMITTED, Constant, Filler
from scoregate.endpoints.request_texts import text_filler
from scoregate.endpoints.surroundings import Surroundings

DEFAULT: Mapping[str, Any] = {"input": "{{ input }}", "conversation_id": "{{ conversation_id }}"}
RAW = "__body__"


def body_of(mapping: Mapping[str, Any] | str, surroundings: Surroundings) -> Filler:
    """What fills the whole mapping: dicts and lists at any depth, or a text that holds JSON.

    A field that asks for the id of a conversation that has none is left out. A list in the place of one item of a list
    takes its place item by item.

    Raises:
        EndpointError: as of `request_texts.text_filler`, or the text is no JSON and cannot become any.
    """
    if isinstance(mapping, str):
        return _of_text(mapping, surroundings)
    return _of(mapping, surroundings)


def _of_text(text: str, surroundings: Surroundings) -> Filler:
    try:
        return _of(json.loads(text), surroundings)
    except ValueError:
        from scoregate.endpoints.request_json import json_filler

        return json_filler(text, surroundings)


def _of(value: Any, surroundings: Surroundings) -> Filler:
    if isinstance(value, str):
        return text_filler(value, surroundings)
    if isinstance(value, Mapping):
        return _dict({name: _of(each, surroundings) for name, each in value.items()})
    if isinstance(value, list | tuple):
        return _list([_of(each, surroundings) for each in value], [isinstance(each, str) for each in value])
    if value is None or isinstance(value, bool | int | float):
        return Constant(value)
    return surroundings.misconfigured(f"a {type(value).__name__} in the mapping of requests has no form in JSON")


def _dict(fields: dict[str, Filler]) -> Filler:
    entries = list(fields.items())

    def filled(context: Context) -> Any:
        made = ((name, each(context)) for name, each in entries)
        return {name: value for name, value in made if value is not OMITTED}

    return _folded(filled, fields.values())


def _list(items: list[Filler], spreads: list[bool]) -> Filler:
    def filled(context: Context) -> Any:
        made: list[Any] = []
        for each, is_text in zip(items, spreads, strict=True):
            value = each(context)
            if is_text and isinstance(value, list):
                made.extend(value)
            elif value is not OMITTED:
                made.append(value)
        return made

    return _folded(filled, items)


def _folded(filled: Callable[[Context], Any], parts: Any) -> Filler:
    return Constant(filled({})) if all(isinstance(part, Constant) for part in parts) else filled
