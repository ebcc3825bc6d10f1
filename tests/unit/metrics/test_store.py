"""Metrics in the store, in tables and in code: how they are read, and errors in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoregate.errors import MetricError, StoreError
from scoregate.metrics import (
    BehaviorJudge,
    CategoricalJudge,
    ConversationalJudge,
    FunctionMetric,
    GoalAchievementJudge,
    NumericJudge,
    behavior_judge,
    metric,
    read_metric,
    read_metrics,
)
from scoregate.metrics.scorers import metric_fingerprint
from scoregate.store import METRICS, Store, StoredMetric, open_store

POLITE = NumericJudge('Is it "polite"?\n\nVery?', name="Polite & short", min_score=1, max_score=5, threshold=4)
EVERY = [
    POLITE,
    NumericJudge("x", model="openai/gpt-4.1", evaluation_steps="a\nb", reasoning="r", evaluation_examples="e"),
    NumericJudge("x", threshold_operator="!=", metric_scope="single-turn", metric_type="style", description="d"),
    CategoricalJudge("Which?", name="tone", categories=["a", "b"], passing_categories="b", requires_ground_truth=False),
    CategoricalJudge("Which?", name="source", categories=["a", "b"], passing_categories="b", requires_context=True),
    ConversationalJudge("Calm?", name="calm"),
    GoalAchievementJudge(name="goal", required_criteria=["a"], prohibited_criteria=["b"]),
    behavior_judge("openai/gpt-4.1"),
]
CODE = """
from scoregate.metrics import NumericJudge, metric
from scoregate.testing.evaluators import BaseHasAllSubstrings

class Polite(NumericJudge):
    def __init__(self, most=5):
        super().__init__("Is it polite?", name="polite", min_score=1, max_score=most)

class Words(BaseHasAllSubstrings):
    id = "words"
    def test_case_mapper(self, test_case): return ["a"]
    def output_mapper(self, output): return output

class Broken:
    def __init__(self): raise RuntimeError("no luck")

@metric("short", "binary", "few words")
def short(input, output):
    return {"score": len(output) < 9}

calm = NumericJudge("Is it calm?", name="calm")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the project's metrics."""
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path))
    return tmp_path / ".scoregate" / "metrics"


@pytest.fixture
def store(folder: Path) -> Store:  # noqa: ARG001
    return open_store()


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The user's module `my_metrics`."""
    (tmp_path / "my_metrics.py").write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_metrics", None)


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.name)
def test_a_config_round_trips(metric: Any) -> None:
    config = metric.to_config()
    assert config["class_name"] == type(metric).__name__
    assert type(metric).from_config(config) == metric
    assert type(metric).from_dict(metric.to_dict()) == metric


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.name)
def test_pushed_metrics_are_pulled(metric: Any, store: Store) -> None:
    restored = type(metric).from_config(metric.to_config())
    stored = restored.push()
    assert restored.id == stored["id"]
    assert type(metric).pull(id=restored.id) == restored
    assert type(metric).pull(name=metric.name.upper()) == restored
    assert read_metric(metric.name) == read_metric(restored.id) == restored
    assert metric_fingerprint(read_metric(restored.id, store=store)) == metric_fingerprint(metric)


def test_a_document_keeps_comments(folder: Path) -> None:
    NumericJudge.from_config(POLITE.to_config()).push()
    file = folder / "polite-short.toml"
    text = file.read_text(encoding="utf-8")
    assert 'kind = "numeric"' in text
    assert "threshold = 4" in text
    file.write_text(f"# Agreed in May.\n{text}", encoding="utf-8")
    again = NumericJudge.pull(name="polite & short")
    NumericJudge.from_config({**again.to_config(), "threshold": 5}).push()
    assert file.read_text(encoding="utf-8").startswith("# Agreed in May.\n")
    assert NumericJudge.pull(id="polite-short").threshold == 5


def test_ids_are_unique_and_names_can_be_shared() -> None:
    first, second = (NumericJudge("x", name="Tone") for _ in range(2))
    assert [each.push()["id"] for each in (first, second)] == ["tone", "tone-2"]
    assert NumericJudge("x", name="Tone", id="tone-2", threshold=1).push()["id"] == "tone-2"
    with pytest.raises(ValueError, match=r"More than one entity found with name 'TONE'.*IDs: tone, tone-2"):
        NumericJudge.pull(name="TONE")
    with pytest.raises(MetricError, match="More than one"):
        read_metric("TONE")
    assert NumericJudge.pull(id="tone-2").threshold == 1


def test_pull_errors_are_named() -> None:
    NumericJudge("x", name="polite").push()
    with pytest.raises(ValueError, match="Either id or name must be provided"):
        NumericJudge.pull()
    with pytest.raises(ValueError, match="No entity found with name 'rude'"):
        NumericJudge.pull(name="rude")
    with pytest.raises(ValueError, match="No entity found with id 'rude'"):
        NumericJudge.pull(id="rude")
    with pytest.raises(ValueError, match="'polite' is of kind numeric, not a CategoricalJudge"):
        CategoricalJudge.pull(name="Polite")
    with pytest.raises(ValueError, match="config of a 'NumericJudge', not of a CategoricalJudge"):
        CategoricalJudge.from_config(POLITE.to_config())


def test_a_document_names_a_custom_class() -> None:
    class Mine(NumericJudge):
        pass

    with pytest.raises(MetricError, match=r'(?s)class of your own, Mine.*use = "module:Mine"'):
        Mine("x").push()
    with pytest.raises(MetricError, match="function within another"):
        metric("m")(lambda input, output: None).push()  # noqa: A006, ARG005


