"""Entities that say what they are measured with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field

from scoregate.entities.kept import KeptEntity
from scoregate.entities.naming import name_of
from scoregate.store import current_store
from scoregate.store.heads import head_of


class Measured(KeptEntity):
    """An entity with metrics, which are known by their names. One that is in the store is changed there at once."""

    metrics: list[str] = Field(default_factory=list)

    def get_metrics(self) -> list[str]:
        """The names of its metrics."""
        return list(self.metrics)

    def add_metric(self, metric: Any) -> list[str]:
        """Add one: a name, or what has a name; returns the names of all.

        Raises:
            TypeError: it has no name. StoreError: it could not be written.
        """
        return self.add_metrics([metric])

    def add_metrics(self, metrics: Iterable[Any]) -> list[str]:
        """Add several, as `add_metric`; a name comes once."""
        new = [name_of(metric) for metric in metrics]
        return self._change(lambda names: list(dict.fromkeys([*names, *new])))

    def remove_metric(self, metric: Any) -> list[str]:
        """Take one away, as `add_metric`."""
        return self.remove_metrics([metric])

    def remove_metrics(self, metrics: Iterable[Any]) -> list[str]:
        """Take several away, as `add_metric`."""
        gone = {name_of(metric) for metric in metrics}
        return self._change(lambda names: [name for name in names if name not in gone])

    def _change(self, change: Callable[[Iterable[str]], list[str]]) -> list[str]:
        if self.id and head_of(store := current_store(), self.kind, self.id) is not None:
            with store.writing() as writer:
                head = head_of(store, self.kind, self.id)
                changed = head.model_copy(update={"metrics": tuple(change(head.metrics))})
                writer.update(self.kind, (self.id,), lambda _: [changed])
        self.metrics = change(self.metrics)
        return list(self.metrics)
