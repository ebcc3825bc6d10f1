"""The labels of tests: behaviors (with metrics), categories and topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field

from scoregate.entities.base import StoredEntity, to_name
from scoregate.store import BEHAVIORS, CATEGORIES, TOPICS, current_store
from scoregate.store.lookup import find_document


class HasMetrics(StoredEntity):
    """An entity with the names of metrics. Changes are written to the store at once, if it contains the entity."""

    metrics: list[str] = Field(default_factory=list)

    def get_metrics(self) -> list[str]:
        """The names of the metrics."""
        return list(self.metrics)

    def add_metric(self, metric: Any) -> list[str]:
        """Add a metric, given as a name or an object with a name; return all names.

        Raises:
            TypeError: the metric has no name.
            StoreError: the entity cannot be written.
        """
        return self.add_metrics([metric])

    def add_metrics(self, metrics: Iterable[Any]) -> list[str]:
        """Add several metrics, as `add_metric`. Each name is stored once."""
        new = [to_name(metric) for metric in metrics]
        return self._change(lambda names: list(dict.fromkeys([*names, *new])))

    def remove_metric(self, metric: Any) -> list[str]:
        """Remove a metric, as `add_metric`."""
        return self.remove_metrics([metric])

    def remove_metrics(self, metrics: Iterable[Any]) -> list[str]:
        """Remove several metrics, as `add_metric`."""
        gone = {to_name(metric) for metric in metrics}
        return self._change(lambda names: [name for name in names if name not in gone])

    def _change(self, change: Callable[[Iterable[str]], list[str]]) -> list[str]:
        if self.id and find_document(store := current_store(), self.kind, self.id) is not None:
            with store.open_writer() as writer:
                head = find_document(store, self.kind, self.id)
                changed = head.model_copy(update={"metrics": tuple(change(head.metrics))})
                writer.update(self.kind, (self.id,), lambda _: [changed])
        self.metrics = change(self.metrics)
        return list(self.metrics)


class Behavior(HasMetrics):
    """An expected behavior. Tests refer to it by name, and use its metrics unless the run or the set has metrics."""

    kind = BEHAVIORS

    description: str | None = None


Requirement = Behavior  # the name in Rhesis since version 0.13


class Category(StoredEntity):
    """A category of tests."""

    kind = CATEGORIES

    description: str | None = None


class Topic(StoredEntity):
    """A topic of tests."""

    kind = TOPICS

    description: str | None = None
