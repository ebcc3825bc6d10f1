"""Names and signatures that users' suites rely on."""

from __future__ import annotations

import importlib
import inspect

import pytest

from scoregate import errors, exceptions

NAMES = {
    "scoregate.judges": [
        "BinaryResponse", "CategoricalResponse", "Category", "Citation", "Judge", "JudgeVersionPin", "JudgesFactory",
        "NumericResponse", "TestConfig",
    ],
    "scoregate.testing.run": ["RunManager", "grid_search_ctx", "run_test_suite"],
    "scoregate.testing.util": ["md5"],
    "scoregate.testing.models": [
        "Assertion", "BaseEvaluator", "BaseEventEvaluator", "BaseTestCase", "BaseTestEvaluator",
        "CreateHumanReviewJob", "Evaluation", "EvaluationOverride", "EvaluationOverrideComment",
        "EvaluationOverrideField", "EvaluationWithId", "HumanReviewField", "HumanReviewFieldContentType",
        "ScoreChoice", "TestCaseConfig", "Threshold", "TracerEvent",
    ],
    "scoregate.testing.evaluators": [
        "Assertions", "BaseAssertions", "BaseHasAllSubstrings", "BaseIsEquals", "BaseIsValidJSON",
        "HasAllSubstrings", "IsEquals", "IsValidJSON", "Accuracy", "AutomaticBattle", "BaseAccuracy",
        "BaseAutomaticBattle", "BaseCustomLLMJudge", "BaseLLMJudge", "BaseManualBattle", "BaseNSFW", "BaseToxicity",
        "CustomLLMJudge", "LLMJudge", "ManualBattle", "NSFW", "Toxicity",
        "BaseRagasContextEntitiesRecall", "BaseRagasFactualCorrectness", "BaseRagasFaithfulness",
        "BaseRagasLLMContextPrecisionWithReference", "BaseRagasLLMContextRecall", "BaseRagasNoiseSensitivity",
        "BaseRagasNonLLMContextPrecisionWithReference", "BaseRagasNonLLMContextRecall",
        "BaseRagasResponseRelevancy", "BaseRagasSemanticSimilarity",
    ],
}  # fmt: skip
FIELDS = {
    "Threshold": ["lt", "lte", "gt", "gte"],
    "Assertion": ["criterion", "passed", "required", "metadata"],
    "Evaluation": ["score", "threshold", "metadata", "assertions"],
    "EvaluationWithId": ["id", "score", "threshold", "metadata", "assertions"],
    "TestCaseConfig": ["repeat_num_times"],
    "ScoreChoice": ["value", "name"],
    "CreateHumanReviewJob": ["assignee_email_address", "name", "rubric_id"],
    "EvaluationOverride": ["original_score", "override_score", "input_fields", "output_fields", "comments"],
    "EvaluationOverrideField": ["id", "name", "value"],
    "EvaluationOverrideComment": ["field_id", "quoted_text", "comment_text"],
    "HumanReviewField": ["name", "value", "content_type"],
    "TracerEvent": ["message", "timestamp", "properties", "trace_id"],
}


def parameters(function: object, kind: object) -> list[str]:
    found = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [parameter.name for parameter in found if parameter.kind is kind]


@pytest.mark.parametrize("module", NAMES)
def test_every_documented_name_exists(module: str) -> None:
    loaded = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("name", FIELDS)
def test_models_have_fields_in_the_documented_order(name: str) -> None:
    model = getattr(importlib.import_module("scoregate.testing.models"), name)
    assert parameters(model, inspect.Parameter.POSITIONAL_OR_KEYWORD)[: len(FIELDS[name])] == FIELDS[name]


def test_run_test_suite_has_the_documented_order() -> None:
    from scoregate.testing.run import run_test_suite

    assert parameters(run_test_suite, inspect.Parameter.POSITIONAL_OR_KEYWORD) == [
        "id", "test_cases", "fn", "evaluators", "max_test_case_concurrency", "before_evaluators_hook",
        "grid_search_params", "human_review_job", "retry_count",
    ]  # fmt: skip
    assert {"test_case_hash", "assert_test", "timeout"} <= set(
        parameters(run_test_suite, inspect.Parameter.KEYWORD_ONLY)
    )


@pytest.mark.parametrize("name", ["start", "add_result", "create_human_review_job", "end"])
def test_every_step_of_a_run_manager_has_an_async_twin(name: str) -> None:
    from scoregate.testing.run import RunManager

    one, twin = getattr(RunManager, name), getattr(RunManager, f"async_{name}")
    assert inspect.iscoroutinefunction(twin)
    assert list(inspect.signature(one).parameters) == list(inspect.signature(twin).parameters)


def test_errors_are_also_in_the_judgeval_module() -> None:
    assert exceptions.JudgmentTestError is errors.JudgmentTestError
    assert exceptions.ScoregateError is errors.ScoregateError
    refused = (errors.JudgmentValidationError, errors.JudgmentConflictError)
    assert all(issubclass(each, exceptions.JudgmentAPIError) for each in refused)
    assert not issubclass(errors.JudgmentTestError, exceptions.JudgmentAPIError), "a failed test is not caught by it"


def test_pytest_does_not_collect_public_test_classes() -> None:
    from scoregate.testing import models

    assert not models.BaseTestCase.__test__
    assert not models.TestCaseConfig.__test__


@pytest.mark.parametrize("name", ["BaseTestCase", "BaseTestEvaluator", "BaseEventEvaluator", "BaseEvaluator"])
def test_base_classes_are_abstract(name: str) -> None:
    base = getattr(importlib.import_module("scoregate.testing.models"), name)
    with pytest.raises(TypeError, match="abstract"):
        type("Unfinished", (base,), {})()
