"""Metrics of the store, by id or name."""

from __future__ import annotations

from scoregate.errors import MetricError
from scoregate.store import METRICS, Store, StoredMetric, current_store
from scoregate.store.heads import ambiguous, head_of, heads


def metric_called(store: Store, name: str) -> StoredMetric | None:
    """The metric of this id, else of this name in whatever case; None where there is none.

    Raises:
        MetricError: several have this name. StoreError: one cannot be read.
    """
    found: StoredMetric | None = head_of(store, METRICS, name)
    return metric_named(store, name) if found is None else found


def metric_named(store: Store, name: str) -> StoredMetric | None:
    """The metric of this name, in whatever case; None where there is none.

    Raises:
        As `metric_called`.
    """
    found: list[StoredMetric] = [each for each in heads(store, METRICS) if each.name.casefold() == name.casefold()]
    if len(found) > 1:
        raise MetricError(ambiguous(name, (each.id for each in found)))
    return found[0] if found else None


def pulled(id: str | None, name: str | None, store: Store | None) -> StoredMetric:  # noqa: A002
    """The metric of this id, else of this name.

    Raises:
        MetricError: neither is given, there is none, or several have this name. StoreError: it cannot be read.
    """
    place = store or current_store()
    if id is None and name is None:
        raise MetricError("Either id or name must be provided")
    found: StoredMetric | None = metric_named(place, str(name)) if id is None else head_of(place, METRICS, str(id))
    if found is None:
        raise MetricError(f"No entity found with {f'name {name!r:.200}' if id is None else f'id {id!r:.200}'}")
    return found