TABLES: list[tuple[dict[str, Any], type]] = [
    ({"kind": "numeric", "prompt": "x", "min_score": 1, "max_score": 3, "threshold_operator": "<"}, NumericJudge),
    ({"kind": "numeric", "evaluation_prompt": "x", "evaluation_steps": "y"}, NumericJudge),
    ({"kind": "categorical", "prompt": "x", "categories": ["a", "b"], "passing_categories": ["a"]}, CategoricalJudge),
    ({"kind": "conversational", "prompt": "x"}, ConversationalJudge),
    ({"kind": "goal"}, GoalAchievementJudge),
    ({"kind": "behavior", "model": "openai/gpt-4.1"}, BehaviorJudge),
]


@pytest.mark.parametrize(("table", "cls"), TABLES)
def test_a_table_is_a_metric(table: dict[str, Any], cls: type) -> None:
    assert type(read_metric(table)) is cls


def test_the_default_needs_no_document_and_can_be_replaced() -> None:
    assert read_metrics(["behavior", POLITE]) == [behavior_judge(), POLITE]
    NumericJudge("x", name="behavior").push()
    assert type(read_metric("behavior")) is NumericJudge


BAD: list[tuple[Any, str]] = [
    ("polite", "there is no metric 'polite'"),
    ({"prompt": "x"}, "the metric '': a metric has either a kind or the code"),
    ({"kind": "numeric", "use": "a:b"}, "either a kind or the code"),
    ({"kind": "numeric", "with": {"a": 1}}, "`with` needs `use`"),
    ({"kind": "odd"}, "kind: must be 'numeric'"),
    ({"kind": "numeric"}, "'NumericJudge' needs an evaluation_prompt"),
    ({"kind": "numeric", "prompt": "x", "treshold": 1}, "treshold: there is no such field"),
    ({"kind": "numeric", "prompt": "x", "categories": ["a"]}, "a NumericJudge has no categories"),
    ({"kind": "behavior", "prompt": "x"}, "a BehaviorJudge has no prompt"),
    ({"kind": "numeric", "prompt": "x", "threshold": 3}, "'NumericJudge': threshold must lie from 0 to 1"),
    ({"use": "my_metrics"}, "uses 'my_metrics', which cannot be loaded: ValueError: it is not written as module:name"),
    ({"use": "no_such_module:X"}, "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
    ({"use": "json:Nothing"}, "cannot be loaded: AttributeError"),
    ({"use": "json:dumps"}, "'json:dumps', which is neither a metric nor an evaluator"),
    ({"name": "m", "use": "datetime:datetime"}, "'m' uses 'datetime:datetime', which cannot be loaded: TypeError"),
]


@pytest.mark.parametrize(("document", "message"), BAD)
def test_an_invalid_metric_has_a_position(document: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message) as exc_info:
        read_metric(document, where="tests.toml")
    assert exc_info.value.message.startswith("tests.toml: ")


@pytest.mark.usefixtures("code")
def test_code_is_used_as_it_is_or_with_arguments() -> None:
    polite = read_metric({"use": "my_metrics:Polite", "with": {"most": 9}})
    assert (polite.name, polite.max_score) == ("polite", 9)
    assert read_metric({"use": "my_metrics:Polite"}).max_score == 5
    assert read_metric({"use": "my_metrics:Words"}).id == "words"
    assert read_metric({"use": "my_metrics:calm"}).name == "calm"
    with pytest.raises(MetricError, match="cannot be loaded: RuntimeError: no luck"):
        read_metric({"use": "my_metrics:Broken"})
    with pytest.raises(MetricError, match="cannot be loaded: TypeError"):
        read_metric({"use": "my_metrics:Polite", "with": {"least": 9}})
    with pytest.raises(MetricError, match="takes no arguments"):
        read_metric({"use": "my_metrics:calm", "with": {"least": 9}})


@pytest.mark.usefixtures("code")
def test_a_function_is_stored_by_name() -> None:
    short = read_metric({"use": "my_metrics:short"})
    assert isinstance(short, FunctionMetric)
    stored = short.push()
    assert (stored["use"], stored["id"]) == ("my_metrics:short", "short")
    assert read_metric("short") is read_metric(short.to_config()) is short
    with pytest.raises(MetricError, match="is code, my_metrics:short, not a FunctionMetric"):
        FunctionMetric.pull(name="short")


def test_a_broken_document_has_a_line(folder: Path, store: Store) -> None:
    NumericJudge("x", name="polite").push()
    odd = folder / "odd.toml"
    odd.write_text('kind = "numeric"\nprompt = 3\n', encoding="utf-8")
    with pytest.raises(StoreError, match=r"odd\.toml:2: prompt: must be a valid string"):
        read_metric("odd")
    odd.write_text('kind = "numeric"\nprompt = "x"\nthreshold = 7\n', encoding="utf-8")
    with pytest.raises(MetricError, match=r"odd\.toml: .*threshold must lie from 0 to 1, not at 7"):
        read_metric("odd", store=store)
    (folder / "copy.toml").write_text((folder / "polite.toml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(StoreError, match="has the id 'polite'"):
        read_metric("copy")


def test_arguments_are_stored(folder: Path, store: Store) -> None:
    stored = StoredMetric.model_validate({"name": "m", "use": "a:B", "with": {"most": 9, "words": ["a"]}})
    store.update(METRICS, ("m",), lambda _: [stored])
    text = (folder / "m.toml").read_text(encoding="utf-8")
    assert "with" in text
    assert "arguments" not in text
    assert next(store.read(METRICS, ("m",))).arguments == {"most": 9, "words": ["a"]}
