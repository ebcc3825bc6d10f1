"""Test configs: a dataset and the judges for it, checked when a config is created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges.prompt_judge import missing_fields
from scoregate.judges.state import JudgeState, check_name, check_title
from scoregate.judges.versions import JudgeVersion, find_judge, find_judges, select_version
from scoregate.store import CONFIGS, DATASETS, JUDGES, Store, StoredConfig, list_configs

JudgeEntry = str | UUID | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DatasetShape:
    """The facts about a dataset for test configs; `fields` are the columns of its schema."""

    id: str
    name: str
    fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class ConfigJudge(Mapping[str, Any]):
    """A judge of a test config; without a name and types if it is no longer in the store.

    As in judgeval it is a mapping, too: `judge["judge_id"]`, `judge["judge"]["name"]`.
    """

    judge_id: str
    name: str | None = None
    judge_type: str | None = None
    score_type: str | None = None

    def __getitem__(self, key: str) -> Any:
        return self._row()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._row())

    def __len__(self) -> int:
        return len(self._row())

    def _row(self) -> dict[str, Any]:
        names = ("name", "judge_type", "score_type")
        judge = {"id": self.judge_id, **{name: getattr(self, name) for name in names}}
        return {"judge_id": self.judge_id, "user_id": None, "judge": judge}


@dataclass(frozen=True, slots=True)
class TestConfig:
    """A dataset and the judges for it.

    Args:
        id: the id.
        name: the name.
        dataset_id: the id of the dataset; its name if it is no longer in the store.
        description: a description for people.
        created_at: the time of its creation.
        judges: the judges. A config without any is looked up in the store when it runs.
        dataset: the name of the dataset; if not given, its id.
    """

    __test__ = False

    id: str
    name: str
    dataset_id: str
    description: str | None = None
    created_at: datetime | None = None
    judges: tuple[ConfigJudge, ...] = ()
    dataset: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", self.dataset or self.dataset_id)


class TestConfigs:
    """The test configs of a project.

    Every method raises StoreError if a file cannot be read or written.

    Args:
        store: the store.
        dataset: finds a dataset by name or id; returns None if there is none.
    """

    __test__ = False

    def __init__(self, store: Store, dataset: Callable[[str], DatasetShape | None]) -> None:
        self._store = store
        self._dataset = dataset

    def create(
        self, name: str, dataset: str, judges: Sequence[JudgeEntry], description: str | None = None
    ) -> TestConfig:
        """Create a test config.

        Args:
            name: its name.
            dataset: the dataset's name or id.
            judges: names, ids, or dicts with a `judge_id` or `name`.
            description: a description for people.

        Raises:
            TypeError: `judges` is a single one.
            ValueError: an entry of `judges` is not valid.
            JudgmentConflictError: there is a config with this name.
            JudgmentValidationError: the dataset or a judge does not exist, or a judge's prompt asks for a field that
                the dataset does not have.
        """
        if isinstance(judges, str | Mapping | UUID):
            raise TypeError(f"judges must be a list of judge names or dicts, not {judges!r:.60}")
        names = [_judge_key(judge) for judge in judges]
        try:
            shape, states = self._check(name, dataset, names)
        except JudgmentValidationError as error:
            raise JudgmentValidationError(
                f"Failed to create test config {name!r:.60}: {error.message}", advice=error.advice
            ) from None
        config = StoredConfig(
            name=name,
            id=str(uuid4()),
            description=description or "",
            dataset=shape.name,
            judges=tuple(each.judge.name for each in states),
            created_at=datetime.now(UTC).replace(microsecond=0),
        )
        self._write(config)
        return self._to_test_config(config)

    def get(self, test_config: str) -> TestConfig | None:
        """A test config by name or id; None if there is none."""
        config = next((each for each in self._read(test_config)), None)
        config = config or next((each for each in self._all() if each.id == test_config), None)
        return None if config is None else self._to_test_config(config)

    def list(self, dataset_id: str | None = None) -> list[TestConfig]:
        """All test configs in the order of their names, or those of one dataset, by its id or name."""
        configs = [self._to_test_config(each) for each in self._all()]
        return [each for each in configs if dataset_id is None or dataset_id in (each.dataset_id, each.dataset)]

    def delete(self, test_config_id: str) -> bool:
        """Delete a test config, by id or name; False if there is none."""
        if (config := self.get(test_config_id)) is None:
            return False
        self._store.update(CONFIGS, (config.name,), lambda _: ())
        return True

    def _check(self, name: str, dataset: str, judges: Sequence[str]) -> tuple[DatasetShape, Sequence[JudgeState]]:
        check_name(name)
        if (shape := self._dataset(dataset)) is None:
            names = ", ".join(name for (name,) in self._store.list_keys(DATASETS))
            raise JudgmentValidationError(
                f"Dataset not found: {dataset!s:.60}",
                advice=f"There are {names:.300}." if names else "`scoregate dataset add` creates one.",
            )
        if not judges:
            raise JudgmentValidationError("it needs at least one judge")
        states = find_judges(self._store, judges)
        for each in states:
            check_compatible(each, shape)
        return shape, states

    def _write(self, config: StoredConfig) -> None:
        with self._store.open_writer() as writer:
            if next(self._read(config.name), None) is not None:
                raise JudgmentConflictError(
                    f"there is a test config {config.name!r:.60} already,"
                    f" in {self._store.location(CONFIGS, (config.name,))}",
                    advice="Edit that file, or delete the config first.",
                )
            # Again with the lock: a judge may have been deleted in between.
            gone = [name for name in config.judges if not any(True for _ in self._store.read(JUDGES, (name,)))]
            if gone:
                raise JudgmentValidationError(f"Judges not found: {', '.join(gone):.300}")
            writer.update(CONFIGS, (config.name,), lambda _: [config])

    def _all(self) -> Iterator[StoredConfig]:
        return (self._with_identity(name, config) for name, config in list_configs(self._store))

    def _read(self, name: str) -> Iterator[StoredConfig]:
        return (self._with_identity(name, config) for config in self._store.read(CONFIGS, (name,)))

    def _with_identity(self, name: str, config: StoredConfig) -> StoredConfig:
        check_title(config.name, name, where=self._store.location(CONFIGS, (name,)))
        own = config.id or str(uuid5(NAMESPACE_URL, f"scoregate:config:{name}"))
        return config.model_copy(update={"name": name, "id": own})

    def _to_test_config(self, config: StoredConfig) -> TestConfig:
        shape = self._dataset(config.dataset)
        judges = []
        for key in config.judges:
            state = find_judge(self._store, key)
            judge = None if state is None else state.judge
            judges.append(
                ConfigJudge(judge.id, judge.name, judge.kind, judge.score_type) if judge else ConfigJudge(key)
            )
        return TestConfig(
            config.id,
            config.name,
            config.dataset if shape is None else shape.id,
            config.description or None,
            config.created_at,
            tuple(judges),
            config.dataset if shape is None else shape.name,
        )


def check_compatible(judge: JudgeState, dataset: DatasetShape) -> None:
    """Check that the default version of a judge fits a dataset.

    Raises:
        JudgmentValidationError: its prompt asks for a field that the dataset does not have.
    """
    check_version(select_version(judge), dataset)


def check_version(version: JudgeVersion, dataset: DatasetShape) -> None:
    """Check that a version of a judge fits a dataset.

    Raises:
        JudgmentValidationError: its prompt asks for a field that the dataset does not have.
    """
    if missing := missing_fields(version, dataset.fields):
        names = ", ".join(f"{{{{{name:.60}}}}}" for name in missing[:5])
        raise JudgmentValidationError(
            f"Judge {version.label!r:.60} asks for {names}, which the dataset {dataset.name!r:.60} does not have",
            advice=f"Its fields are {', '.join(sorted(dataset.fields)):.300}; {{{{output}}}} and {{{{trace}}}} are the"
            " agent's.",
        )


def _judge_key(judge: Any) -> str:
    """The name or the id in an entry."""
    if isinstance(judge, Mapping):
        judge = judge.get("judge_id") or judge.get("name")
    if isinstance(judge, UUID):
        return str(judge)
    if not isinstance(judge, str) or not judge:
        raise ValueError("judges entries must be judge names or dicts with a 'judge_id' or 'name' key")
    return judge


@dataclass(frozen=True, slots=True)
class DatasetUsers:
    """The test configs of each dataset."""

    store: Store

    def of(self, dataset_id: str, name: str) -> list[str]:
        """The names of the configs that use a dataset, by its id or its name.

        Raises:
            StoreError: one cannot be read.
        """
        return [config for config, stored in list_configs(self.store) if stored.dataset in (dataset_id, name)]

    def counts(self) -> Counter[str]:
        """The number of configs of each dataset, by the id or name that they contain.

        Raises:
            StoreError: one cannot be read.
        """
        return Counter(stored.dataset for _, stored in list_configs(self.store))

    def delete(self, dataset_id: str, name: str) -> None:
        """Delete the configs of a dataset.

        Raises:
            StoreError: one could not be written.
        """
        for config in self.of(dataset_id, name):
            self.store.update(CONFIGS, (config,), lambda _: ())
