"""The test configs that use a dataset, for those who change or delete it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoregate.store import CONFIGS, Store, StoredConfig


@dataclass(frozen=True, slots=True)
class DatasetUsers:
    """The test configs of a store, by what dataset they are of."""

    store: Store

    def of(self, dataset_id: str, name: str) -> list[str]:
        """The names of those that use a dataset, by its id or its name.

        Raises:
            StoreError: one cannot be read.
        """
        return [config for config, stored in self._all() if stored.dataset in (dataset_id, name)]

    def delete(self, dataset_id: str, name: str) -> None:
        """Delete them.

        Raises:
            StoreError: one could not be written.
        """
        for config in self.of(dataset_id, name):
            self.store.update(CONFIGS, (config,), lambda _: ())

    def _all(self) -> Iterator[tuple[str, StoredConfig]]:
        for (name,) in self.store.shelves(CONFIGS):
            yield from ((name, config) for config in self.store.read(CONFIGS, (name,)))
