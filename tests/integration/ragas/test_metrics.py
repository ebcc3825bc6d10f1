"""Each of the ten metrics, as a suite in its own process, against a model whose answers are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.fakes.openai.embeddings import make_vector
from tests.integration.ragas.conftest import Place, Ran
from tests.integration.ragas.environment import Environment
from tests.integration.ragas.model import ASKED_BACK
from tests.integration.ragas.suites import NEWER, OF_ALL

QUESTION = "How tall is the Eiffel Tower?"
REFERENCE = "The Eiffel Tower is 300 meters tall. It stands in Paris."
RESPONSE = "The Eiffel Tower is 300 meters tall. It stands in Rome. Nobody visits."


def cosine(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(make_vector(one), make_vector(other), strict=True))


SCORES = {
    "ContextEntitiesRecall": 0.8,  # The, Eiffel, Tower, It, but not Paris
    "FactualCorrectness": 0.4,  # F1 of 1 in 3 claims and 1 in 2
    "Faithfulness": 2 / 3,
    "LLMContextPrecisionWithReference": 0.5,  # only the second text is useful
    "LLMContextRecall": 0.5,
    "NoiseSensitivity": 0.0,  # what is wrong stands in the text that does not help
    "NonLLMContextPrecisionWithReference": 0.5,
    "NonLLMContextRecall": 0.5,
    "ResponseRelevancy": cosine(QUESTION, ASKED_BACK),
    "SemanticSimilarity": cosine(REFERENCE, RESPONSE),
}


@pytest.fixture(scope="module")
def ran(environment: Environment, server: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    server.requests.clear()
    return Place(environment, server, Path(tmp_path_factory.mktemp("ragas"))).run(OF_ALL)


def test_it_succeeded(ran: Ran) -> None:
    assert (ran.code, ran.err if "Traceback" in ran.err else "") == (0, "")
    assert len(ran.evaluators) == 29


@pytest.mark.parametrize("name", SCORES)
def test_a_metric_scores_as_ragas_defines_it(ran: Ran, name: str) -> None:
    assert ran.scores[name] == [pytest.approx(SCORES[name], abs=1e-6)]


def test_equal_texts_score_one_despite_rounding(ran: Ran) -> None:
    assert ran.scores["same"] == [1.0]


def test_properties_reach_the_metric(ran: Ran) -> None:
    options = {name: ran.scores[name][0] for name in ("precise", "recalled", "relevant", "irrelevant", "focused")}
    assert options == pytest.approx(
        {"precise": 0.33, "recalled": 0.5, "relevant": 0, "irrelevant": 1 / 3, "focused": 2 / 3}, abs=1e-6
    )


def test_claim_granularity_is_in_the_prompt(ran: Ran, server: OpenAIServer) -> None:
    assert ran.code == 0
    cut = [body["messages"][-1]["content"] for body in server.asked("*/chat/completions")]
    examples = ["Charles Babbage was a philosopher." in text for text in cut if "Decompose and break down" in text]
    assert (True in examples, False in examples) == (True, True)


def test_thresholds_are_kept(ran: Ran) -> None:
    thresholds = {event.threshold.gte for event in ran.events if event.type == "scored" and event.threshold}
    assert thresholds == {0.5}
    assert not ran.evaluators["NoiseSensitivity"].higher_is_better
    assert ran.evaluators["Faithfulness"].higher_is_better


def test_the_fingerprint_names_the_models_and_the_version(ran: Ran, environment: Environment) -> None:
    prints = {name: info.fingerprint.model for name, info in ran.evaluators.items() if info.fingerprint}
    ragas = f"ragas {environment.version}"
    assert prints["Faithfulness"] == f"gpt-4o, {ragas}"
    assert prints["ResponseRelevancy"] == f"gpt-4o, text-embedding-ada-002, {ragas}"
    assert prints["NonLLMContextRecall"] == ragas


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("without a model", "InvalidSuite", "has no llm"),
        ("without embeddings", "InvalidSuite", "has no embeddings"),
        ("wrong mode", "InvalidSuite", "mode must be one of 'precision', 'recall', 'f1', not 'f2'"),
        ("wrong focus", "InvalidSuite", "focus must be one of 'relevant', 'irrelevant', not 'all'"),
        ("raises", "ZeroDivisionError", "division by zero"),
        ("no text", "ValidationError", "response"),
        ("NaN", "ModelError", "ragas' ResponseRelevancy gave no score (NaN)"),
        ("over the budget", "BudgetSpent", "max_tokens"),
        ("also NaN", "ModelError", "ragas' NonLLMContextRecall gave no score (NaN)"),
    ],
)
def test_unscorable_cases_are_errors(ran: Ran, name: str, kind: str, message: str) -> None:
    error = ran.errors[name]
    assert (error.type, name in ran.scores) == (kind, False)
    assert message in error.message
    assert error.advice or kind != "ModelError"


def test_model_usage_counts_for_the_evaluator(ran: Ran) -> None:
    used = {event.evaluator: event.usage for event in ran.events if event.type == "scored"}
    faithfulness = used["Faithfulness"]
    assert faithfulness is not None
    assert faithfulness.input_tokens > faithfulness.output_tokens > 0
    assert (faithfulness.model, faithfulness.cost is not None) == ("gpt-4o", True)
    assert used["NonLLMContextRecall"] is None


def test_without_a_budget_free_metrics_run(ran: Ran) -> None:
    assert (len(ran.scores["last in the budget"]), ran.scores["free"]) == (1, [0.5])


def test_only_failures_are_errors(ran: Ran) -> None:
    assert len(ran.errors.keys() - {None}) == 9


def test_importing_ragas_patches_no_loop(ran: Ran) -> None:
    assert "loops are left alone: True" in ran.out


def test_concurrent_questions_keep_their_parameters(ran: Ran, server: OpenAIServer, environment: Environment) -> None:
    """ragas writes them onto the model, which all evaluators share."""
    assert (len(ran.scores["at once: relevant"]), len(ran.scores["at once: recalled"])) == (10, 10)
    bodies = server.asked("*/chat/completions")
    several: dict[bool, set[int]] = {True: set(), False: set()}
    for body in bodies:
        several["Generate a question" in body["messages"][-1]["content"]].add(body.get("n") or 1)
    assert several == {True: {1} if environment.version < "0.3" else {3}, False: {1}}


def test_the_newer_kind_of_models_works(place: Place) -> None:
    if place.environment.version < "0.4":
        pytest.skip(f"ragas {place.environment.version} takes them in metrics of another kind only")
    outcome = place.run(NEWER)
    assert outcome.errors == {}
    assert {name: scores[0] for name, scores in outcome.scores.items()} == pytest.approx(SCORES, abs=1e-6)
