"""Which text of an output a scorer looks at: the output, or the field that is named; never its JSON by accident."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from scoregate import evaluate
from scoregate.scorers import (
    Check,
    bleu,
    choice_judge,
    contains,
    contains_all,
    contains_any,
    embedding_similarity,
    goal_reached,
    judge,
    length,
    levenshtein,
    pairwise,
    pii_free,
    plan_followed,
    regex,
    rouge_l,
    similarity,
)
from scoregate.scorers.output_texts import select_field

RAG = {"answer": "I don't know.", "sources": ["delivery"], "usage": {"tokens": 12}}
MAKERS: dict[str, Callable[..., Check]] = {
    "contains": contains,
    "contains_all": contains_all,
    "contains_any": contains_any,
    "regex": regex,
    "length": lambda **field: length(min=1, **field),
    "levenshtein": levenshtein,
    "similarity": similarity,
    "rouge_l": rouge_l,
    "bleu": bleu,
}


@dataclass
class Answer:
    answer: str
    sources: list[str]


class Model(BaseModel):
    answer: str
    score: float = 0.5


@pytest.mark.parametrize("name", MAKERS)
def test_an_output_that_is_not_a_text_is_an_error_with_advice(name: str) -> None:
    check = MAKERS[name]()
    for output, found in (
        (RAG, "an object with 'answer', 'sources', 'usage'"),
        (Answer("no", []), "an object with 'answer', 'sources'"),
        (Model(answer="no"), "an object with 'answer', 'score'"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "answer": "no"}], "a list of 2 items"),
    ):
        path = "-1.answer" if isinstance(output, list) else "answer"
        with pytest.raises(ValueError, match=f"{name} needs a text, and the output is {found}. Name the text") as error:
            check(output, "delivery")
        assert f'{name}(…, field="{path}")' in str(error.value)
        assert 'field="$"' in str(error.value)
    for output, found in ((None, "None"), (True, "True"), (float("nan"), "None"), ({}, "an object without fields")):
        with pytest.raises(ValueError, match=f"{name} needs a text, and the output is {found}"):
            check(output, "delivery")


@pytest.mark.parametrize("name", MAKERS)
def test_the_field_is_compared_alone(name: str) -> None:
    for output in (RAG, Answer("I don't know.", ["delivery"]), json.dumps(RAG), [{"a": 1}, RAG]):
        path = "1.answer" if isinstance(output, list) else "answer"
        checked = MAKERS[name](field=path)(output, "delivery")
        same = MAKERS[name]()("I don't know.", "delivery")
        assert checked == same


def test_a_case_with_such_an_output_is_not_measured() -> None:
    result = evaluate(
        "bot", data=[{"input": "Which guide?", "expected": "delivery"}], task=lambda _: RAG, scorers=[contains()]
    )
    (error,) = result.cases[0].errors
    assert 'Name the text, as in contains(…, field="answer")' in error.error.message
    assert not result.passed


def test_texts_numbers_and_dates_are_texts() -> None:
    for output, text in (("7 days", "7"), (7, "7"), (7.5, "7.5"), (date(2024, 5, 1), "2024-05-01")):
        assert contains(text)(output).passed, output
    assert contains("7", field="n")({"n": 7}).passed
    assert levenshtein()(12, "12").score == 1


def test_the_expected_output_is_a_text_or_has_the_same_field() -> None:
    check = contains(field="answer")
    assert check({"answer": "at 9 o'clock"}, {"answer": "9", "sources": ["x"]}).passed
    assert not check({"answer": "at 8 o'clock"}, {"answer": "9", "sources": ["x"]}).passed
    with pytest.raises(ValueError, match="the expected output has no field 'answer': it is an object with 'text'"):
        check({"answer": "at 9"}, {"text": "9"})
    for similar in (levenshtein(), rouge_l(), similarity(), bleu()):
        with pytest.raises(ValueError, match="and the expected output is an object with 'a'; give each case a text"):
            similar("x", {"a": "x"})


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": {"b": "x"}}, "a.b", "x"),
        ({"a.b": "x", "a": {"b": "y"}}, "a.b", "x"),
        ({"a": {"b.c": "x"}}, "a.b.c", "x"),
        ({"a": ["x", "y"]}, "a.-1", "y"),
        ({"0": "x"}, "0", "x"),
        ('{"a": ["x"]}', "a.0", "x"),
        ({"a": {}}, "a", {}),
        (Model(answer="x"), "answer", "x"),
        ({"a": 1}, "$", '{"a":1}'),
        ("text", "$", "text"),
    ],
)
def test_a_path_leads_to_a_part(value: Any, path: str, found: Any) -> None:
    assert select_field(value, path) == found


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ({"a": 1}, "b", "the output has no field 'b': it is an object with 'a'"),
        ({"a": {"x": 1}}, "a.b", "field 'a' of the output has no field 'b': it is an object with 'x'"),
        ({"a": ["x"]}, "a.1", "field 'a' of the output has no field '1': it is a list of 1 items"),
        ({"a": ["x"]}, "a.x", "has no field 'x'"),
        ({"a": "x"}, "a.b", "field 'a' of the output has no field 'b': it is 'x'"),
        ("no JSON", "a", "the output is a text and not JSON, so it has no field 'a'"),
        (None, "a", "the output has no field 'a': it is None"),
        (dict.fromkeys("abcdefghijk"), "x", "'g', 'h' and more"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error(value: Any, path: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        contains("x", field=path)(value)


def test_a_field_that_is_no_text_is_named_with_a_longer_path() -> None:
    with pytest.raises(ValueError, match="the field 'result' of the output is an object with 'text'") as error:
        contains("x", field="result")({"result": {"text": "x"}})
    assert 'field="result.text"' in str(error.value)


def test_a_field_is_a_path() -> None:
    makers = [*MAKERS.values(), pii_free, pairwise, embedding_similarity, goal_reached]
    makers += [lambda field: judge("Good?", field=field), lambda field: plan_followed("a", field=field)]
    makers.append(lambda field: choice_judge("Good?", {"a": 1, "b": 0}, field=field))
    for make in makers:
        for wrong in ("", 3, ["answer"]):
            with pytest.raises(TypeError, match='field must be a path such as "answer"'):
                make(field=wrong)


def test_personal_data_is_found_in_all_of_the_output_or_in_a_field() -> None:
    output = {"answer": "Ask us.", "debug": {"user": "jane@shop.example"}}
    assert not pii_free()(output).passed
    assert pii_free(field="answer")(output).passed
    assert not pii_free(field="debug")(output).passed


@given(st.dictionaries(st.text(min_size=1), st.text()), st.text(min_size=1), st.text(max_size=5))
def test_a_text_of_another_field_is_never_found(others: dict[str, str], key: str, text: str) -> None:
    output = {**others, key: text}
    found = contains("needle", field=key)(output) if key != "$" else contains("needle")(text)
    assert found.passed == ("needle" in text)
    with pytest.raises(ValueError, match="needs a text"):
        contains("needle")(output)
