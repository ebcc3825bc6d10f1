"""Metrics as configs (JSON) and as documents of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

from pydantic import ValidationError

from scoregate.errors import MetricError
from scoregate.store import METRICS, Store, StoredMetric, current_store
from scoregate.store.errors import error_message
from scoregate.store.lookup import ambiguous_name_message, find_document, list_documents, unused_id

M = TypeVar("M")
_CLASS_KEY = "class_name"
# The fields of documents by the arguments of classes.
_DOCUMENT_FIELDS = {"evaluation_prompt": "prompt", "evaluation_steps": "steps", "evaluation_examples": "examples"}
_ARGUMENTS = {short: long for long, short in _DOCUMENT_FIELDS.items()}
_NOT_ARGUMENTS = {"kind", "use", "with", "created_at"}


def metric_config(metric: Any) -> dict[str, Any]:
    """The class of a metric and its arguments, as JSON; arguments that are None are left out."""
    arguments = {
        field.name: _plain_value(field.name, getattr(metric, field.name)) for field in fields(metric) if field.init
    }
    return {
        _CLASS_KEY: type(metric).__name__,
        **{name: value for name, value in arguments.items() if value is not None},
    }


def _plain_value(name: str, value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain_value(name, each) for each in value]
    return value.name if name == "model" and hasattr(value, "a_generate") else value


def metric_from_config(cls: type[M], config: Mapping[str, Any]) -> M:
    """The metric of a config.

    Raises:
        MetricError: the config is for another class or not valid.
    """
    arguments = dict(config)
    if (name := arguments.pop(_CLASS_KEY, cls.__name__)) != cls.__name__:
        raise MetricError(f"this is the config of a {name!r:.60}, not of a {cls.__name__}")
    return _construct(cls, arguments, cls.__name__)


def metric_document(metric: Any, kind: str) -> dict[str, Any]:
    """The content of the document of a metric."""
    config = metric_config(metric)
    arguments = {_DOCUMENT_FIELDS.get(name, name): value for name, value in config.items() if name != _CLASS_KEY}
    return {"kind": kind, **arguments}


def metric_from_document(cls: type[M], stored: StoredMetric) -> M:
    """The metric of a document.

    Raises:
        MetricError: the document is not valid.
    """
    content = stored.model_dump(exclude_defaults=True)
    arguments = {_ARGUMENTS.get(name, name): value for name, value in content.items() if name not in _NOT_ARGUMENTS}
    return _construct(cls, arguments, stored.title)


def _construct(cls: type[M], arguments: Mapping[str, Any], title: str) -> M:
    known = {field.name for field in fields(cls) if field.init}  # type: ignore[arg-type]
    if unknown := [_DOCUMENT_FIELDS.get(name, name) for name in arguments if name not in known]:
        raise MetricError(f"the metric {title!r:.60}: a {cls.__name__} has no {', '.join(unknown):.200}")
    return cls(**arguments)


def store_metric(definition: Mapping[str, Any], store: Store | None) -> StoredMetric:
    """Write a metric to the store, under its id, else under an id made of its name; comments in the file stay.

    Raises:
        MetricError: a value does not fit into a document.
        StoreError: it could not be written.
    """
    place = store or current_store()
    with place.open_writer() as writer:
        own_id = definition.get("id") or unused_id(place, METRICS, definition["name"])
        present: StoredMetric | None = find_document(place, METRICS, own_id)
        created = (present and present.created_at) or datetime.now(UTC).replace(microsecond=0)
        try:
            document = StoredMetric.model_validate({**definition, "id": own_id, "created_at": created})
        except ValidationError as error:
            raise MetricError(
                f"the metric {definition.get('name')!r:.60} cannot be stored: {error_message(error)}"
            ) from None
        if present is not None:
            document._text = present._text
        writer.update(METRICS, (own_id,), lambda _: [document])
    return document


def find_metric(store: Store, name: str) -> StoredMetric | None:
    """The metric with this id, else with this name in any case; None if there is none.

    Raises:
        MetricError: several have this name.
        StoreError: one cannot be read.
    """
    stored: StoredMetric | None = find_document(store, METRICS, name)
    return _find_by_name(store, name) if stored is None else stored


def load_metric(id: str | None, name: str | None, store: Store | None) -> StoredMetric:  # noqa: A002
    """The metric with this id, else with this name in any case.

    Raises:
        MetricError: neither is given, no metric has it, or several have this name.
        StoreError: it cannot be read.
    """
    place = store or current_store()
    if id is None and name is None:
        raise MetricError("Either id or name must be provided")
    stored: StoredMetric | None = (
        _find_by_name(place, str(name)) if id is None else find_document(place, METRICS, str(id))
    )
    if stored is None:
        raise MetricError(f"No entity found with {f'name {name!r:.200}' if id is None else f'id {id!r:.200}'}")
    return stored


def _find_by_name(store: Store, name: str) -> StoredMetric | None:
    stored: list[StoredMetric] = [
        each for each in list_documents(store, METRICS) if each.name.casefold() == name.casefold()
    ]
    if len(stored) > 1:
        raise MetricError(ambiguous_name_message(name, (each.id for each in stored)))
    return stored[0] if stored else None
