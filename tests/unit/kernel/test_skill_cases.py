"""The cases of a skill: both dialects, the line of each problem, and files with many cases."""

from __future__ import annotations

import json
from typing import Any

from scoregate.kernel.types.skill_cases import SkillCases, parse_skill_cases


def parse(*cases: Any, **head: Any) -> SkillCases:
    return parse_skill_cases(json.dumps({**head, "evals": cases}, indent=1), "e.json")


def test_both_names_of_statements_and_ids_of_any_type_are_read() -> None:
    parsed = parse(
        {"id": 1, "prompt": "a", "expectations": ["x"], "assertions": ["y"], "files": ["evals/files/a.csv"]},
        {"id": "one", "query": "b", "should_trigger": False},
        {"id": ["k", 2], "prompt": "c", "expected_output": "d", "checks": ["true"], "tags": ["critical"]},
        {"prompt": "d"},
        skill_name="pdf",
    )
    assert (parsed.problems, parsed.notices, parsed.skill_name) == ((), (), "pdf")
    assert [case.id for case in parsed.cases] == ["1", "one", '["k",2]', None]
    assert parsed.cases[0].expectations == ("x", "y")
    assert [case.should_trigger for case in parsed.cases] == [None, False, None, None]
    assert (parsed.cases[2].expected_output, parsed.cases[2].checks, parsed.cases[2].tags) == (
        "d",
        ("true",),
        ("critical",),
    )
    assert [case.prompt for case in parse_skill_cases('[{"prompt": "a"}, {"prompt": "b"}]', "e.json").cases] == [
        "a",
        "b",
    ]


def test_each_problem_has_its_line_and_unknown_fields_are_reported() -> None:
    text = """{"evals": [
      {"id": 1, "prompt": "a"},
      {"id": "1", "prompt": "b"},
      {"id": 3},
      {"id": 4, "prompt": 5},
      {"id": 5, "prompt": "e", "files": ["../secret", "/etc/passwd", "ok.txt"]},
      {"id": 6, "prompt": "f", "should_trigger": "no"},
      {"id": 7, "prompt": "g", "expectations": "one text"},
      "h",
      {"prompt": "same"}, {"prompt": "same"},
      {"id": 9, "prompt": "i", "expected": "x", "difficulty": 3}
    ], "model": "x"}"""
    parsed = parse_skill_cases(text, "e.json")
    expected = {
        'e.json:3: the case in line 2 has the id "1" too': 1,
        "e.json:4: a case must have a prompt": 1,
        "e.json:5: prompt must be a text, not 5": 1,
        'e.json:6: the file "../secret" is not in the skill': 1,
        'e.json:6: the file "/etc/passwd" is not in the skill': 1,
        "e.json:7: should_trigger must be true or false": 1,
        "e.json:8: expectations must be a list of texts": 1,
        'e.json:9: a case must be an object, not "h"': 1,
        "e.json:10: the case in line 10 has the prompt, and no id, too": 1,
    }
    assert {start: sum(each.startswith(start) for each in parsed.problems) for start in expected} == expected
    assert len(parsed.problems) == len(expected), parsed.problems
    (notice,) = parsed.notices
    for part in ("'expected' (line 11)", "'difficulty' (line 11)", "'model' (line 1)", "have no effect"):
        assert part in notice


def test_a_misspelt_field_is_a_problem() -> None:
    for name, meant in (
        ("chekcs", "checks"),
        ("check", "checks"),
        ("shouldTrigger", "should_trigger"),
        ("expected-output", "expected_output"),
        ("assertion", "assertions"),
        ("Expectations", "expectations"),
    ):
        parsed = parse_skill_cases(f'[{{"prompt": "a"}},\n{{"prompt": "b", "{name}": []}}]', "e.json")
        assert parsed.problems == (f'e.json:2: there is no field "{name}"; do you mean {meant}?',)
        assert not parsed.notices
    assert parse({"prompt": "a"}, skillname="x").problems
    many = parse({"prompt": "a", **{f"x{index}": 1 for index in range(3_000)}})
    assert (many.problems, len(many.notices)) == ((), 1)


def test_a_file_without_cases_is_a_problem() -> None:
    for text, problem in (
        ("", "it is not JSON"),
        ("nope", "it is not JSON"),
        ('{"evals": [{"prompt": "a"},]}', "it is not JSON"),
        ('{"evals": [{"prompt": "a"}]} x', "it is not JSON"),
        ('{"evals": [{"prompt": "a"}\n {"prompt": "b"}]}', "e.json:2: it is not JSON: a comma or ] is expected"),
        ('{"evals": {}}', "it has no cases"),
        ('{"evals": []}', "it has no cases"),
        ("{}", "it has no cases"),
        ("[" * 100_000, "it has too many levels"),
        ('{"skill_name": 3, "evals": [{"prompt": "a"}]}', "skill_name must be a text"),
    ):
        parsed = parse_skill_cases(text, "e.json")
        assert any(problem in each for each in parsed.problems), (text[:40], parsed.problems)


def test_many_cases_are_read_and_many_problems_are_counted() -> None:
    parsed = parse(*({"id": index, "prompt": f"question {index}"} for index in range(10_000)))
    assert (len(parsed.cases), parsed.problems, parsed.cases[-1].line) == (10_000, (), 9_999 * 4 + 3)
    bad = parse(*({"id": 1, "prompt": "x"} for _ in range(10_000)))
    assert len(bad.problems) == 21
    assert bad.problems[-1] == "9,979 more problems in e.json"
