"""The way in to what a project keeps: its datasets."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from scoregate.datasets import Datasets
from scoregate.store import Store, open_store


class Client:
    """The store of a project, `.scoregate/` in its repository. No key, no network.

    Args:
        project_name: of your choosing; nothing depends on it.
        store: the project's top folder, or a store; found from the working directory if not given.
        api_key, organization_id, api_url: taken and not used, for programs that were written for a server.
    """

    def __init__(
        self,
        project_name: str | None = None,
        *,
        store: Store | Path | str | None = None,
        api_key: str | None = None,  # noqa: ARG002
        organization_id: str | None = None,  # noqa: ARG002
        api_url: str | None = None,  # noqa: ARG002
    ) -> None:
        self.project_name = project_name
        self.store: Store = open_store(store) if store is None or isinstance(store, Path | str) else store

    @cached_property
    def datasets(self) -> Datasets:
        """Its datasets."""
        return Datasets(self.store)
