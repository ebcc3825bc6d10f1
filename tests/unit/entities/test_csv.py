"""Tests in tables: they round-trip, and errors have line and column."""

from __future__ import annotations

import csv
import logging
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.entities.builders import make_conversation, make_question, make_test_set, read_contents

from scoregate.entities import Prompt, Test, TestConfiguration, TestSet, read_tests
from scoregate.enums import TestType
from scoregate.errors import EntityError, InvalidTests
from scoregate.store import tables

HEADER = "prompt_content,category,topic,behavior"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
NAME = TEXT.filter(str.strip)
MAYBE = st.none() | TEXT
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=2))
PROMPTS = st.builds(Prompt, content=TEXT, expected_response=MAYBE, language_code=TEXT, id=MAYBE)
TURNS = st.none() | st.integers(1, 9)
TALKS = st.builds(
    TestConfiguration,
    goal=TEXT,
    instructions=st.text(),
    restrictions=st.text(),
    scenario=st.text(),
    max_turns=st.none() | st.integers(9, 99),
    min_turns=TURNS,
)
LABELS: dict[str, Any] = {"category": NAME, "behavior": NAME, "topic": MAYBE, "id": st.none()}
METADATA = st.dictionaries(st.text(), JSON, max_size=2)
SINGLE = st.builds(Test, prompt=PROMPTS, metadata=METADATA, **LABELS)
MULTI = st.builds(Test, prompt=st.none() | PROMPTS, test_configuration=TALKS, metadata=METADATA, **LABELS)
SETS = st.lists(SINGLE, min_size=1, max_size=4) | st.lists(MULTI, min_size=1, max_size=4)


