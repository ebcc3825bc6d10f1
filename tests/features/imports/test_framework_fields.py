"""Each field of the results of promptfoo, inspect_ai and deepeval: what it becomes, and what is done without it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.features.imports.files import Imported, imported

from scoregate.errors import ImportFailed
from scoregate.kernel.types.evaluation import Threshold, Usage
from scoregate.kernel.types.event_values import SetupPart
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.test_outcomes import TestOutcome, TestOutcomes, identify_deepeval_case


def load(form: str, document: Any, **options: Any) -> Imported:
    return imported(form, json.dumps(document), **options)


def messages(case: CaseResult) -> list[tuple[str | None, str, str]]:
    return [(each.evaluator, each.error.type, each.error.message) for each in case.errors]


ROW: dict[str, Any] = {
    "testIdx": 0,
    "promptIdx": 0,
    "vars": {"q": "x"},
    "testCase": {},
    "success": True,
    "provider": {"id": "openai:gpt"},
    "prompt": {"label": "P", "raw": "P"},
    "response": {"output": "answer"},
    "gradingResult": {"pass": True, "componentResults": [{"pass": True, "score": 1, "assertion": {"type": "equals"}}]},
}


def promptfoo(*rows: dict[str, Any], **document: Any) -> Imported:
    results = {"results": [ROW | row for row in rows]} | document.pop("results", {})
    return load("promptfoo", {"config": {}, "results": results} | document, name="out.json")


def test_every_field_of_promptfoo() -> None:
    parts = [
        {
            "pass": True,
            "score": 0.5,
            "reason": "near",
            "assertion": {"type": "similar", "threshold": 0.4},
            "tokensUsed": {"prompt": 3, "completion": 2, "cached": 1},
        },
        {"pass": True, "score": 4, "reason": "a", "assertion": {"type": "g-eval", "metric": "stars"}},
        {"pass": True, "score": 1, "reason": "no assertion"},
    ]
    row = {
        "testCase": {
            "description": "d",
            "vars": {"q": "x"},
            "metadata": {"topic": "law", "conversationId": "c1"},
            "assert": [1],
        },
        "vars": {"q": "x", "sessionId": "random"},
        "latencyMs": 250,
        "score": 0.75,
        "tokenUsage": {"prompt": 5, "completion": 6, "cached": 7},
        "cost": 0.5,
        "gradingResult": {
            "pass": True,
            "reason": "all good",
            "componentResults": parts,
            "namedScores": {"stars": 3, "text": "x"},
        },
    }
    config = {"description": "capitals", "metadata": {"scales": {"stars": [1, 5]}}}
    run = promptfoo(row, config=config, metadata={"promptfooVersion": "1.2.3"})
    (case,) = run.cases
    assert list(run.suites) == ["capitals"]
    assert (case.hash, case.input, case.output) == (
        "d",
        {"q": "x", "metadata": {"topic": "law", "conversationId": "c1"}},
        "answer",
    )
    assert (case.duration_ms, case.usage, case.cluster) == (250, Usage(5, 6, 7, 0.5), "c1")
    assert case.evaluations["passed"].metadata == {"reason": "all good", "score": 0.75}
    similar, stars = case.evaluations["similar"], case.evaluations["stars"]
    assert (similar.score, similar.threshold, similar.usage) == (0.5, Threshold(gte=0.4), Usage(3, 2, 1))
    assert similar.metadata == {"reason": "near", "passed": True}
    assert (stars.score, stars.metadata) == (0.5, {"value": 3, "scale": [1, 5], "reason": "a", "passed": True})
    assert case.evaluations.keys() == {"passed", "similar", "stars"}


def test_promptfoo_without_fields() -> None:
    run = promptfoo({"vars": {}})
    (case,) = run.cases
    assert list(run.suites) == ["out"]
    assert (case.hash, case.duration_ms, case.usage, case.cluster) == ("no variables", None, None, None)
    for lost in ("config", "results"):
        document: dict[str, Any] = {"config": {}, "results": {"results": [ROW]}}
        del document[lost]
        with pytest.raises(ImportFailed, match=r"it has no `results\.results` and `config`"):
            load("promptfoo", document)


def test_repeats_of_promptfoo_are_those_of_its_settings() -> None:
    rows = [{"testIdx": number} for number in (2, 0, 1, 3)]
    for document in ({"runtimeOptions": {"repeat": 2}}, {"config": {"evaluateOptions": {"repeat": 2}}}):
        found = [(case.hash, case.repeat) for case in promptfoo(*rows, **document).cases]
        assert found == [("q=x", 0), ("q=x #2", 0), ("q=x", 1), ("q=x #2", 1)]
    assert [case.repeat for case in promptfoo(*rows).cases] == [0] * 4


def test_variables_name_a_test_without_a_description() -> None:
    (case,) = promptfoo({"vars": {"a": 1, "b": "x"}}).cases
    assert case.hash == "a=1, b=x"
    first, second = promptfoo({"vars": {"q": "x" * 41 + "1"}}, {"vars": {"q": "x" * 41 + "2"}}).cases
    assert first.hash.startswith(f"q={'x' * 40}… ")
    assert len(first.hash) == len(f"q={'x' * 40}… ") + 8
    assert first.hash != second.hash
    shared = promptfoo(
        {"vars": {"q": 1}, "testCase": {"description": "d"}}, {"vars": {"q": 2}, "testCase": {"description": "d"}}
    )
    assert [each.hash for each in shared.cases] == ["d (q=1)", "d (q=2)"]


def test_providers_and_prompts_name_the_suites_if_there_are_several() -> None:
    other = {"provider": {"id": "anthropic:claude", "label": "careful"}, "promptIdx": 1}
    run = promptfoo({}, other)
    assert list(run.suites) == ["out [provider=openai:gpt]", "out [provider=careful]"]
    setups = [suite.setup for suite in run.suites.values()]
    assert [setup.model for setup in setups if setup] == [
        SetupPart("", "openai:gpt", 0),
        SetupPart("careful", "anthropic:claude", 1),
    ]
    text = promptfoo(
        {},
        {"promptIdx": 1, "prompt": {"label": "brief", "raw": "x"}},
        results={"prompts": [{"label": "P", "raw": "P"}, {"label": "brief", "raw": "text"}]},
    )
    assert list(text.suites) == ["out [prompt=1]", "out [prompt=brief]"]
    for label in ("with {{q}}", "two\nlines", "x" * 61):
        found = promptfoo(
            {},
            {"promptIdx": 1, "prompt": {"label": label}},
            results={"prompts": [{"label": "P", "raw": "P"}, {"label": label, "raw": "y"}]},
        )
        assert list(found.suites) == ["out [prompt=1]", "out [prompt=2]"]
    unlisted = promptfoo({"prompt": {"label": "one"}}, {"promptIdx": 1, "prompt": {"label": "two"}})
    assert list(unlisted.suites) == ["out [prompt=one]", "out [prompt=two]"]
    plain = promptfoo({"provider": "echo"}, {"provider": "own", "promptIdx": 1})
    assert list(plain.suites) == ["out [provider=echo]", "out [provider=own]"]


def test_errors_of_providers_and_verdicts_that_are_none() -> None:
    failed = {"success": False, "gradingResult": None, "error": "refused"}
    assert messages(promptfoo(failed | {"failureReason": 2}).cases[0]) == [(None, "ProviderError", "refused")]
    assert messages(promptfoo(failed).cases[0]) == [(None, "ProviderError", "refused")]
    assertion = promptfoo(failed | {"gradingResult": {"pass": False}, "failureReason": 1}).cases[0]
    assert (assertion.status, assertion.evaluations["passed"].metadata) == (Status.FAILED, {"reason": "refused"})
    (case,) = promptfoo({"success": "yes"}).cases
    assert messages(case) == [("passed", "NoVerdict", "`success` is neither true nor false: yes")]


def test_answers_from_the_cache_have_no_cost() -> None:
    cached = {"response": {"output": "a", "cached": True}}
    run = promptfoo(cached, {"testIdx": 1})
    assert run.cases[0].usage == Usage(cost=0.0, cached=True)
    assert run.notes == [
        "promptfoo read 1 of 2 answers from its cache, so they were measured earlier. Add --no-cache to the command of "
        "promptfoo."
    ]
    for provider in ("exec:x", "http://x", "own"):
        with pytest.raises(ImportFailed, match=f"promptfoo read all 1 answers of {provider} from its cache"):
            promptfoo(
                cached | {"provider": {"id": provider}},
                {"testIdx": 1, "response": {}, "promptIdx": 0, "provider": {"id": provider}},
            )
    assert promptfoo(cached).notes[0].startswith("promptfoo read 1 of 1 answers")


SAMPLE: dict[str, Any] = {"id": "one", "epoch": 1, "input": "q", "target": "t", "scores": {"match": {"value": "C"}}}


def inspect(*samples: dict[str, Any], **spec: Any) -> Imported:
    header = {"task": "capitals", "model": "m"} | spec
    return load("inspect", {"eval": header, "status": "success", "samples": [SAMPLE | each for each in samples]})


def test_every_field_of_inspect() -> None:
    sample = {
        "input": [{"role": "user", "content": "attachment://a", "id": "r1"}],
        "epoch": 3,
        "output": {
            "completion": "",
            "choices": [{"message": {"content": [{"type": "text", "text": "out", "id": "r2"}]}}],
        },
        "attachments": {"a": "long text"},
        "working_time": 1.5,
        "total_time": 9,
        "error_retries": [{}, {}],
        "model_usage": {
            "m": {
                "input_tokens": 5,
                "output_tokens": 2,
                "input_tokens_cache_read": 3,
                "input_tokens_cache_write": 4,
                "total_cost": 0.5,
            }
        },
        "metadata": {"document": "d1", "topic": "law"},
        "scores": {
            "judge": {
                "value": {"stars": 4, "tone": "kind", "none": None},
                "explanation": "e",
                "answer": "a",
                "metadata": {"x": 1},
            }
        },
    }
    scorer = {"scorers": [{"metrics": [{"name": "stderr", "options": {"cluster": "document"}}]}]}
    run = inspect(sample, metadata={"scales": {"judge.stars": [1, 5]}}, packages={"inspect_ai": "0.3"}, **scorer)
    (case,) = run.cases
    assert (case.hash, case.repeat, case.attempts, case.duration_ms) == ("one", 2, 3, 1500)
    assert case.input == {
        "input": [{"role": "user", "content": "long text"}],
        "metadata": {"document": "d1", "topic": "law"},
    }
    assert case.output == [{"type": "text", "text": "out"}]
    assert (case.usage, case.cluster) == (Usage(12, 2, 3, 0.5, "m"), "d1")
    stars = case.evaluations["judge.stars"]
    assert (stars.score, case.unscored) == (0.75, ("judge.none",))
    assert stars.metadata == {
        "value": 4,
        "scale": [1, 5],
        "reason": "e",
        "answer": "a",
        "labels": {"judge.tone": "kind"},
        "metadata": {"x": 1},
    }


def test_scores_of_inspect_are_words_numbers_or_labels() -> None:
    words = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "TRUE": 1, "No": 0, "false": 0, "0.25": 0.25}
    for value, score in [*words.items(), (True, 1), (False, 0), (0.5, 0.5)]:
        (case,) = inspect({"scores": {"s": {"value": value}}}).cases
        assert case.evaluations["s"].score == score
        assert case.evaluations["s"].threshold is None
    (listed,) = inspect(
        {"scores": {"s": {"value": [1, 0]}, "t": {"value": "good"}, "u": {"value": "inf"}, "v": {"value": "  "}}}
    ).cases
    assert {name: each.score for name, each in listed.evaluations.items()} == {"s.0": 1, "s.1": 0}
    assert {name: each.label for name, each in listed.labels.items()} == {"t": "good", "u": "inf", "v": "(empty)"}
    (long,) = inspect({"scores": {"s": {"value": "x" * 101}}}).cases
    assert long.labels["s"].label == "x" * 100 + "…"


@pytest.mark.parametrize("why", ["grader_failed", "scoring_failed"])
def test_a_grader_of_inspect_that_failed_is_an_error(why: str) -> None:
    (case,) = inspect({"scores": {"s": {"value": float("nan"), "reason": why}, "t": {"value": None}}}).cases
    assert messages(case) == [("s", "NoScore", f"its grader returned no score: {why}")]
    assert case.unscored == ("t",)
    (explained,) = inspect({"scores": {"s": {"value": None, "reason": why, "explanation": "x" * 2001}}}).cases
    assert messages(explained)[0][2] == f"its grader returned no score: {'x' * 2000}"
    (fine,) = inspect({"scores": {"s": {"value": None, "reason": "other"}}}).cases
    assert (fine.errors, fine.unscored) == ([], ("s",))


def test_ids_of_inspect_within_the_size_of_the_dataset_are_positions() -> None:
    for own, size, name in (
        (1, 3, "1: q"),
        (3, 3, "3: q"),
        (4, 3, "4"),
        (7, None, "7: q"),
        (0, 3, "0"),
        ("1", 3, "1"),
    ):
        (case,) = inspect({"id": own}, dataset={"samples": size}).cases
        assert case.name == name, (own, size)
    (case,) = inspect({"id": "case 3"}).cases
    assert case.name == "case 3: q"


def test_the_time_and_the_usage_of_a_sample_may_be_unknown() -> None:
    (case,) = inspect({"total_time": 9, "working_time": None}).cases
    assert (case.duration_ms, case.usage, case.output, case.attempts) == (9000, None, None, 1)
    used = {"a": {"input_tokens": 1, "output_tokens": 2}, "b": {"input_tokens": 3, "total_cost": 0.25}}
    (two,) = inspect({"model_usage": used, "output": {"completion": "done"}}).cases
    assert (two.usage, two.output) == (Usage(4, 2, 0, 0.25), "done")
    (failed,) = inspect({"error": {"message": "boom", "traceback": "at"}}).cases
    assert messages(failed) == [(None, "SampleError", "boom")]


def test_arguments_and_the_model_tell_suites_of_inspect_apart() -> None:
    run = inspect({}, task_args_passed={"level": 2})
    assert list(run.suites) == ["capitals"]
    (suite,) = run.suites.values()
    assert suite.setup is not None
    assert (suite.setup.model, bool(suite.setup.arguments.value)) == (SetupPart(value="m"), True)
    (plain,) = inspect({}).suites.values()
    assert plain.setup is not None
    assert plain.setup.arguments == SetupPart()


def deepeval(*cases: dict[str, Any], **document: Any) -> Imported:
    return load(
        "deepeval", {"testCases": [{"name": "a", "input": "q", "success": True} | each for each in cases]} | document
    )


def metric(score: Any = 0.7, success: Any = True, **fields: Any) -> dict[str, Any]:
    return {"name": "Brief", "score": score, "success": success, "threshold": 0.5, **fields}


def test_every_field_of_deepeval() -> None:
    one = metric(reason="short", evaluationModel="judge", inputTokenCount=3, outputTokenCount=4, evaluationCost=0.5)
    case_of = {
        "expectedOutput": "e",
        "actualOutput": "out",
        "completionTime": 0.5,
        "inputTokenCount": 5,
        "outputTokenCount": 6,
        "tokenCost": 0.25,
        "additionalMetadata": {"topic": "law"},
        "metricsData": [one, metric(name="Brief")],
    }
    run = deepeval(case_of, identifier="nightly", testFile="t.py")
    ((name, suite),) = run.suites.items()
    (case,) = run.cases
    assert (name, list(suite.evaluators)) == ("nightly", ["Brief", "Brief #2"])
    assert suite.evaluators["Brief"].fingerprint.model == "judge"
    assert (case.hash, case.input, case.output) == ("a", {"input": "q", "metadata": {"topic": "law"}}, "out")
    assert (case.duration_ms, case.usage) == (500, Usage(5, 6, cost=0.25))
    brief = case.evaluations["Brief"]
    assert (brief.score, brief.threshold, brief.metadata) == (0.7, Threshold(gte=0.5), {"reason": "short"})
    assert brief.usage == Usage(3, 4, cost=0.5, model="judge")
    assert list(deepeval({}, testFile="t.py", datasetAlias="set").suites) == ["t.py"]
    assert list(deepeval({}, datasetAlias="set").suites) == ["set"]
    with pytest.raises(ImportFailed, match="it has no `testCases`"):
        load("deepeval", {})


def test_metrics_of_deepeval_without_a_verdict_or_a_score() -> None:
    def only(one: dict[str, Any], success: bool = True) -> CaseResult:
        return deepeval({"metricsData": [one], "success": success}).cases[0]

    flaky = only(metric(0.1, False, flaky=True)).evaluations["Brief"]
    assert (flaky.threshold, flaky.metadata) == (None, {"passed": False})
    verdict = only(metric(None, True)).evaluations["Brief"]
    assert (verdict.score, verdict.threshold) == (1, Threshold(gte=1))
    failed = only(metric(None, False, error="boom"), success=False)
    assert messages(failed) == [("Brief", "MetricError", "boom")]
    assert failed.evaluations == {}
    assert messages(only(metric(None, None))) == [("Brief", "NoScore", "it returned no score")]


def test_the_direction_of_a_metric_is_that_of_most_of_its_verdicts() -> None:
    lower, higher = metric(0.3, True), metric(0.7, True)
    for metrics, higher_is_better in (
        ([lower], False),
        ([higher], True),
        ([lower, higher], True),
        ([lower, lower, higher], False),
    ):
        run = deepeval(*({"name": f"c{index}", "metricsData": [each]} for index, each in enumerate(metrics)))
        (suite,) = run.suites.values()
        assert suite.evaluators["Brief"].higher_is_better is higher_is_better


def test_a_case_of_deepeval_that_fails_without_a_failed_metric() -> None:
    case = deepeval({"success": False, "metricsData": [metric()]}).cases[0]
    assert (case.status, case.evaluations["passed"].passed) == (Status.FAILED, False)
    assert "passed" not in deepeval({"success": False, "metricsData": [metric(0.3, False)]}).cases[0].evaluations
    assert deepeval({}).cases[0].evaluations["passed"].passed is True
    assert deepeval({"success": None}).cases[0].status is Status.UNSCORED


def test_conversations_of_deepeval() -> None:
    turns = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "why"},
    ]
    conversation = {"name": "conversational_test_case_0", "turns": turns, "success": True}
    run = load(
        "deepeval", {"conversationalTestCases": [conversation, conversation | {"scenario": "asks", "name": "own"}]}
    )
    first, second = run.cases
    assert (first.input, first.output, second.input) == (["hi", "why"], turns, "asks")
    assert first.name.startswith("conversational_test_case_0: ")
    assert (second.name, second.hash) == ("own", "own")


def test_attachments_are_restored_up_to_twenty_levels() -> None:
    for levels, restored in ((20, True), (21, False)):
        value: Any = "attachment://a"
        for _ in range(levels):
            value = [value]
        (case,) = inspect({"input": value, "attachments": {"a": "long text"}}).cases
        assert ("long text" in json.dumps(case.input)) is restored


def test_every_suite_that_was_read_is_complete() -> None:
    runs = (
        promptfoo({}),
        inspect({}),
        deepeval({}),
        load("pydantic-evals", {"name": "e", "cases": [{"name": "a"}], "failures": []}),
    )
    assert [suite.complete for run in runs for suite in run.suites.values()] == [True] * 4


def test_a_metric_that_a_test_expects_to_fail_keeps_its_reason() -> None:
    test = TestOutcome("t.py::a", None, (identify_deepeval_case("a", "q"),))
    document = {
        "testCases": [{"name": "a", "input": "q", "success": False, "metricsData": [metric(0.1, False, reason="r")]}]
    }
    (case,) = load("deepeval", document, tests=TestOutcomes.parse(test.to_line())).cases
    assert case.evaluations["Brief"].metadata == {"reason": "r", "passed": False}
    assert case.evaluations["passed"].metadata == {"reason": "the test passed, though a metric failed"}


def test_numbers_that_deepeval_gives_are_no_names() -> None:
    run = deepeval({"name": "test_case_0"}, {"name": "test_case_1"}, {"name": "test_case_2", "input": "r"})
    first, second, third = run.cases
    assert [(case.hash == first.hash, case.repeat) for case in (first, second, third)] == [
        (True, 0),
        (True, 1),
        (False, 0),
    ]
    own = deepeval({"name": "case 1"}, {"name": "case 2"})
    assert len({case.hash for case in own.cases}) == 2
