"""The scorers of retrieval that ask a model: what it sees, and what its verdicts are worth."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.openai.server import OpenAIServer
from tests.integration.judging.suites import prompts

from scoregate import evaluate
from scoregate.evals import EvalResult
from scoregate.scorers import (
    RetrievalJudge,
    answer_relevancy,
    citation_correct,
    context_precision,
    context_recall,
    faithfulness,
    hallucination_free,
)

HOURS = {"id": "hours", "text": "The shop opens at nine."}
PETS = {"id": "pets", "content": "Dogs are welcome."}
OUTPUT = {"answer": "It opens at nine [1]. Cats may enter [pets].", "contexts": [HOURS, PETS]}
CASE = {"input": "When does it open?", "expected": "At nine."}


def run(scorer: RetrievalJudge, output: Any = OUTPUT, case: Any = CASE) -> EvalResult:
    return evaluate("demo", data=[case], task=lambda _: output, scorers=scorer)


def give_claims(server: OpenAIServer, **answers: str) -> None:
    claims = [{"claim": claim, "reason": f"about {claim}", "answer": answer} for claim, answer in answers.items()]
    server.answers("which claims", {"claims": claims})


def give_answers(server: OpenAIServer, *answers: str) -> None:
    items = [{"number": at, "reason": f"r{at}", "answer": answer} for at, answer in enumerate(answers, 1)]
    server.answers("for each numbered", {"answers": items})


@pytest.mark.parametrize(
    ("scorer", "score", "reason"),
    [
        (faithfulness(), 2 / 3, "1 of 3 not supported: cats (about cats)"),
        (hallucination_free(), 0.0, "1 of 3 not supported: cats (about cats)"),
        (answer_relevancy(), 2 / 3, "1 of 3 not relevant: cats (about cats)"),
        (context_recall(), 2 / 3, "1 of 3 not retrieved: cats (about cats)"),
    ],
)
def test_the_score_is_the_share_of_claims_with_yes(
    server: OpenAIServer, scorer: RetrievalJudge, score: float, reason: str
) -> None:
    give_claims(server, hours="Yes", dogs="Yes", cats="No")
    (case,) = run(scorer).cases
    assert case.scores == {scorer.name: pytest.approx(score)}
    assert case.reasons == {scorer.name: reason}
    verdicts = (case.evaluations[scorer.name].metadata or {})["verdicts"]
    assert verdicts[0] == {"text": "hours", "answer": True, "reason": "about hours"}


def test_a_model_sees_what_the_scorer_compares_and_nothing_else(server: OpenAIServer) -> None:
    give_claims(server, hours="Yes")
    for scorer in (faithfulness(), answer_relevancy(), context_recall()):
        run(scorer)
    faithful, relevancy, recall = prompts(server)
    passages = "BEGIN context\n1. The shop opens at nine.\n\n2. Dogs are welcome.\n"
    assert (passages in faithful, passages in relevancy, passages in recall) == (True, False, True)
    assert all("BEGIN input\nWhen does it open?\n" in prompt for prompt in (faithful, relevancy, recall))
    assert ("Cats may enter" in recall, "BEGIN expected output\nAt nine.\n" in recall) == (False, True)
    assert "which claims does the expected output make" in recall


def test_an_answer_without_a_claim(server: OpenAIServer) -> None:
    """Nothing in it can be supported, and it answers nothing."""
    give_claims(server)
    found = {}
    for scorer in (faithfulness(), context_recall(), hallucination_free(), answer_relevancy()):
        (case,) = run(scorer).cases
        found[scorer.name] = (case.scores.get(scorer.name), case.errors)
    assert found == {
        "faithfulness": (None, []),
        "context_recall": (None, []),
        "hallucination_free": (None, []),
        "answer_relevancy": (0.0, []),
    }


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        (("Yes", "Yes", "No"), 1.0),
        (("No", "Yes", "Yes"), (1 / 2 + 2 / 3) / 2),
        (("No", "No", "Yes"), 1 / 3),
        (("No", "No", "No"), 0.0),
    ],
)
def test_precision_is_that_of_the_ranking(server: OpenAIServer, answers: tuple[str, ...], score: float) -> None:
    give_answers(server, *answers)
    (case,) = run(context_precision(), {"answer": "x", "contexts": ["a", "b", "c"]}).cases
    assert case.scores == {"context_precision": pytest.approx(score)}
    assert "BEGIN passage 3\nc\n" in prompts(server)[0]


def test_a_citation_is_judged_with_its_sentence_and_one_of_nothing_is_wrong(server: OpenAIServer) -> None:
    give_answers(server, "Yes", "No")
    (case,) = run(citation_correct(), {**OUTPUT, "answer": f"{OUTPUT['answer']} It is red [9]."}).cases
    assert case.scores == {"citation_correct": pytest.approx(1 / 3)}
    (prompt,) = prompts(server)
    assert "BEGIN passage 2\nDogs are welcome.\n" in prompt
    assert "BEGIN citation 2\nCats may enter.\n" in prompt
    assert "Here citation 1 names passage 1; citation 2 names passage 2." in prompt
    assert "[9] It is red. (there is no such passage)" in case.reasons["citation_correct"]


def test_nothing_is_asked_where_the_score_is_certain(server: OpenAIServer) -> None:
    found = [
        run(citation_correct(), {"answer": "At nine.", "contexts": ["x"]}),
        run(citation_correct(), {"answer": "At nine [4].", "contexts": ["x"]}),
        run(context_precision(), {"answer": "At nine.", "contexts": []}),
    ]
    assert [list(each.scores.values()) for each in found] == [[0.0], [0.0], [0.0]]
    assert server.requests == []


@pytest.mark.parametrize("answers", [("Yes",), ("Yes", "Yes", "Yes")])
def test_answers_for_other_passages_are_an_error_and_no_score(server: OpenAIServer, answers: tuple[str, ...]) -> None:
    give_answers(server, *answers)
    (case,) = run(context_precision()).cases
    assert case.scores == {}
    assert [error.evaluator for error in case.errors] == ["context_precision"]


@pytest.mark.parametrize(
    ("scorer", "output", "case", "message"),
    [
        (faithfulness(), "At nine.", CASE, "the output is a text and not JSON, so it has no field 'answer'"),
        (
            faithfulness(),
            {"answer": "x", "contexts": [{"id": "a"}]},
            CASE,
            "needs the text of each passage, and number 1",
        ),
        (
            faithfulness(),
            {"answer": "x", "contexts": [3]},
            CASE,
            "item 1 of the field 'contexts' of the output must be a",
        ),
        (faithfulness(contexts="docs"), OUTPUT, CASE, "the output has no field 'docs'"),
        (context_recall(), OUTPUT, {"input": "x"}, "context_recall compares with `expected`, which this case lacks"),
    ],
)
def test_an_output_without_what_is_compared_is_an_error(
    server: OpenAIServer, scorer: RetrievalJudge, output: Any, case: Any, message: str
) -> None:
    (found,) = run(scorer, output, case).cases
    assert message in found.errors[0].error.message
    assert server.requests == []


def test_text_of_passages_that_looks_like_an_image_stays_text(server: OpenAIServer) -> None:
    give_claims(server, hours="Yes")
    image = f"data:image/png;base64,{'A' * 60}"
    (case,) = run(faithfulness(), {"answer": "x", "contexts": [image, '{"media":"sha256:' + "0" * 64]}).cases
    assert case.errors == []
    assert image in prompts(server)[0]


def test_too_many_passages_are_an_error(server: OpenAIServer) -> None:
    (case,) = run(context_precision(), {"answer": "x", "contexts": ["a"] * 101}).cases
    assert "a question has at most 100 of passages, and here are 101" in case.errors[0].error.message
    assert server.requests == []


def test_other_names_of_fields_are_read_on_both_sides(server: OpenAIServer) -> None:
    give_claims(server, hours="Yes")
    scorer = context_recall(field="result.text", contexts="docs", threshold=0.5)
    case = {"input": "x", "expected": {"result": {"text": "At ten."}}}
    result = run(scorer, {"result": {"text": "At nine."}, "docs": ["d"]}, case)
    assert result.passed
    assert "BEGIN expected output\nAt ten.\n" in prompts(server)[0]


def test_a_fingerprint_has_the_model_and_the_question(server: OpenAIServer) -> None:
    give_claims(server, hours="Yes")
    first, same, other_field, model, relevancy = (
        next(iter(run(scorer).evaluators.values())).fingerprint
        for scorer in (
            faithfulness(),
            faithfulness(name="renamed", threshold=0.5),
            faithfulness(contexts="contexts", field="answer", model=None, max_concurrency=3),
            faithfulness(model="gpt-4o-mini"),
            answer_relevancy(),
        )
    )
    assert first is not None
    assert model is not None
    assert relevancy is not None
    assert first == same == other_field
    assert (first.prompt == model.prompt, model.model) == (True, "gpt-4o-mini")
    assert first.prompt != relevancy.prompt
