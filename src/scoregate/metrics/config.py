"""Metrics as plain data, and as documents of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

from pydantic import ValidationError

from scoregate.errors import MetricError
from scoregate.store import METRICS, Store, StoredMetric, current_store
from scoregate.store.heads import free_id, head_of
from scoregate.store.problems import said

M = TypeVar("M")
_CLASS = "class_name"
# Fields of documents by the arguments that they are.
_SHORT = {"evaluation_prompt": "prompt", "evaluation_steps": "steps", "evaluation_examples": "examples"}
_LONG = {short: long for long, short in _SHORT.items()}
_ABOUT = {"kind", "use", "with", "created_at"}


def config_of(metric: Any) -> dict[str, Any]:
    """The class of a metric, and what it was made with, as JSON has it; what is None is left out."""
    told = {field.name: _plain(field.name, getattr(metric, field.name)) for field in fields(metric) if field.init}
    return {_CLASS: type(metric).__name__, **{name: value for name, value in told.items() if value is not None}}


def made_of(cls: type[M], config: Mapping[str, Any]) -> M:
    """The metric that `config_of` made this of.

    Raises:
        MetricError: it is of another class, or makes none.
    """
    given = dict(config)
    if (named := given.pop(_CLASS, cls.__name__)) != cls.__name__:
        raise MetricError(f"this is the config of a {named!r:.60}, not of a {cls.__name__}")
    return _called(cls, given, cls.__name__)


def metric_of(cls: type[M], stored: StoredMetric) -> M:
    """The metric of this class that a document describes.

    Raises:
        MetricError: it describes none.
    """
    told = stored.model_dump(exclude_defaults=True)
    arguments = {_LONG.get(name, name): value for name, value in told.items() if name not in _ABOUT}
    return _called(cls, arguments, stored.title)


def kept(definition: Mapping[str, Any], store: Store | None) -> StoredMetric:
    """Put a metric into the store, under its id, else under one that is made of its name; comments there stay.

    Raises:
        MetricError: something has no place in a document. StoreError: it could not be written.
    """
    place = store or current_store()
    with place.writing() as writer:
        own = definition.get("id") or free_id(place, METRICS, definition["name"])
        there: StoredMetric | None = head_of(place, METRICS, own)
        document = _document({**definition, "id": own}, there)
        writer.update(METRICS, (own,), lambda _: [document])
    return document


def definition_of(metric: Any, kind: str) -> dict[str, Any]:
    """What a document says of a metric of a kind."""
    told = config_of(metric)
    return {"kind": kind, **{_SHORT.get(name, name): value for name, value in told.items() if name != _CLASS}}


def _document(fields_: Mapping[str, Any], there: StoredMetric | None) -> StoredMetric:
    created = {"created_at": (there and there.created_at) or datetime.now(UTC).replace(microsecond=0)}
    try:
        document = StoredMetric.model_validate({**fields_, **created})
    except ValidationError as error:
        raise MetricError(f"the metric {fields_.get('name')!r:.60} cannot be kept: {said(error)}") from None
    if there is not None:
        document._text = there._text
    return document


def _called(cls: type[M], arguments: Mapping[str, Any], title: str) -> M:
    known = {field.name for field in fields(cls) if field.init}  # type: ignore[arg-type]
    if strange := [_SHORT.get(name, name) for name in arguments if name not in known]:
        raise MetricError(f"the metric {title!r:.60}: a {cls.__name__} has no {', '.join(strange):.200}")
    return cls(**arguments)


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(name, each) for each in value]
    return value.name if name == "model" and hasattr(value, "a_generate") else value
