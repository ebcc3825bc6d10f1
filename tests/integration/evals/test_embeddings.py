"""`embedding_similarity`: what it asks for, what the vectors give, and answers that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.media import RED
from tests.fakes.openai import OpenAIServer
from tests.fakes.openai.embeddings import make_vector

from scoregate import Media, evaluate
from scoregate.scorers import embedding_similarity
from scoregate.scorers.embeddings import compute_cosine


def run(output: Any, wanted: Any = "we open at nine", **options: Any) -> Any:
    row = {"input": "Open?", **({} if wanted is None else {"expected": wanted})}
    return evaluate("demo", data=[row], task=lambda: output, scorers=embedding_similarity(**options))


def test_the_score_is_the_cosine_of_the_vectors(server: OpenAIServer) -> None:
    case = run("at nine we close", threshold=0.7).cases[0]
    evaluation = case.evaluations["embedding_similarity"]
    cosine = sum(a * b for a, b in zip(make_vector("at nine we close"), make_vector("we open at nine"), strict=True))
    assert evaluation.score == pytest.approx(cosine) == pytest.approx(0.75)
    assert evaluation.passed is True
    assert server.asked("*/embeddings") == [
        {
            "model": "text-embedding-3-small",
            "input": ["at nine we close", "we open at nine"],
            "encoding_format": "float",
        }
    ]
    assert evaluation.usage is not None
    assert (evaluation.usage.input_tokens, evaluation.usage.model) == (9, "text-embedding-3-small")


def test_answers_are_cached_priced_and_within_the_budget(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCOREGATE_CACHE", "on")
    monkeypatch.setenv("SCOREGATE_PRICES", json.dumps({"my-vectors": {"input": 1000.0}}))
    monkeypatch.chdir(tmp_path)
    for cached in (False, True):
        usage = run("at nine we close", model="my-vectors").cases[0].evaluations["embedding_similarity"].usage
        assert (usage.cached, usage.cost) == (cached, 0.0 if cached else pytest.approx(0.009))
    assert len(server.asked()) == 1
    monkeypatch.setenv("SCOREGATE_CACHE", "off")
    monkeypatch.setenv("SCOREGATE_MAX_TOKENS", "5")
    data = [{"input": number, "expected": "a b"} for number in range(3)]
    result = evaluate(
        "demo",
        data=data,
        task=lambda number: f"{number}",
        scorers=embedding_similarity(max_concurrency=1),
    )
    errors = [error.error.type for case in result.cases for error in case.errors]
    assert "BudgetSpent" in errors
    assert not result.passed


def test_equal_and_empty_texts_need_no_model(server: OpenAIServer) -> None:
    for output, expected, score in (("a", "a ", 1), ("", "a", 0), ("a", "\n", 0), ("", "", 1)):
        assert run(output, expected).scores == {"embedding_similarity": score}, (output, expected)
    assert server.requests == []
    assert run("Größe 😀", "Grö\ud800").scores == {"embedding_similarity": 0}
    assert server.asked()[0]["input"] == ["Größe 😀", "Grö?"]


def test_values_without_embeddings_are_errors_and_no_scores(server: OpenAIServer) -> None:
    for output, expected, message in (
        ("a", None, "embedding_similarity compares with `expected`, which this case lacks"),
        ("a" * 10_000_000, "b", "takes texts of up to 200,000 characters, and this one has 10,000,000"),
        ({"a": Media.from_bytes(RED)}, "b", "the output has an image, and embedding_similarity compares texts"),
        ("a", Media.from_bytes(RED), "the expected output has an image, and embedding_similarity compares texts"),
    ):
        (error,) = run(output, expected).cases[0].errors
        assert message in error.error.message
    assert server.requests == []


@pytest.mark.usefixtures("server")
def test_an_answer_without_vectors_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"index": 0, "embedding": [1.0, 0.0]}
    for data in (
        None,
        [one],
        [one, {"index": 1, "embedding": [1.0]}],
        [one, {"index": 1, "embedding": ["x", 0.0]}],
        [one, {"index": 1, "embedding": "AAAA"}],
        [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
    ):
        monkeypatch.setattr("tests.fakes.openai.embeddings.build_response", lambda _, found=data: {"data": found})
        (error,) = run("a", "b").cases[0].errors
        assert error.error.type == "MalformedAnswer", data
        assert "no vectors of one length for 2 texts" in error.error.message
    turned = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [-1, -1]}]
    monkeypatch.setattr("tests.fakes.openai.embeddings.build_response", lambda _: {"data": turned})
    found = run("a", "b").cases[0].evaluations["embedding_similarity"]
    assert (found.score, found.metadata["cosine"]) == (0, pytest.approx(-0.7071067811865475))


def test_an_unknown_model_and_a_missing_key_have_advice(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.models = ["gpt-4o"]
    (error,) = run("a", "b").cases[0].errors
    assert error.error.type == "ModelGone"
    monkeypatch.delenv("OPENAI_API_KEY")
    (error,) = run("a", "b").cases[0].errors
    assert (error.error.type, "OPENAI_API_KEY" in error.error.advice) == ("MissingKey", True)
    with pytest.raises(ValueError, match="needs the name of a model"):
        embedding_similarity(model=" ")


def test_a_fingerprint_has_the_model_and_the_expected_text(server: OpenAIServer) -> None:
    first, second, model, other = (
        next(iter(run("a", "a", **options).evaluators.values())).fingerprint
        for options in ({}, {"threshold": 0.5}, {"model": "m"}, {"expected": "a"})
    )
    assert first == second
    assert (first.model, model.model) == ("text-embedding-3-small", "m")
    assert first.parameters != other.parameters
    assert server.requests == []


def test_the_cosine_of_a_vector_without_length_is_zero() -> None:
    assert compute_cosine([0.0, 0.0], [1.0, 0.0]) == 0
    assert compute_cosine([1.0, 1.0], [2.0, 2.0]) == pytest.approx(1)
