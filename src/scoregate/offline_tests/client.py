"""`client.offline_tests` and `client.evaluation`: run judges on examples, with or without a test config."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scoregate.datasets import Dataset, Example
from scoregate.errors import InvalidDataset, JudgmentValidationError
from scoregate.judges import (
    DatasetShape,
    Judge,
    JudgeVersion,
    JudgeVersionPin,
    TestConfig,
    check_version,
    unstored_version,
)
from scoregate.judges.prompt_judge import TRACE
from scoregate.kernel.types.suite import RunLimits
from scoregate.kernel.types.text import is_positive_number, is_whole_number
from scoregate.offline_tests.agent import map_arguments
from scoregate.offline_tests.results import (
    AgentFunction,
    OfflineTestResult,
    PassConditionFn,
    Project,
    ScorerData,
    ScoringResult,
)
from scoregate.offline_tests.run import report_missing_config, run_offline
from scoregate.offline_tests.suite import OfflineRun, OfflineTest


class OfflineTestsFactory:
    """The test configs of a project, and their runs: `client.offline_tests`.

    Every method raises StoreError if a file cannot be read or written.
    """

    def __init__(self, client: Project, project_id: str | None, project_name: str | None) -> None:
        self.project_id, self.project_name = project_id, project_name
        self._client = client

    def create_config(
        self, name: str, dataset: str, judges: list[str | dict[str, str]], description: str | None = None
    ) -> TestConfig:
        """Create a test config: a dataset and the judges for it.

        Args:
            name: its name.
            dataset: the dataset's name or id.
            judges: names, ids, or dicts with a `judge_id` or `name` key.
            description: a description for people.

        Raises:
            TypeError: `judges` is a single one.
            ValueError: an entry of `judges` is not valid.
            JudgmentConflictError: there is a config with this name.
            JudgmentValidationError: a judge or the dataset does not exist, or a judge asks for a field that the dataset
                does not have.
        """
        return self._client.test_configs.create(name, dataset, judges, description)

    def get_config(self, test_config: str) -> TestConfig | None:
        """A test config by id or name; None if there is none."""
        return self._client.test_configs.get(test_config)

    def list_configs(self, dataset_id: str | None = None) -> list[TestConfig]:
        """All test configs in the order of their names, or those of one dataset, by its id or name."""
        return self._client.test_configs.list(dataset_id)

    def delete_config(self, test_config_id: str) -> bool:
        """Delete a test config, by id or name; False if there is none."""
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
        """Run the agent once for every example of the config's dataset, and judge its outputs.

        The config, the versions of the dataset and the judges, and the agent's parameters are checked before the first
        call of the agent. An exception of the agent or a judge is an error of its row.

        Args:
            test_config: the config, its name or its id.
            agent_function: called with the example's fields as keywords, sync (it runs in a worker thread) or async.
                Without one the examples are judged as they are.
            judge_versions: pins such as {"name": "helpfulness", "tag": "prod"} or {"name": …, "version": "1.2"}. Judges
                without a pin run in the version with the tag `prod`, else in the newest. Two pins of one judge run
                both versions.
            dataset_version: its number, or its id as a string; the newest if not given.
            pass_condition_fn: called with a row's fields and the list of its scores, sync or async; returns whether the
                row passes. A row without the results of all judges does not pass, and the function is not called.
            assert_test: raise unless every row passes.
            timeout_seconds: the time limit for the judges, not counting the time in which calls of the agent run.
            run_name: a title for this run.
            field_mapping: fields by parameter, for parameters with another name than their field.
            max_concurrency: how many rows the agent and each judge handle at a time. Use 1 for an agent that is
                expensive or not thread-safe.

        Returns:
            The result; None if there is no such config, which is recorded as an error of the run.

        Raises:
            ValueError: `assert_test` without a pass condition, or no such version of the dataset.
            TypeError: the agent cannot take the fields of a row.
            JudgmentValidationError: a judge or its version does not exist or does not fit the dataset, or there are no
                rows.
            JudgmentTestError: `assert_test` is set and a row does not pass; also an AssertionError.
            TimeoutError: the judges took longer than `timeout_seconds`.
        """
        if assert_test and pass_condition_fn is None:
            raise ValueError("assert_test=True requires a pass_condition_fn to decide whether each row passes.")
        limits = _make_limits(max_concurrency, timeout_seconds)
        config = self._find_config(test_config)
        if config is None:
            report_missing_config(test_config if isinstance(test_config, str) else test_config.name)
            return None

        def prepare() -> OfflineRun:
            dataset = self._dataset(config, dataset_version)
            versions = self._client.judges.resolve(
                [judge.name or judge.judge_id for judge in config.judges], judge_versions
            )
            examples = list(dataset)
            shape = DatasetShape(dataset.dataset_id, dataset.name, frozenset(dataset.version.columns))
            arguments = None
            if agent_function is not None:
                arguments = map_arguments(agent_function, field_mapping)
                arguments.check(example.properties for example in examples)
            for version in versions:
                check_version(version, shape)
            if agent_function is None:
                _check_fields(versions, dataset, traced=any(example.offline_trace_id for example in examples))
            trace, passes = self._client.traces.get, pass_condition_fn
            test = OfflineTest(config.name, examples, versions, agent_function, arguments, passes, limits, trace)
            return OfflineRun(test)

        return run_offline(config.name, prepare, title=run_name, assert_test=assert_test)

    def _find_config(self, config: str | TestConfig) -> TestConfig | None:
        if isinstance(config, str):
            return self.get_config(config)
        return config if config.judges else self.get_config(config.id) or self.get_config(config.name)

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
        versions = self._client.datasets.versions(config.dataset)
        known = [key for each in versions for key in (each.version_number, each.version_id)]
        if version is True or version not in known:
            raise InvalidDataset(
                f"Dataset version {version!s:.60} does not exist for the dataset of test config {config.name!r:.60}",
                advice="A number is given as an int, the id of a version as a string.",
            )


def _make_limits(max_concurrency: int, timeout_seconds: float) -> RunLimits:
    if not is_whole_number(max_concurrency, 1):
        raise ValueError(f"max_concurrency must be a whole number of at least 1, not {max_concurrency!r:.60}")
    if not is_positive_number(timeout_seconds):
        raise ValueError(f"timeout_seconds must be a number over 0, not {timeout_seconds!r:.60}")
    return RunLimits(max_concurrency, scoring_s=timeout_seconds)


def _check_fields(versions: Sequence[JudgeVersion], dataset: Dataset, *, traced: bool) -> None:
    """Check that the fields and traces of the examples are enough for all prompts, without an agent."""
    columns = {*dataset.version.columns, *([TRACE] if traced else [])}
    for version in versions:
        if missing := [name for name in version.placeholders if name not in columns]:
            raise JudgmentValidationError(
                f"Judge {version.label!r:.60} asks for {{{{{missing[0]}}}}}, which comes from an agent,"
                " but no agent is run",
                advice="Give agent_function; in the settings it is `agent`, in the config's table under [[configs]].",
            )


_DEFAULT_NAME = "evaluation"


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Runs without a test config: `client.evaluation`."""

    client: Project

    def create(self) -> Evaluations:
        """Return itself, for programs that were written for a server."""
        return self

    def run(
        self,
        examples: Iterable[Example],
        scorers: Sequence[str | Judge[Any] | type[Judge[Any]]],
        eval_run_name: str | None = None,
        assert_test: bool = False,
        timeout_seconds: float = 300,
        *,
        pass_condition_fn: PassConditionFn | None = None,
        max_concurrency: int = 10,
    ) -> list[ScoringResult]:
        """Judge examples as they are; the run has its own record.

        Args:
            examples: the rows.
            scorers: judges of the project, by name or id, and code judges.
            eval_run_name: the name of the suite.
            assert_test: raise unless every row passes.
            timeout_seconds: the time limit for all judges together.
            pass_condition_fn: see `client.offline_tests.run`. If not given, a row passes if all binary judges answer
                Yes.
            max_concurrency: examples at a time, for each judge.

        Raises:
            TypeError: a member of `examples` is no Example, or `scorers` is a single name.
            JudgmentValidationError: there are no examples or no scorers, a judge does not exist, or `assert_test` is
                set without a pass condition or a binary judge.
            JudgmentTestError: `assert_test` is set and a row does not pass; also an AssertionError.
            TimeoutError: the judges took longer than `timeout_seconds`.
        """
        if isinstance(scorers, str):
            raise TypeError(f"scorers must be a list of judges, not {scorers!r:.60}")
        stored = self.client.judges.resolve([each for each in scorers if isinstance(each, str)])
        versions = [*stored, *(unstored_version(each) for each in scorers if not isinstance(each, str))]
        given = list(examples)
        passes = pass_condition_fn or (_all_yes if any(each.score_type == "binary" for each in versions) else None)
        if wrong := [each for each in given if not isinstance(each, Example)]:
            raise TypeError(f"examples are made by Example.create(…); this is none: {wrong[0]!r:.100}")
        if not given or not versions:
            raise JudgmentValidationError("an evaluation needs at least one example and one scorer")
        if len({version.name for version in versions}) < len(versions):
            raise JudgmentValidationError("two scorers have one name", advice="Set `name` of one of them.")
        if passes is None and assert_test:
            raise JudgmentValidationError(
                "assert_test needs a judge that answers with Yes or No, or a pass_condition_fn",
                advice="A number or a category alone does not say whether a row passes.",
            )
        name, trace = eval_run_name or _DEFAULT_NAME, self.client.traces.get
        limits = RunLimits(max_concurrency, scoring_s=timeout_seconds)
        test = OfflineTest(name, given, versions, passes=passes, limits=limits, trace=trace)
        return run_offline(name, lambda: OfflineRun(test), title=eval_run_name, assert_test=assert_test).results


# Fingerprints contain the name of this function.
def _all_yes(fields: dict[str, Any], scorers: list[ScorerData]) -> bool:  # noqa: ARG001
    return all(scorer.score == 1 for scorer in scorers if scorer.score_type == "binary")
