"""Test configs: checked when created, found by name or id, editable by people."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from scoregate.client import Client
from scoregate.errors import JudgmentConflictError, JudgmentValidationError, StoreError
from scoregate.judges import TestConfig, TestConfigs
from scoregate.store import CONFIGS


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = Client(store=tmp_path)
    client.datasets.create("golden-set", examples=[{"input": "Hi", "expected": "Hello"}])
    client.judges.create("helpfulness", "{{input}}: {{output}}, {{trace}}?")
    client.judges.create("faithfulness", "{{expected}}")
    return client


@pytest.fixture
def configs(client: Client) -> TestConfigs:
    return client.test_configs


def file_of(client: Client, name: str) -> Path:
    return Path(client.store.location(CONFIGS, (name,)))


def test_a_config_binds_a_dataset_to_judges(client: Client, configs: TestConfigs) -> None:
    config = configs.create("nightly", "golden-set", ["helpfulness", "faithfulness"], "every night")
    assert UUID(config.id).version == 4
    assert config.dataset_id == client.datasets.get("golden-set").dataset_id
    assert [(judge.name, judge.judge_type, judge.score_type) for judge in config.judges] == [
        ("helpfulness", "prompt", "binary"),
        ("faithfulness", "prompt", "binary"),
    ]
    assert configs.get("nightly") == configs.get(config.id) == config
    assert configs.list() == configs.list(config.dataset_id) == [config]
    assert configs.list("other") == []
    assert configs.delete(config.id) is True
    assert (configs.delete(config.id), configs.get("nightly"), configs.list()) == (False, None, [])


def test_a_config_can_be_read_as_judgevals(client: Client, configs: TestConfigs) -> None:
    config = configs.create("nightly", "golden-set", ["helpfulness", "faithfulness"])
    judge = client.judges.get("helpfulness")
    assert judge is not None
    expected = {"id": judge.id, "name": "helpfulness", "judge_type": "prompt", "score_type": "binary"}
    assert dict(config.judges[0]) == {"judge_id": judge.id, "user_id": None, "judge": expected}
    assert [each["judge"]["name"] for each in config.judges] == ["helpfulness", "faithfulness"]
    assert config.judges[0] == config.judges[0] != config.judges[1]
    with pytest.raises(KeyError):
        config.judges[0]["name"]
    bare = TestConfig(id="c1", name="nightly", dataset_id="d1")
    assert (bare.dataset, bare.judges, bare.description, bare.created_at) == ("d1", (), None, None)


def test_a_single_judge_is_no_list_of_judges(configs: TestConfigs) -> None:
    single: list[Any] = ["gg", {"name": "helpfulness"}, UUID(int=1)]
    for judges in single:
        with pytest.raises(TypeError, match="judges must be a list"):
            configs.create("nightly", "golden-set", judges)


def test_judges_and_datasets_can_be_ids_and_dicts(client: Client, configs: TestConfigs) -> None:
    judge, dataset = client.judges.get("helpfulness"), client.datasets.get("golden-set")
    assert judge is not None
    given: list[Any] = [judge.id, UUID(judge.id), {"judge_id": judge.id}, {"name": "helpfulness"}, "helpfulness"]
    for number, entry in enumerate(given):
        config = configs.create(f"c{number}", dataset.dataset_id, [entry])
        assert [each.judge_id for each in config.judges] == [judge.id]
    assert len(configs.create("all", "golden-set", given).judges) == 1
    assert 'dataset = "golden-set"\njudges = ["helpfulness"]\n' in file_of(client, "c0").read_text()


@pytest.mark.parametrize("entry", [1, None, {}, {"id": "x"}, "", ["helpfulness"]])
def test_entries_must_name_judges(configs: TestConfigs, entry: Any) -> None:
    with pytest.raises(ValueError, match="judges entries must be judge names or dicts with a 'judge_id' or 'name' key"):
        configs.create("n", "golden-set", [entry])


@pytest.mark.parametrize(
    ("name", "dataset", "judges", "message"),
    [
        ("n", "golden-set", ["nope"], "Failed to create test config 'n': Judges not found: nope"),
        ("n", "nope", ["helpfulness"], "Failed to create test config 'n': Dataset not found: nope"),
        ("n", "golden-set", [], "Failed to create test config 'n': it needs at least one judge"),
        ("", "golden-set", ["helpfulness"], "a name must be a string"),
        (
            "n",
            "golden-set",
            ["helpfulness", "picky"],
            "Failed to create test config 'n': Judge 'picky 0.0' asks for {{context}}, {{a b}}, which the dataset"
            " 'golden-set' does not have\nIts fields are expected, input;",
        ),
    ],
)
def test_a_mismatch_is_reported_and_nothing_stored(
    client: Client, configs: TestConfigs, name: str, dataset: str, judges: list[str], message: str
) -> None:
    client.judges.create("picky", "{{input}} {{context}} {{ a b }} {{output}} {{ 'not a name' }} {% x %}")
    with pytest.raises(JudgmentValidationError) as exc_info:
        configs.create(name, dataset, judges)
    assert message in str(exc_info.value)
    assert configs.list() == []


def test_the_version_in_use_must_fit(client: Client, configs: TestConfigs) -> None:
    client.judges.update("helpfulness", prompt="{{context}}")
    with pytest.raises(JudgmentValidationError, match=r"'helpfulness 0\.1' asks for {{context}}"):
        configs.create("n", "golden-set", ["helpfulness"])
    client.judges.tag("helpfulness", version="0.0")
    assert configs.create("n", "golden-set", ["helpfulness"]).name == "n"


def test_a_name_is_unique_and_a_used_judge_is_not_deleted(client: Client, configs: TestConfigs) -> None:
    config = configs.create("nightly", "golden-set", ["helpfulness"])
    with pytest.raises(JudgmentConflictError, match="there is a test config 'nightly' already"):
        configs.create("nightly", "golden-set", ["faithfulness"])
    with pytest.raises(JudgmentConflictError, match="'helpfulness' is used by the test configs nightly"):
        client.judges.delete("helpfulness")
    assert client.judges.delete("faithfulness") is True
    assert configs.delete(config.id) is True
    assert client.judges.delete("helpfulness") is True


def test_a_dataset_is_deleted_with_configs(client: Client, configs: TestConfigs) -> None:
    configs.create("nightly", "golden-set", ["helpfulness"])
    assert client.datasets.list()[0].test_config_count == 1
    with pytest.raises(JudgmentValidationError, match="test configs use it: nightly"):
        client.datasets.create(
            "golden-set", {"type": "object", "properties": {"a": {"type": "string"}}}, overwrite=True
        )
    client.datasets.delete("golden-set")
    assert configs.list() == []


def test_configs_count_by_name_and_id_of_a_dataset(client: Client, configs: TestConfigs) -> None:
    client.datasets.create("other", examples=[{"input": "Hi"}])
    configs.create("nightly", "golden-set", ["helpfulness"])
    path = file_of(client, "mine")
    path.write_text(f'dataset = "{client.datasets.get("golden-set").dataset_id}"\njudges = ["helpfulness"]\n')
    assert [(info.name, info.test_config_count) for info in client.datasets.list()] == [("golden-set", 2), ("other", 0)]
    with pytest.raises(JudgmentConflictError, match="is used by the test configs mine, nightly"):
        client.judges.delete("helpfulness")
    client.datasets.delete("golden-set")
    assert configs.list() == []


def test_handwritten_configs_work(client: Client, configs: TestConfigs) -> None:
    path = file_of(client, "mine")
    path.parent.mkdir(parents=True)
    path.write_text('dataset = "golden-set" # ours\njudges = ["helpfulness", "gone"]\n')
    found = configs.get("mine")
    assert isinstance(found, TestConfig)
    assert [(judge.judge_id, judge.name) for judge in found.judges][1] == ("gone", None)
    assert configs.get(found.id) == found
    path.write_text('dataset = "golden-set"\njudges = "helpfulness"\n')
    with pytest.raises(StoreError, match=r"mine\.toml:2: judges: must be a list"):
        configs.get("mine")
    path.write_text('name = "other"\ndataset = "golden-set"\njudges = ["helpfulness"]\n')
    with pytest.raises(StoreError, match="its `name` is 'other'"):
        configs.list()
