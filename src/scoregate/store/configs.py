"""Test configs as they are kept: which dataset is judged by which judges."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import AwareDatetime, Field

from scoregate.store.documents import TOML, Document, Text
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store


class StoredConfig(Document):
    """A test config. `dataset` and `judges` are names or ids; a judge may come once."""

    name: str = ""
    id: str = Field(default="", max_length=200)
    description: Text = ""
    dataset: str = Field(min_length=1)
    judges: tuple[str, ...] = Field(min_length=1)
    created_at: AwareDatetime | None = None


CONFIGS = Kind("configs", StoredConfig, TOML, ("config",))


def stored_configs(store: Store) -> Iterator[tuple[str, StoredConfig]]:
    """All test configs, each with the name that its file has.

    Raises:
        StoreError: one cannot be read.
    """
    return ((name, config) for (name,) in store.shelves(CONFIGS) for config in store.read(CONFIGS, (name,)))
