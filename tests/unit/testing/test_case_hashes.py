"""The identity of a case: its own `hash`, named fields, or a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from tests.unit.testing.builders import Case, Judge, only, passing, run

from scoregate.testing.util import md5


@dataclass
class Row:
    question: str
    answer: Any = ""


class Model(BaseModel):
    question: str
    answer: str = ""


KINDS: list[Any] = [Row, lambda q, a="": Model(question=q, answer=a), lambda q, a="": {"question": q, "answer": a}]
OF_KINDS = pytest.mark.parametrize("make", KINDS, ids=["dataclass", "pydantic", "dict"])


@OF_KINDS
def test_a_field_has_the_md5_of_its_json(make: Any) -> None:
    assert only(run(lambda _: 1, [], [make("who?")], test_case_hash=["question"])).hash == md5('"who?"')


@OF_KINDS
def test_several_fields_are_joined(make: Any) -> None:
    found = only(run(lambda _: 1, [], [make("who?", "me")], test_case_hash=["question", "answer"])).hash
    assert found == md5('"who?""me"')


@OF_KINDS
def test_functions_return_it(make: Any) -> None:
    def name(value: Any) -> str:
        return "case " + (value["question"] if isinstance(value, dict) else value.question)

    assert only(run(lambda _: 1, [], [make("who?")], test_case_hash=name)).hash == "case who?"


def test_one_field_needs_no_list() -> None:
    assert only(run(lambda _: 1, [], [Row("who?")], test_case_hash="question")).hash == md5('"who?"')


def test_fields_win_over_a_hash_method() -> None:
    assert only(run(test_cases=[Case("a", "x")], test_case_hash=["expected"])).hash == md5('"x"')


@pytest.mark.parametrize(
    ("answer", "json"),
    [("Größe", '"Größe"'), ({"a": [1, 2]}, '{"a":[1,2]}'), (None, "null"), ({"b", "a"}, '["a","b"]'), (1.5, "1.5")],
)
def test_a_field_is_hashed_by_its_compact_json(answer: Any, json: str) -> None:
    assert only(run(lambda _: 1, [], [Row("q", answer)], test_case_hash=["answer"])).hash == md5(json)


@pytest.mark.parametrize(
    ("names", "value", "message"),
    [
        (["nothing"], Row("q"), "no field 'nothing'"),
        (["nothing"], {"question": "q"}, "no field 'nothing'"),
        (["answer"], Row("q", object()), "object"),
        (lambda _: 5, Row("q"), "its hash must be a string that is not empty, not 5"),
        (lambda _: "", Row("q"), "must be a string that is not empty"),
        (lambda value: value.gone, Row("q"), "gone"),
    ],
)
def test_an_unhashable_case_is_named_and_the_rest_runs(names: Any, value: Any, message: str) -> None:
    good = Row("ok", "x")

    def by(case: Any) -> Any:
        return "good" if case is good else names(case)

    options = {"test_case_hash": by} if callable(names) else {"test_case_hash": names}
    cases = [value, good] if callable(names) else [value]
    result = run(lambda _: 1, [Judge(passing)], cases, **options)
    assert len(result.columns) == len(cases) - 1
    assert result.errors[0].message.startswith("suite 'demo': test case 1: ")
    assert message in result.errors[0].message


def test_a_case_without_a_hash_has_advice() -> None:
    result = run(test_cases=[Row("q"), Case("a")])
    assert [case.hash for case in result.cases] == ["a"]
    assert result.errors[0].message == (
        "suite 'demo': test case 1: a Row has no method `hash`; add one, or name fields in `test_case_hash`"
    )


@pytest.mark.parametrize("fields", [5, [], None.__class__, [object()]])
def test_invalid_fields_fail(fields: Any) -> None:
    result = run(test_cases=[Case("a")], test_case_hash=fields)
    assert result.errors
    assert all("suite 'demo'" in error.message for error in result.errors)


def test_lone_surrogates_have_other_hashes() -> None:
    result = run(test_cases=[Case("\ud800"), Case("\ud801")], evaluators=[Judge(passing)])
    assert sorted(case.hash for case in result.cases) == ["\\ud800", "\\ud801"]
    assert result.passed


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("hello world", "5eb63bbbe01eeed093cb22bb8f5acdc3"),
        ("Größe", "d248453369cf82a6a64617f1357089c5"),
    ],
)
def test_md5_is_that_of_utf8(text: str, digest: str) -> None:
    assert md5(text) == digest


def test_md5_accepts_lone_surrogates() -> None:
    assert md5("\ud800") != md5("\ud801")


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ({"id": 7, "question": "How  tall\nis it?"}, "How tall is it?"),
        ({"a": 1, "b": [2]}, '{"a":1,"b":[2]}'),
        ({"text": " "}, '{"text":" "}'),
    ],
)
def test_cases_have_readable_names(case: dict[str, Any], name: str) -> None:
    result = run(lambda _: 1, [Judge(passing)], [case], test_case_hash=list(case))
    assert [found.name for found in result.cases] == [name]