def write_table(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "tests.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def to_dicts(tests: list[Test] | None) -> list[dict[str, Any]]:
    return [{**test.to_dict(), "test_type": test.turns} for test in tests or []]


@settings(deadline=None, max_examples=200)
@given(tests=SETS, kind=st.sampled_from(["csv", "json", "jsonl"]), with_ids=st.booleans())
def test_tests_round_trip(
    tmp_path_factory: pytest.TempPathFactory, tests: list[Test], kind: str, with_ids: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"round-trip.{kind}"
    for number, test in enumerate(tests if with_ids else []):
        test.id = f"=id {number}"
    getattr(TestSet(name="x", tests=tests), f"to_{kind}")(path)
    back = getattr(TestSet, f"from_{kind}")(path)
    assert to_dicts(back.tests) == to_dicts(tests)


def test_only_needed_columns_are_written(tmp_path: Path) -> None:
    def columns(*tests: Test) -> str:
        make_test_set("x", *tests).to_csv(tmp_path / "out.csv")
        return (tmp_path / "out.csv").read_bytes().decode().partition("\r\n")[0]

    single = "category,topic,behavior,requirement,test_type,prompt_content,expected_response"
    conversation = "goal,instructions,restrictions,scenario,min_turns,max_turns"
    assert columns(make_question()) == single
    assert columns(make_conversation()) == f"category,topic,behavior,requirement,test_type,{conversation}"
    assert columns(make_conversation(prompt={"content": "x"})) == f"{single},{conversation}"
    foreign = make_question(prompt=Prompt(content="Wann?", language_code="de"), metadata={"a": 1}, id="1")
    assert columns(foreign, make_question()) == f"{single},language_code,metadata,id"


def test_documented_columns_are_read(tmp_path: Path) -> None:
    path = write_table(
        tmp_path, f"{HEADER},expected_response\r\nWhen?,Support,Hours,Answers,At nine\r\nWhere?,A,B,C,\r\n"
    )
    test_set = TestSet.from_csv(path, "N", "D", "S")
    assert (test_set.name, test_set.description, test_set.short_description) == ("N", "D", "S")
    assert (test_set.test_count, test_set.test_set_type, test_set.behaviors) == (
        2,
        TestType.SINGLE_TURN,
        ["Answers", "C"],
    )
    first, second = test_set.tests or []
    assert first.prompt == Prompt(content="When?", expected_response="At nine", language_code="en")
    assert second.prompt
    assert second.prompt.expected_response is None
    assert (second.source, second.source_line) == (str(path), 3)
    assert "source" not in second.to_dict()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_and_named(tmp_path: Path, delimiter: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "scoregate")
    path = tmp_path / "tests.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        rows = [HEADER.split(","), ["a;b,c|d\te", "x", "y", 'say "z"\r\nthen']]
        csv.writer(file, delimiter=delimiter).writerows(rows)
    (test,) = TestSet.from_csv(path).tests or []
    assert test.prompt
    assert (test.prompt.content, test.behavior) == ("a;b,c|d\te", 'say "z"\r\nthen')
    assert ("are separated by" in caplog.text) == (delimiter != ",")


def test_rows_have_their_first_line(tmp_path: Path) -> None:
    path = write_table(tmp_path, f'{HEADER}\n"a\n\nb",c,t,b\n\n,,,\n"x\r\ny",c,t,b\nz,c,t,b\n')
    assert [test.source_line for test in read_tests(path)] == [2, 7, 9]


def test_requirement_is_a_column_and_headers_ignore_case(tmp_path: Path) -> None:
    path = write_table(tmp_path, " Prompt_Content ,CATEGORY,topic,requirement,,\nq,c,t,b,,\n")
    assert TestSet.from_csv(path).behaviors == ["b"]


def test_both_names_of_the_behavior_can_be_columns(tmp_path: Path) -> None:
    path = write_table(tmp_path, f"{HEADER},Requirement\nq,c,t,b,b\nr,c,t,,d\ns,c,t,e,\n")
    assert [test.behavior for test in TestSet.from_csv(path).tests or []] == ["b", "d", "e"]
    path = write_table(tmp_path, f"{HEADER},requirement\nq,c,t,b,b\nr,c,t,b,d\ns,c,t,,\n")
    with pytest.raises(InvalidTests) as exc_info:
        TestSet.from_csv(path)
    first, second = exc_info.value.message.splitlines()
    assert first.endswith(":3: behavior and requirement are one field, and say 'b' and 'd'")
    assert second.endswith(":4: column behavior: is empty")


def test_types_are_inferred(tmp_path: Path) -> None:
    path = write_table(tmp_path, "category,topic,behavior,test_type,goal,max_turns\nc,t,b,,g,\nc,t,b,multi_turn,h,3\n")
    test_set = TestSet.from_csv(path)
    assert test_set.test_set_type is TestType.MULTI_TURN
    assert [test.test_type for test in test_set.tests or []] == [TestType.MULTI_TURN] * 2
    assert test_set.tests[1].test_configuration.max_turns == 3  # type: ignore[index,union-attr]


def test_unknown_columns_are_named_and_skipped(tmp_path: Path) -> None:
    path = write_table(tmp_path, f"{HEADER},expected_respons,notes\nq,c,t,b,x,y\n")
    with pytest.warns(UserWarning, match="there is no column") as caught:
        assert TestSet.from_csv(path).test_count == 1
    assert [str(each.message).partition(": ")[2] for each in caught] == [
        "there is no column 'expected_respons' of tests; it is left out: did you mean expected_response?",
        "there is no column 'notes' of tests; it is left out",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: there is no column prompt_content"),
        ("category,topic\nc,t\n", ":1: there is no column behavior"),
        ("prompt_content,category,topic,behavior,topic\n", ":1: column 'topic' comes twice"),
        (HEADER + "\n", " has no tests"),
        (HEADER + "\n\n,,,\n , ,,\n", " has no tests"),
        (HEADER + "\nq,c,t\n", ":2: has 3 cells, but the header has 4"),
        (HEADER + "\nq,c,t,b,x\n", ":2: has 5 cells, but the header has 4"),
        (HEADER + "\nq,,t, \n", ":2: column category: is empty; column behavior: is empty"),
        (HEADER + '\nq,c,t,b\n\n"a\nb",c,t,b\n,c,t,b\n', ":6: column prompt_content: is empty"),
        (HEADER + ",test_type\nq,c,t,b,Both\n", ":2: column test_type: must be Single-Turn, Multi-Turn or empty"),
        (HEADER + ",test_type\nq,c,t,b,Multi-Turn\n", ":2: column goal: is empty"),
        (HEADER + ",goal,max_turns\nq,c,t,b,g,3.5\n", ":2: column max_turns: must be a whole number, not '3.5'"),
        (HEADER + ",goal,max_turns\nq,c,t,b,g,0\n", ":2: column max_turns: must be greater than or equal to 1"),
        (HEADER + ",goal,max_turns,min_turns\nq,c,t,b,g,1,2\n", ":2: min_turns, 2, is more than max_turns, 1"),
        (HEADER + ",metadata\nq,c,t,b,{\n", ":2: column metadata: is not JSON"),
        (HEADER + ",metadata\nq,c,t,b,[]\n", ":2: column metadata: must be an object"),
        (HEADER + ',metadata\nq,c,t,b,"{""a"": NaN}"\n', ":2: column metadata: NaN is not a JSON number"),
        (HEADER + ",id\nq,c,t,b,1\nr,c,t,b,1\n", ":3: has the same id as"),
        (HEADER + '\nq,c,t,b\n"open,c,t,b\nmore\n', ":3: the row that begins here is not CSV"),
        (HEADER + '\n"q"x,c,t,b\n', ":2: the row that begins here is not CSV"),
        (HEADER.encode() + b"\nq,c,t,b\nq,c,t,\xe9\n", ":3: is not UTF-8: byte 7 of the line is 0xe9"),
        (HEADER.encode("utf-16"), ": is UTF-16, not UTF-8"),
    ],
)
def test_errors_have_a_position(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = write_table(tmp_path, text)
    with pytest.raises(InvalidTests) as exc_info:
        TestSet.from_csv(path)
    assert f"{path}{message}" in exc_info.value.message
    assert isinstance(exc_info.value, ValueError)


def test_at_most_ten_problems_are_listed(tmp_path: Path) -> None:
    path = write_table(tmp_path, HEADER + "\n" + "q,c,t,b\n,c,t,b\n" * 30)
    with pytest.raises(InvalidTests) as exc_info:
        TestSet.from_csv(path)
    assert [line.split(":")[1] for line in exc_info.value.message.splitlines()] == [str(n) for n in range(3, 23, 2)]


def test_no_tests_are_allowed_on_request(tmp_path: Path) -> None:
    empty = TestSet.from_csv(write_table(tmp_path, HEADER + "\n"), allow_empty=True)
    assert (empty.test_count, empty.test_set_type) == (0, TestType.SINGLE_TURN)
    with pytest.raises(EntityError, match="Test set has no tests to export"):
        empty.to_csv(tmp_path / "out.csv")


def test_both_types_are_refused_in_a_set_but_not_by_the_reader(tmp_path: Path) -> None:
    path = write_table(tmp_path, f"{HEADER},goal\nq,c,t,b,\n,c,t,b,g\n")
    with pytest.raises(ValueError, match=r"mixed test types: \['Multi-Turn', 'Single-Turn'\]. Split the tests"):
        TestSet.from_csv(path)
    assert [test.turns.value for test in read_tests(path)] == ["Single-Turn", "Multi-Turn"]


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        TestSet.from_csv(tmp_path / "none.csv")
    with pytest.raises(InvalidTests, match=r"ends in \.csv"):
        list(read_tests(tmp_path / "tests.txt"))


def test_a_large_table_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    with path.open("w") as file:
        file.write(HEADER + "\n")
        file.writelines(f"question {n},c,t,b\n" for n in range(5000))
        file.write("broken\n")
    tests = read_tests(path)
    assert [next(tests).source_line for _ in range(3)] == [2, 3, 4]
    tests.close()  # type: ignore[attr-defined]
    with pytest.raises(InvalidTests, match=":5002: has 1 cell,"):
        list(read_tests(path))


def test_a_plain_table_has_no_warnings(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_contents(TestSet.from_csv(write_table(tmp_path, f"\ufeff{HEADER}\nq,c,t,b\n"))) == "q"


def test_a_cell_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LONGEST_CELL", 200_000)
    before = csv.field_size_limit(1000)
    try:
        path = write_table(tmp_path, f"{HEADER}\n{'x' * 150_000},a,b,c\n")
        assert TestSet.from_csv(path).test_count == 1
        path = write_table(tmp_path, f'{HEADER}\nx,a,b,c\n"{"x" * 250_000},a,b,c\n')
        with pytest.raises(InvalidTests, match=r"tests\.csv:3: .* is not CSV: field larger than field limit"):
            TestSet.from_csv(path)
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("text", ['content\n"open', "content\na,b", "content\na\nb", b"content\n\xff"])
def test_an_invalid_prompt_file_is_refused(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(EntityError, match=r"tests\.csv"):
        Prompt.from_csv(write_table(tmp_path, text))


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    path, formula = tmp_path / "tests.csv", '=HYPERLINK("http://evil.example")'
    before = make_test_set(
        "N", make_question(formula, category="+1", id="-x"), make_question(f"'{formula}"), make_question("'quoted'")
    )
    before.to_csv(path)
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    assert to_dicts(TestSet.from_csv(path).tests) == to_dicts(before.tests)
    Prompt(content=formula).to_csv(path)
    assert f"'{formula[:6]}" in path.read_text(encoding="utf-8")
    assert Prompt.from_csv(path).content == formula
