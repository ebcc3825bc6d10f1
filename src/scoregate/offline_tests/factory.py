"""`client.offline_tests`: test configs, and running them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scoregate.core.figures import is_positive, is_whole
from scoregate.core.suite import Limits
from scoregate.datasets import Dataset, Example
from scoregate.engine.environment import selection
from scoregate.errors import InvalidDataset, JudgmentValidationError
from scoregate.judges import DatasetShape, JudgeVersion, JudgeVersionPin, TestConfig, check_version
from scoregate.judges.asking import TRACE
from scoregate.offline_tests.agents import Filling, filling_of
from scoregate.offline_tests.definition import OfflineTest
from scoregate.offline_tests.result import OfflineTestResult, skipped
from scoregate.offline_tests.running import run_test, tell_missing
from scoregate.offline_tests.types import AgentFunction, PassConditionFn, Project


class OfflineTestsFactory:
    """Test configs of a project, and their runs. `client.offline_tests` is one; it is not made otherwise.

    Every method raises StoreError where something cannot be read or written.
    """

    def __init__(self, client: Project, project_id: str | None, project_name: str | None) -> None:
        self.project_id, self.project_name = project_id, project_name
        self._client = client

    def create_config(
        self, name: str, dataset: str, judges: list[str | dict[str, str]], description: str | None = None
    ) -> TestConfig:
        """Bind a dataset, by name or id, to judges: names, ids, or dicts with a `judge_id` or `name` key.

        Raises:
            ValueError: an entry is written otherwise. JudgmentConflictError: there is a config of this name.
            JudgmentValidationError: a judge or the dataset does not exist, or a judge asks for a field that the dataset
                does not have.
        """
        return self._client.test_configs.create(name, dataset, judges, description)

    def get_config(self, test_config: str) -> TestConfig | None:
        """A test config by id or name; None where there is none."""
        return self._client.test_configs.get(test_config)

    def list_configs(self, dataset_id: str | None = None) -> list[TestConfig]:
        """All, by name, or those of one dataset, by its id or name."""
        return self._client.test_configs.list(dataset_id)

    def delete_config(self, test_config_id: str) -> bool:
        """Delete a test config, by id or name; False where there is none."""
        return self._client.test_configs.delete(test_config_id)

    def run(
        self,
        test_config: str | TestConfig,
        agent_function: AgentFunction | None = None,
        judge_versions: list[JudgeVersionPin] | None = None,
        dataset_version: int | str | None = None,
        pass_condition_fn: PassConditionFn | None = None,
        assert_test: bool = False,
        timeout_seconds: float = 600,
        run_name: str | None = None,
        field_mapping: dict[str, str] | None = None,
        *,
        max_concurrency: int = 10,
    ) -> OfflineTestResult | None:
        """Run the agent once for every example of the config's dataset and judge what it did.

        Everything is checked before the agent is called for the first time: the config, the version of the dataset, the
        versions of the judges, and whether the agent can take the fields of every row. What the agent or a judge raises
        is an error of its row.

        Args:
            test_config: its name or id, or itself.
            agent_function: called with the example's fields as keywords of the same names, sync (it runs in a worker
                thread) or async. Without one the examples are judged as they are.
            judge_versions: pins such as {"name": "helpfulness", "tag": "prod"} or {"name": …, "version": "1.2"}. Judges
                that are not listed run in the version of their tag `prod`, else in the newest. Two pins of one judge
                run both.
            dataset_version: its number, or its id as text; the newest if not given.
            pass_condition_fn: called with a row's fields and the list of what the judges said, sync or async; whether
                the row passes. It is not called for a row that a judge has no result for: such a row does not pass.
            assert_test: raise unless every row passes.
            timeout_seconds: for the judges: the time in which no call of the agent is under way.
            run_name: a title for this run. field_mapping: the fields that parameters get, where they are not of one
                name.
            max_concurrency: how many rows are with the agent, and with each judge, at a time. An agent that is costly,
                or is not made for it, wants 1.

        Returns:
            The result; None where there is no such config, which is recorded as an error of the run.

        Raises:
            ValueError: `assert_test` without a pass condition, or no such version of the dataset.
            TypeError: the agent cannot take the fields of a row.
            JudgmentValidationError: a judge or its version is not there or does not fit the dataset, or there are no
                rows.
            JudgmentTestError: `assert_test` is set and a row does not pass; also an AssertionError.
            TimeoutError: the judges took longer than `timeout_seconds`.
        """
        if assert_test and pass_condition_fn is None:
            raise ValueError("assert_test=True requires a pass_condition_fn to decide whether each row passes.")
        limits = _limits(max_concurrency, timeout_seconds)
        config = self.get_config(test_config) if isinstance(test_config, str) else test_config
        if config is None:
            tell_missing(str(test_config))
            return None
        if not selection().includes(config.name):
            return skipped(config.name)
        dataset = self._dataset(config, dataset_version)
        versions = self._client.judges.resolve(
            [judge.name or judge.judge_id for judge in config.judges], judge_versions
        )
        examples = list(dataset)
        filling = None if agent_function is None else _filling(agent_function, examples, field_mapping)
        _check_compatible(versions, dataset)
        if agent_function is None:
            _check_there(versions, dataset, traced=any(example.offline_trace_id for example in examples))
        return run_test(
            OfflineTest(
                config.name,
                run_name,
                examples,
                versions,
                agent_function,
                filling,
                pass_condition_fn,
                limits,
                self._client.traces.get,
            ),
            assert_test=assert_test,
        )

    def _dataset(self, config: TestConfig, version: int | str | None) -> Dataset:
        if version is not None:
            self._check_version(config, version)
        dataset = self._client.datasets.get(config.dataset, version)
        if not len(dataset):
            raise JudgmentValidationError(
                f"Version {dataset.version.version_number} of the dataset {dataset.name!r:.60}, of test config"
                f" {config.name!r:.60}, has no rows"
            )
        return dataset

    def _check_version(self, config: TestConfig, version: int | str) -> None:
        there = self._client.datasets.versions(config.dataset)
        known = [key for each in there for key in (each.version_number, str(each.version_id))]
        if version is True or version not in known:
            raise InvalidDataset(
                f"Dataset version {version!s:.60} does not exist for the dataset of test config {config.name!r:.60}",
                advice="A number is given as an int, the id of a version as a string.",
            )


def _check_compatible(versions: Sequence[JudgeVersion], dataset: Dataset) -> None:
    shape = DatasetShape(dataset.dataset_id, dataset.name, frozenset(dataset.version.columns))
    for version in versions:
        check_version(version, shape)


def _check_there(versions: Sequence[JudgeVersion], dataset: Dataset, *, traced: bool) -> None:
    """Without an agent there is what the examples hold, and the traces that they point to."""
    there = {*dataset.version.columns, *([TRACE] if traced else [])}
    for version in versions:
        if missing := [name for name in version.placeholders if name not in there]:
            raise JudgmentValidationError(
                f"Judge {version.label!r:.60} asks for {{{{{missing[0]}}}}}, which an agent gives, and none is run",
                advice="Give agent_function; in the settings it is `agent`, in the config's table under [[configs]].",
            )


def _filling(agent: AgentFunction, examples: Iterable[Example], mapping: Mapping[str, str] | None) -> Filling:
    filling = filling_of(agent, mapping)
    filling.check(example.properties for example in examples)
    return filling


def _limits(concurrency: Any, timeout: Any) -> Limits:
    if not is_whole(concurrency, 1):
        raise ValueError(f"max_concurrency must be a whole number of at least 1, not {concurrency!r:.60}")
    if not is_positive(timeout):
        raise ValueError(f"timeout_seconds must be a number over 0, not {timeout!r:.60}")
    return Limits(concurrency, scoring_s=timeout)
