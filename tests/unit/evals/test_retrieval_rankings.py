"""`retrieval_recall`, `mrr` and `ndcg`: what they read as ids, and what a ranking is worth."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate import evaluate
from scoregate.scorers import mrr, ndcg, retrieval_recall
from scoregate.scorers.check import Check
from scoregate.scorers.citations import find_citations
from scoregate.scorers.passages import Passage


def score(check: Check, output: Any, expected: Any) -> float | None:
    evaluation = check(output, expected)
    return None if evaluation is None else evaluation.score


@pytest.mark.parametrize(
    ("check", "ranking", "relevant", "expected"),
    [
        (retrieval_recall(), ["a", "b", "c"], ["c", "d"], 0.5),
        (retrieval_recall(2), ["a", "b", "c"], ["c", "d"], 0.0),
        (retrieval_recall(1), ["a"], ["a", "a"], 1.0),
        (retrieval_recall(2), ["a", "a", "b"], ["b"], 1.0),
        (mrr(), ["a", "b", "c"], ["c", "b"], 1 / 2),
        (mrr(2), ["a", "b", "c"], ["c"], 0.0),
        (mrr(), [], ["c"], 0.0),
        (ndcg(), ["a", "b"], ["a", "b"], 1.0),
        (ndcg(), ["b", "a"], {"a": 3, "b": 1}, (1 + 3 / log2(3)) / (3 + 1 / log2(3))),
        (ndcg(1), ["b", "a"], {"a": 3, "b": 1}, 1 / 3),
        (ndcg(), ["x"], {"a": 3, "b": 0}, 0.0),
        (retrieval_recall(), ["x"], {"x": 1, "b": 0}, 1.0),
        (retrieval_recall(), [7, 8], ["7"], 1.0),
    ],
)
def test_rankings_have_the_scores_of_their_definitions(
    check: Check, ranking: list[Any], relevant: Any, expected: float
) -> None:
    for output in (ranking, {"contexts": ranking}, {"contexts": [{"id": each, "text": "t"} for each in ranking]}):
        assert score(check, output, relevant) == pytest.approx(expected)
        if isinstance(relevant, list):
            assert score(check, output, {"answer": "x", "contexts": relevant}) == pytest.approx(expected)


@given(
    st.lists(st.sampled_from("abcdef"), max_size=8), st.sets(st.sampled_from("abcdef"), min_size=1), st.integers(1, 8)
)
def test_scores_are_from_0_to_1_and_the_best_ranking_has_1(ranking: list[str], relevant: set[str], k: int) -> None:
    wanted = sorted(relevant)
    for make in (retrieval_recall, mrr, ndcg):
        found = score(make(k), ranking, wanted)
        assert found is not None
        assert 0 <= found <= 1
        assert score(make(), wanted, wanted) == 1
        assert (found > 0) == bool(relevant & set(list(dict.fromkeys(ranking))[:k]))


def test_a_case_without_relevant_passages_has_no_score() -> None:
    for make in (retrieval_recall, mrr, ndcg):
        assert score(make(), ["a"], []) is None
        assert score(make(), ["a"], {"a": 0}) is None


@pytest.mark.parametrize(
    ("output", "expected", "message"),
    [
        ({"answer": "x"}, ["a"], "has no field 'contexts'"),
        (
            {"contexts": "a"},
            ["a"],
            "the output must be a list of passages or of their ids, not 'a'",
        ),
        ({"contexts": [{"text": "t"}]}, ["a"], "item 1 of the field 'contexts' of the output must be an id"),
        (["a", None], ["a"], "item 2 of the output must be an id"),
        (["a"], None, "the ids of the relevant passages are missing"),
        (["a"], {"answer": "x"}, "has neither a field 'contexts' nor a grade for each id"),
        ({"contexts": ["We open at nine."]}, ["a"], "the passages of the output are texts without ids"),
        (["a"], {"a": -1}, "the grade of 'a' in the expected output must be at least 0"),
        (["a"], "a", "the expected output must be a list of passages or of their ids, not 'a'"),
    ],
)
def test_what_is_no_ranking_is_an_error_and_no_score(output: Any, expected: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        retrieval_recall()(output, expected)


def test_k_is_in_the_name_and_must_be_a_count() -> None:
    assert [make(5).name for make in (retrieval_recall, mrr, ndcg)] == ["retrieval_recall@5", "mrr@5", "ndcg@5"]
    with pytest.raises(ValueError, match="mrr: k must be a whole number of at least 1, not 0"):
        mrr(0)


def test_a_failing_case_names_what_was_not_retrieved() -> None:
    result = evaluate(
        "faq",
        data=[{"input": "open?", "expected": ["hours", "map"]}],
        task=lambda _: {"answer": "At nine.", "contexts": [{"id": "hours", "text": "At nine."}]},
        scorers=[retrieval_recall(5, threshold=0.9), mrr()],
    )
    (case,) = result.failed
    assert case.reasons == {"retrieval_recall@5": "not retrieved: map"}
    assert result.scores == {"retrieval_recall@5": 0.5, "mrr": 1.0}


PASSAGES = [Passage("nine", "x1"), Passage("dogs", "faq-7"), Passage("leads", "FAQ-7"), Passage("plain", "")]
DOGS = "dogs\n\nleads"


@pytest.mark.parametrize(
    ("answer", "citations"),
    [
        ("We open at 9. [1] We close at 5. [x1]", [("We open at 9.", "1", "nine"), ("We close at 5.", "x1", "nine")]),
        ("We open at 9.  [1] And [4].", [("We open at 9.", "1", "nine"), ("And.", "4", "plain")]),
        ("Open [1].\nDogs are welcome.\n[faq-7]", [("Open.", "1", "nine"), ("Dogs are welcome.", "faq-7", DOGS)]),
        ("Dogs are welcome\n[Faq-7]", [("Dogs are welcome", "Faq-7", DOGS)]),
        ("[1] We open.", [("We open.", "1", "nine")]),
        (
            "No pets [faq-7, 9].[^4]",
            [("No pets.", each, text) for each, text in [("faq-7", DOGS), ("9", None), ("4", "plain")]],
        ),
        ("It is red [faq-99].", [("It is red.", "faq-99", None)]),
        ("See [1-2].", [("See.", "1", "nine"), ("See.", "2", "dogs")]),
        ("See 【4†source】 and [Source 1].", [("See and.", "4", "plain"), ("See and.", "1", "nine")]),
        ("See e.g. nothing [1] [1].", [("See e.g. nothing.", "1", "nine")]),
        ("In [2024] see [the map](http://x/1), array[i]. Ask [me].", []),
        ("Call `xs[1]`.\n```\nxs[4]\n```\n[^1]: a note", []),
        ("Open [1].\n\n**Sources:**\n[4] Title", [("Open.", "1", "nine")]),
    ],
)
def test_citations_are_marks_of_passages_with_their_sentence(
    answer: str, citations: list[tuple[str, str, str | None]]
) -> None:
    assert [tuple(each) for each in find_citations(answer, PASSAGES)] == citations


def test_ids_are_read_from_tables_and_data_frames() -> None:
    assert score(retrieval_recall(), '["a", "b"]', '["b"]') == 1
    assert score(retrieval_recall(), {"contexts": [1, 2]}, [1.0, 3.0]) == 0.5
    assert score(ndcg(field="rag.ids"), {"rag": {"ids": ["a"]}}, {"rag.ids": ["a"]}) == 1
