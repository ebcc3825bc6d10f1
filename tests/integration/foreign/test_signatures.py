"""Functions that are offered under names of the SDKs take the arguments that the real packages take, in their order."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cached_environments import UV, cached_folder, install
from tests.integration.foreign.environment import PYTHON

from scoregate.datasets import Example
from scoregate.judges import AgentJudge, AgentJudges, TestConfig
from scoregate.models import get_model
from scoregate.testing.models import CreateHumanReviewJob, HumanReviewField
from scoregate.testing.run import RunManager, run_test_suite

PACKAGES = (PYTHON[0], "judgeval==1.6.0", "rhesis-sdk==0.6.8.post1")


@pytest.fixture(scope="module")
def sources() -> Path:
    """The packages without their dependencies: they are read, not run."""

    def make(folder: Path) -> None:
        command = [UV, "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
        install(command, what="signatures of the SDKs")

    return cached_folder("sdk-sources", PACKAGES, make)


def definitions(path: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The functions and classes of a module, methods by "Class.method"; of overloads the last."""

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Any]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield f"{prefix}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{node.name}.")

    return dict(walk(ast.parse(path.read_text("utf-8")).body, ""))


def arguments(path: Path, name: str) -> tuple[list[str], set[str]]:
    """The positional arguments of a function, and those that are keywords only."""
    node = definitions(path)[name]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    names = [each.arg for each in node.args.args if each.arg != "self"]
    return names, {each.arg for each in node.args.kwonlyargs}


def class_fields(path: Path, name: str) -> list[str]:
    node = definitions(path)[name]
    assert isinstance(node, ast.ClassDef)
    return [
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


AUTOBLOCKS, JUDGEVAL = "autoblocks/_impl/testing", "judgeval"
FUNCTIONS: list[tuple[str, str, Callable[..., Any]]] = [
    (f"{AUTOBLOCKS}/run.py", "run_test_suite", run_test_suite),
    (f"{AUTOBLOCKS}/run_manager.py", "RunManager.__init__", RunManager.__init__),
    (f"{AUTOBLOCKS}/run_manager.py", "RunManager.start", RunManager.start),
    (f"{AUTOBLOCKS}/run_manager.py", "RunManager.add_result", RunManager.add_result),
    (f"{AUTOBLOCKS}/run_manager.py", "RunManager.async_add_result", RunManager.async_add_result),
    (f"{AUTOBLOCKS}/run_manager.py", "RunManager.create_human_review_job", RunManager.create_human_review_job),
    (f"{AUTOBLOCKS}/run_manager.py", "RunManager.end", RunManager.end),
    (f"{JUDGEVAL}/agent_judges/agent_judge_factory.py", "AgentJudgeFactory.create", AgentJudges.create),
    (f"{JUDGEVAL}/agent_judges/agent_judge_factory.py", "AgentJudgeFactory.update", AgentJudges.update),
]
CLASSES: list[tuple[str, str, type]] = [
    (f"{AUTOBLOCKS}/models.py", "HumanReviewField", HumanReviewField),
    (f"{AUTOBLOCKS}/models.py", "CreateHumanReviewJob", CreateHumanReviewJob),
    (f"{JUDGEVAL}/agent_judges/agent_judge.py", "AgentJudge", AgentJudge),
    (f"{JUDGEVAL}/offline_tests/types.py", "TestConfig", TestConfig),
]


def test_functions_take_the_arguments_of_the_sdks(sources: Path) -> None:
    for file, name, own in FUNCTIONS:
        positional, keywords = arguments(sources / file, name)
        parameters = {each: how.kind for each, how in inspect.signature(own).parameters.items() if each != "self"}
        assert list(parameters)[: len(positional)] == positional, name
        assert all(parameters[each] is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in positional), name
        assert keywords <= parameters.keys(), name
        required = [each for each, how in inspect.signature(own).parameters.items() if how.default is how.empty]
        assert set(required) <= {"self", *positional, *keywords}, name


def test_classes_have_the_fields_of_the_sdks_in_their_order(sources: Path) -> None:
    for file, name, own in CLASSES:
        expected = class_fields(sources / file, name)
        assert [field.name for field in fields(own)][: len(expected)] == expected, name


def test_a_model_is_named_by_the_arguments_of_rhesis(sources: Path) -> None:
    positional, _ = arguments(sources / "rhesis/sdk/models/factory.py", "get_model")
    assert positional[:3] == ["provider", "model_name", "api_key"]
    values = dict(zip(positional[:3], ("ollama", "llama3.1", "key"), strict=True))
    assert get_model(*values.values()).name == get_model(**values).name == "ollama/llama3.1"


def test_an_example_has_the_properties_of_judgeval(sources: Path) -> None:
    assert {"Example.properties", "Example.create", "Example.to_dict"} <= definitions(
        sources / "judgeval/data/example.py"
    ).keys()
    example = Example.create(input="a")
    example.properties["input"] = "b"
    assert (example["input"], example.properties, "input" in example) == ("a", {"input": "a"}, True)
