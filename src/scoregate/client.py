"""The client of a project's store: datasets, judges and test configs."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.datasets import Datasets
from scoregate.errors import JudgmentValidationError
from scoregate.judges import AgentJudges, DatasetShape, DatasetUsers, JudgesFactory, TestConfigs
from scoregate.offline_tests import Evaluations, OfflineTestsFactory, Traces
from scoregate.store import Store, open_store

if TYPE_CHECKING:
    from scoregate.offline_tests import TestRunsFactory, TestSuitesFactory


class Client:
    """The client of a project's store, `.scoregate/` in its repository. It needs no key and no network.

    Args:
        project_name: any name; it has no effect.
        store: the top folder of the project, or a store; default: found from the working directory.
        api_key: accepted and ignored, for programs that were written for a server.
        organization_id: accepted and ignored.
        api_url: accepted and ignored.
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
        """The datasets."""
        return Datasets(self.store, DatasetUsers(self.store))

    @cached_property
    def judges(self) -> JudgesFactory:
        """The judges."""
        return JudgesFactory(self.store)

    @cached_property
    def agent_judges(self) -> AgentJudges:
        """The prompt judges, with the arguments of judgeval."""
        return AgentJudges(self.judges)

    @cached_property
    def test_configs(self) -> TestConfigs:
        """The test configs: which judges score which datasets."""
        return TestConfigs(self.store, self._shape)

    @cached_property
    def offline_tests(self) -> OfflineTestsFactory:
        """The test configs and their runs."""
        return OfflineTestsFactory(self, None, self.project_name)

    @cached_property
    def test_suites(self) -> TestSuitesFactory:
        """The test suites, whose cases have a check for each judge."""
        from scoregate.offline_tests import TestSuitesFactory

        return TestSuitesFactory(self.store, self.judges)

    @cached_property
    def test_runs(self) -> TestRunsFactory:
        """The runs of test suites."""
        from scoregate.offline_tests import TestRunsFactory

        return TestRunsFactory(self.test_suites, self.judges)

    @cached_property
    def evaluation(self) -> Evaluations:
        """Evaluation of examples that are in no dataset."""
        return Evaluations(self)

    @cached_property
    def traces(self) -> Traces:
        """The traces of agents that examples refer to."""
        return Traces(self.store)

    def _shape(self, dataset: str) -> DatasetShape | None:
        try:
            stored = self.datasets.get(dataset)
        except JudgmentValidationError:
            return None
        return DatasetShape(stored.dataset_id, stored.name, frozenset(stored.version.columns))
