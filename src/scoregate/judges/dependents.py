"""The test configs that use a dataset, for those who change or delete it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from scoregate.store import CONFIGS, Store, stored_configs


@dataclass(frozen=True, slots=True)
class DatasetUsers:
    """The test configs of a store, by what dataset they are of."""

    store: Store

    def of(self, dataset_id: str, name: str) -> list[str]:
        """The names of those that use a dataset, by its id or its name.

        Raises:
            StoreError: one cannot be read.
        """
        return [config for config, stored in stored_configs(self.store) if stored.dataset in (dataset_id, name)]

    def counts(self) -> Counter[str]:
        """How many use each dataset, by its id or its name, whichever they say.

        Raises:
            StoreError: one cannot be read.
        """
        return Counter(stored.dataset for _, stored in stored_configs(self.store))

    def delete(self, dataset_id: str, name: str) -> None:
        """Delete them.

        Raises:
            StoreError: one could not be written.
        """
        for config in self.of(dataset_id, name):
            self.store.update(CONFIGS, (config,), lambda _: ())
