"""What people may have meant by a field that there is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel


def suggestion(model: type[BaseModel], where: Sequence[int | str]) -> str:
    """The field whose name is most like the last part of `where`, as the end of a sentence; empty if none is.

    Args:
        model: of the whole document. where: the way to the field that it has not, as pydantic tells it.
    """
    *way, name = where
    models: list[type[BaseModel]] = [model]
    for part in way:
        inner = [field.annotation for each in models if (field := each.model_fields.get(str(part)))]
        models = [found for annotation in inner for found in _models(annotation)] or models
    near = get_close_matches(str(name), [field for each in models for field in each.model_fields], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
