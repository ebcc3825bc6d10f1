"""Tests as JSON and JSON lines, with the fields of tests or the columns of tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.entities.builders import make_question, make_test_set

from scoregate.entities import TestSet
from scoregate.enums import TestType
from scoregate.errors import InvalidTests

FLAT = {"prompt_content": "q", "expected_response": "", "category": "c", "requirement": "b", "test_type": ""}
TALK = {"category": {"name": "c"}, "behavior": "b", "goal": "g", "max_turns": "3", "min_turns": None}


def test_nested_and_flat_fields_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tests.json"
    nested = {"category": "c", "behavior": "b", "prompt": {"content": "q"}, "metadata": {"a": None}}
    path.write_text(json.dumps([FLAT, nested, {}]), encoding="utf-8-sig")
    first, second = TestSet.from_json(path).tests or []
    assert first.prompt == second.prompt
    assert (first.behavior, first.test_type, second.metadata) == ("b", TestType.SINGLE_TURN, {"a": None})
    path.write_text(json.dumps([TALK]))
    parsed = TestSet.from_json(path, "n")
    assert (parsed.name, parsed.test_set_type, parsed.test_count) == ("n", TestType.MULTI_TURN, 1)
    assert parsed.tests[0].test_configuration.max_turns == 3  # type: ignore[index,union-attr]


def test_a_line_has_its_number(tmp_path: Path) -> None:
    path = tmp_path / "tests.jsonl"
    path.write_text(f"\ufeff\n{json.dumps(FLAT)}\n\n{json.dumps(FLAT)}")
    assert [(test.source, test.source_line) for test in TestSet.from_jsonl(path).tests or []] == [
        (str(path), 2),
        (str(path), 4),
    ]


def test_exports_are_the_lines_of_the_store_with_both_names_of_the_behavior(tmp_path: Path) -> None:
    test_set = make_test_set("Hours", make_question("a\u202eb", id="1"))
    test_set.push()
    test_set.to_jsonl(tmp_path / "out.jsonl")
    test_set.to_json(tmp_path / "out.json")
    kept = (tmp_path / ".scoregate" / "test_sets" / "hours" / "tests.jsonl").read_text(encoding="utf-8")
    line = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    expected = {**json.loads(kept), "requirement": "Answers"}
    assert [json.loads(line)] == json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == [expected]
    assert "a\\u202eb" in kept, "what a reviewer would not see is written out"
    assert "a\\u202eb" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "JSON file must contain an array of test objects: "),
        ("[\n1;]", ":2:2: is not JSON"),
        ("[1]", ", test 1: must be an object, not 1"),
        ('[{"category": "c"}]', ", test 1: behavior: is missing; prompt: is missing"),
        ('[{"category": "c", "behavior": "b", "test_type": "Multi-Turn"}]', ", test 1: goal: is missing"),
        ('[{"category": 1, "behavior": "b"}]', ", test 1: category: must be a valid string, not 1"),
        ('[{"category": "c", "category": "d"}]', ": 'category' comes twice"),
        (json.dumps([{**FLAT, "files": ["shoe.png"]}]), ", test 1: files of a test are not supported"),
        ("[]", " has no tests"),
        (b'["\xff"]', ":1: is not UTF-8"),
        ("[" * 100_000, ": is nested too deeply"),
    ],
)
def test_errors_of_json_are_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "tests.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InvalidTests) as exc_info:
        TestSet.from_json(path)
    assert message in exc_info.value.message
    assert str(path) in exc_info.value.message


def test_errors_of_lines_are_named_and_none_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "tests.jsonl"
    path.write_bytes(json.dumps(FLAT).encode() + b'\n{\n[]\n"\xff"\n{"category": "c"}\n')
    with pytest.raises(InvalidTests) as exc_info:
        TestSet.from_jsonl(path)
    assert [line.split(":")[1] for line in exc_info.value.message.splitlines()] == ["2", "3", "4", "5"]


def test_unknown_fields_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "tests.jsonl"
    path.write_text((json.dumps({**FLAT, "note": 1}) + "\n") * 3)
    with pytest.warns(UserWarning, match="tests have no field 'note'") as caught:
        TestSet.from_jsonl(path)
    assert len(caught) == 1
