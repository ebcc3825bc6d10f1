"""The way in to what a project keeps: its datasets, its judges, its test configs."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from scoregate.datasets import Datasets
from scoregate.errors import JudgmentValidationError
from scoregate.judges import DatasetShape, DatasetUsers, JudgesFactory, TestConfigs
from scoregate.offline_tests import Evaluations, OfflineTestsFactory, Traces
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
        return Datasets(self.store, DatasetUsers(self.store))

    @cached_property
    def judges(self) -> JudgesFactory:
        """Its judges."""
        return JudgesFactory(self.store)

    @property
    def agent_judges(self) -> JudgesFactory:
        """The same as `judges`."""
        return self.judges

    @cached_property
    def test_configs(self) -> TestConfigs:
        """Which datasets are scored by which judges."""
        return TestConfigs(self.store, self._shape)

    @cached_property
    def offline_tests(self) -> OfflineTestsFactory:
        """Its test configs, and their runs."""
        return OfflineTestsFactory(self, None, self.project_name)

    @cached_property
    def evaluation(self) -> Evaluations:
        """Judging examples that are in no dataset."""
        return Evaluations(self)

    @cached_property
    def traces(self) -> Traces:
        """Its traces: what agents did, for examples to point to."""
        return Traces(self.store)

    def _shape(self, dataset: str) -> DatasetShape | None:
        try:
            found = self.datasets.get(dataset)
        except JudgmentValidationError:
            return None
        return DatasetShape(found.dataset_id, found.name, frozenset(found.version.columns))
