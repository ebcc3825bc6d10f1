"""The JSON of a file of cases: its syntax with lines, and what each field of a case may be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoregate.kernel.types import skill_cases
from scoregate.kernel.types.skill_cases import CaseGrader, SkillCase, SkillCases, is_graded, parse_skill_cases


def parse(*cases: Any, **head: Any) -> SkillCases:
    return parse_skill_cases(json.dumps({**head, "evals": cases}), "e.json")


def parse_case(**fields: Any) -> SkillCase:
    parsed = parse({"prompt": "p", **fields})
    assert not parsed.problems
    (case,) = parsed.cases
    return case


def find_problem(**fields: Any) -> str:
    parsed = parse({"id": "x", **fields})
    assert not parsed.cases
    (problem,) = parsed.problems
    return problem.removeprefix("e.json:1: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1: it is not JSON: an object is expected"),
        ("\n 5", "2: it is not JSON: an object is expected"),
        ('{"a": 1,\n}', "2: it is not JSON: a comma before the end"),
        ('{"a": 1\n"b": 2}', "2: it is not JSON: a comma or } is expected"),
        ('{"a": 1', "1: it is not JSON: a comma or } is expected"),
        ('{"a" 1}', "1: it is not JSON: a name and a colon are expected"),
        ("{\n5: 1}", "2: it is not JSON: a name and a colon are expected"),
        ('{"a": }', "1: it is not JSON: Expecting value"),
        ("{", "1: it is not JSON: Expecting value"),
        ("[", "1: it is not JSON: Expecting value"),
        ('[{"prompt": "a"},\n\n]', "3: it is not JSON: a comma before the end"),
        ('[{"prompt": "a"}\n5]', "2: it is not JSON: a comma or ] is expected"),
        ('[{"prompt": "a"}\n] x', "2: it is not JSON: more text after the end"),
        ('{"evals": [{"prompt": "a"}]\n} }', "2: it is not JSON: more text after the end"),
        ("[]", "1: it has no cases: write a list 'evals' of objects with a prompt"),
        ('{"evals": 5}', "1: it has no cases: write a list 'evals' of objects with a prompt"),
    ],
)
def test_a_mistake_in_the_syntax_has_its_line(text: str, problem: str) -> None:
    assert parse_skill_cases(text, "e.json").problems == (f"e.json:{problem}",)


@pytest.mark.parametrize(
    "text",
    [
        '[{"prompt":"a"},{"prompt":"b"}]',
        '\ufeff [{"prompt":"a"} , {"prompt":"b"}\t] \r\n',
        '{"evals":[{"prompt":"a"},{"prompt":"b"}]}',
        ' {\n"version" : 1 ,\t"evals" : [ {"prompt":"a"},\r\n{"prompt":"b"} ] , "description":"d"\n} ',
    ],
)
def test_space_may_be_between_all_parts(text: str) -> None:
    parsed = parse_skill_cases(text, "e.json")
    assert (parsed.problems, [case.prompt for case in parsed.cases]) == ((), ["a", "b"])


def test_each_case_has_its_line() -> None:
    text = '\n[\n\n{"prompt": "a",\n"id": 1}, {"prompt": "b"},\n{"prompt": "c"}\n]'
    assert [case.line for case in parse_skill_cases(text, "e.json").cases] == [4, 5, 6]
    inner = '{"version": 1,\n"evals": [{"prompt": "a"},\n{"prompt": "b"}]}'
    assert [case.line for case in parse_skill_cases(inner, "e.json").cases] == [2, 3]


def test_fields_of_the_file_are_known() -> None:
    parsed = parse({"prompt": "a"}, skill_name="s", version=1, description="d")
    assert (parsed.skill_name, parsed.problems, parsed.notices) == ("s", (), ())
    assert parse({"prompt": "a"}).skill_name is None
    names: tuple[Any, ...] = (" ", 5, [])
    for name in names:
        assert parse({"prompt": "a"}, skill_name=name).problems == (
            f"e.json:1: skill_name must be a text, not {json.dumps(name)}",
        )
    assert parse({"prompt": "a"}, more=1).notices == ("e.json: these fields have no effect: 'more' (line 1)",)


def test_fields_of_a_case_are_known() -> None:
    case = parse_case(
        id=" one ", expectations=["a"], assertions=["b"], expected_output="c", files=["d/e"], should_trigger=True,
        checks=["f"], tags=["g"], name="h",
    )  # fmt: skip
    assert case == SkillCase("one", "p", 1, "c", ("a", "b"), ("f",), ("d/e",), True, ("g",))
    assert parse({"prompt": "p", "name": "h", "query": "q"}).notices == ()
    empty: dict[str, Any] = {
        "id": "",
        "expectations": None,
        "checks": [],
        "expected_output": " ",
        "should_trigger": None,
        "files": None,
    }
    assert parse_case(**empty) == SkillCase(None, "p")
    assert parse({"query": "q"}).cases == (SkillCase(None, "q"),)
    assert parse({"prompt": "p", "query": "q"}).cases == (SkillCase(None, "p"),)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "a case must have a prompt"),
        ({"prompt": None}, "a case must have a prompt"),
        ({"prompt": " "}, 'prompt must be a text, not " "'),
        ({"query": ["q"]}, 'prompt must be a text, not ["q"]'),
        ({"prompt": "p", "expected_output": 5}, "expected_output must be a text, not 5"),
        ({"prompt": "p", "expectations": "a"}, 'expectations must be a list of texts, not "a"'),
        ({"prompt": "p", "assertions": ["a", " "]}, 'assertions must be a list of texts, not ["a"," "]'),
        ({"prompt": "p", "checks": [5]}, "checks must be a list of texts, not [5]"),
        ({"prompt": "p", "tags": {"a": 1}}, 'tags must be a list of texts, not {"a":1}'),
        ({"prompt": "p", "files": "f"}, 'files must be a list of texts, not "f"'),
        ({"prompt": "p", "should_trigger": 1}, "should_trigger must be true or false, not 1"),
    ],
)
def test_a_field_of_a_wrong_type_is_a_problem(fields: dict[str, Any], problem: str) -> None:
    assert find_problem(**fields) == problem


@pytest.mark.parametrize("name", ["/a", "../a", "a/../b", "a\0", "a\\b"])
def test_a_file_outside_of_the_skill_is_a_problem(name: str) -> None:
    problem = find_problem(prompt="p", files=["ok", name])
    assert problem == f"the file {json.dumps(name)} is not in the skill: write a path relative to it"


def test_ids_and_prompts_without_an_id_occur_once() -> None:
    different = parse(
        {"id": 1, "prompt": "a"},
        {"id": 2, "prompt": "a"},
        {"prompt": "a"},
        {"query": "b"},
        {"id": "prompt a", "prompt": "c"},
    )
    assert (different.problems, len(different.cases)) == ((), 5)
    parsed = parse({"query": "b"}, {"prompt": "b", "id": " "}, {"prompt": "b", "id": "b"}, {"id": "b", "prompt": "c"})
    assert parsed.problems == (
        "e.json:1: the case in line 1 has the prompt, and no id, too; give each case its own id",
        'e.json:1: the case in line 1 has the id "b" too; give each case its own id',
    )
    text = '[{"id": 1, "prompt": "a"},\n{"id": 1, "prompt": "b"},\n{"id": 1, "prompt": "c"}]'
    assert [each.partition(" has ")[0] for each in parse_skill_cases(text, "e.json").problems] == [
        "e.json:2: the case in line 1",
        "e.json:3: the case in line 1",
    ]


def test_the_number_of_cases_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert skill_cases.MOST_CASES == 100_000
    monkeypatch.setattr(skill_cases, "MOST_CASES", 2)
    cases = [{"prompt": name} for name in "abc"]
    assert len(parse(*cases[:2]).cases) == 2
    assert parse(*cases).problems == ("e.json:1: it has more than 2 cases",)


def test_a_case_is_graded_by_any_kind_of_check() -> None:
    bare = SkillCase("a", "p", should_trigger=True, files=("f",))
    assert not is_graded(bare)
    for case in (
        SkillCase("a", "p", checks=("c",)),
        SkillCase("a", "p", graders=(CaseGrader("l", "called", 1, {}),)),
        SkillCase("a", "p", expectations=("e",)),
        SkillCase("a", "p", expected_output="o"),
    ):
        assert is_graded(case)


def test_almost_the_name_of_a_field_is_a_problem() -> None:
    for name in (
        "prompt",
        "query",
        "expectations",
        "assertions",
        "expected_output",
        "files",
        "should_trigger",
        "checks",
    ):
        parsed = parse({"prompt": "p", f"{name[:-1]}z": 1})
        assert parsed.problems == (f'e.json:1: there is no field "{name[:-1]}z"; do you mean {name}?',)
    for name in ("skill_name", "version", "description", "evals"):
        parsed = parse({"prompt": "p"}, **{f"{name[:-1]}z": 1})
        assert parsed.problems == (f'e.json:1: there is no field "{name[:-1]}z"; do you mean {name}?',)
    assert parse({"prompt": "p", "id": 1, "tags": [], "name": "n"}, version=1, description="d").notices == ()
