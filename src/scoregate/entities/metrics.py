"""The metrics of the store, ready to judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoregate.entities.filters import filter_of
from scoregate.metrics import read_metric
from scoregate.metrics.finding import pulled
from scoregate.store import METRICS, StoredMetric, current_store
from scoregate.store.heads import head_of, heads


class Metrics:
    """All metrics that were pushed, or written by hand: judges, and what their documents name as code of yours.

    Every method raises StoreError where one cannot be read, and MetricError where its document makes no metric.
    """

    @classmethod
    def all(cls, filter: str | None = None) -> list[Any]:  # noqa: A002
        """All of them, or those whose documents pass a filter, such as `kind eq 'numeric'`; code is then imported.

        Raises:
            EntityError: the filter is none that is understood.
        """
        passes = None if filter is None else filter_of(filter)
        return [_made(each) for each in _stored() if passes is None or passes(each.model_dump(mode="json"))]

    @classmethod
    def first(cls) -> Any | None:
        """The first of them, by id; None where there is none."""
        return next(map(_made, _stored()), None)

    @classmethod
    def pull(cls, id: str | None = None, name: str | None = None) -> Any:  # noqa: A002
        """One of them: by its id, else by its name, in whatever case.

        Raises:
            MetricError: neither is given, there is none, or several have this name.
        """
        return _made(pulled(id, name, current_store()))

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is one of this id."""
        return head_of(current_store(), METRICS, str(id)) is not None


def _stored() -> Iterator[StoredMetric]:
    return heads(current_store(), METRICS)


def _made(stored: StoredMetric) -> Any:
    return read_metric(stored, where=current_store().where(METRICS, (stored.id,)))
