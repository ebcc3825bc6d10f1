"""Finding datasets without reading their rows."""

from __future__ import annotations

from scoregate.datasets.state import card_of
from scoregate.errors import StoreError
from scoregate.store.datasets import DATASETS, HISTORY, Head, StoredDataset
from scoregate.store.history import newest, read_history
from scoregate.store.protocol import Store


def named(store: Store, name_or_id: str) -> str:
    """The name of a dataset, by that or by its id; what is neither is taken for a name.

    Raises:
        StoreError: a card cannot be read.
    """
    if next(store.read(DATASETS, (name_or_id,)), None) is not None:
        return name_or_id
    found = (card for (name,) in store.shelves(DATASETS) if (card := card_of(store, name)))
    return next((card.name for card in found if card.id == name_or_id), name_or_id)


def current(store: Store, name: str) -> tuple[StoredDataset, Head]:
    """A dataset and its newest version, from the end of its history; after a merge, from all of it.

    Raises:
        StoreError: it cannot be read.
    """
    card, file = card_of(store, name), store.open(DATASETS, (name,), HISTORY)
    where = store.where(DATASETS, (name,), HISTORY)
    if card is None or file is None:
        raise StoreError(f"{where} is missing", advice="Bring it back, or delete the whole folder.")
    with file:
        if (head := newest(file)) is None:
            file.seek(0)
            head = read_history(file, origin=where).tip
    if head is None:
        raise StoreError(f"{where} has no version", advice="Bring it back: git log shows who changed it.")
    return card, head
