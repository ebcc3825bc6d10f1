"""Scenarios of skill-validator as cases, and the files that the results of all formats depend on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoregate.kernel.types.skill_cases import CaseGrader, InputFile, SkillCase, SkillCases
from scoregate.kernel.types.skill_formats.formats import (
    is_yaml,
    list_case_files,
    list_folders,
    list_private,
    parse_cases,
)

FOLDER = "skills/paint/tests"
FILE = f"{FOLDER}/eval.yaml"


def read(root: Path, text: str) -> SkillCases:
    return parse_cases(text, FILE, root, "skills/paint")


SCENARIO = "scenarios:\n- name: a\n  prompt: p\n"
FOLDED = {"ignore_case": True}


@pytest.mark.parametrize(
    ("assertion", "expected"),
    [
        ("{type: output_contains, value: x}", [("contains", {"text": "x", **FOLDED})]),
        ("{type: output_not_contains, value: x}", [("contains", {"text": "x", "negated": True, **FOLDED})]),
        ("{type: output_matches, pattern: x}", [("matches", {"pattern": "x", **FOLDED})]),
        ("{type: output_not_matches, pattern: x}", [("matches", {"pattern": "x", "negated": True, **FOLDED})]),
        ("{type: file_exists, path: f}", [("file_exists", {"glob": "f"})]),
        ("{type: file_not_exists, path: f}", [("file_exists", {"glob": "f", "negated": True})]),
        ("{type: file_contains, path: f, value: x}", [("file_contains", {"glob": "f", "text": "x"})]),
        (
            "{type: file_not_contains, path: f, value: x}",
            [("file_exists", {"glob": "f"}), ("file_contains", {"glob": "f", "text": "x", "negated": True})],
        ),
        ("{type: exit_success}", [("not_empty", {})]),
    ],
)
def test_assertions_are_checks(tmp_path: Path, assertion: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    found = read(tmp_path, f"{SCENARIO}  assertions:\n  - {assertion}")
    assert not found.problems
    graders = found.cases[0].graders
    assert [(each.kind, dict(each.options)) for each in graders] == expected
    assert {each.line for each in graders} == {5}
    kind = assertion[1:-1].split(", ", maxsplit=1)[0].removeprefix("type: ")
    values = " ".join(f'"{part.split(": ")[1]}"' for part in assertion[1:-1].split(", ")[1:])
    assert graders[-1].label == f"{kind} {values}".strip()


def test_scenarios_have_what_their_fields_say(tmp_path: Path) -> None:
    text = (
        f"{SCENARIO}  expect_tools: [t]\n  reject_tools: [u]\n  rubric: [r]\n  expect_activation: no\n"
        "  setup: {commands: [c], files: [{path: x, source: s}, {path: y, content: ''}]}"
    )
    found = read(tmp_path, text)
    assert not found.problems
    assert found.cases == (
        SkillCase(
            "a",
            "p",
            2,
            expectations=("r",),
            should_trigger=False,
            graders=(
                CaseGrader("expect_tools t", "called", 4, {"tool": "t"}),
                CaseGrader("reject_tools u", "called", 5, {"tool": "u", "negated": True}),
            ),
            workspace_files=(InputFile("x", "skills/paint/s"), InputFile("y", content="")),
            setup=("c",),
        ),
    )
    odd = read(tmp_path, f"{SCENARIO}  setup: {{odd: 1, files: [{{path: x, content: c, more: 1}}]}}")
    assert odd.notices == (f"{FILE}: these fields have no effect: 'odd' (line 4), 'more' (line 4)",)
    (plain,) = read(tmp_path, SCENARIO).cases
    assert (plain.workspace_files, plain.setup, plain.should_trigger) == ((), (), None)
    copied = read(tmp_path, f"{SCENARIO}  setup: {{copy_test_files: yes}}").cases[0].workspace_files
    assert copied == (InputFile("", FOLDER, left_out=("eval.yaml",)),)
    assert read(tmp_path, f"{SCENARIO}  setup: {{copy_test_files: no}}").cases[0].workspace_files == ()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("assertions: [{value: x}]", "type is missing"),
        ("assertions: [{type: file_contains, path: x}]", "value is missing"),
        ("setup: {files: [{source: s}]}", "path is missing"),
        ("setup: {files: [{path: x}]}", "source is missing"),
        ("setup: {files: [{path: x, content: [c]}]}", "content must be a text"),
        ("setup: {files: [{path: ../x, content: c}]}", 'the path "../x" leads out of its folder'),
        (
            "setup: {files: [{path: x, source: ../s}]}",
            'the source "../s" is neither in the skill nor in skills/paint/t',
        ),
    ],
)
def test_a_wrong_scenario_is_a_problem_and_no_case(tmp_path: Path, fields: str, problem: str) -> None:
    found = read(tmp_path, f"{SCENARIO}  {fields}\n- name: ok\n  prompt: o")
    assert [each.id for each in found.cases] == ["ok"]
    (message,) = found.problems
    assert message.startswith(f"{FILE}:4: {problem}")


def test_unmeasurable_assertions_are_errors_of_their_case(tmp_path: Path) -> None:
    assertions = f"  - {{type: {'x' * 90}}}\n  - {{type: output_matches, pattern: (}}"
    text = f"{SCENARIO}  max_turns: 1\n  max_tokens: 2\n  assertions:\n{assertions}"
    (case,) = read(tmp_path, text).cases
    assert case.graders == ()
    assert [each.removeprefix(f"{FILE}:") for each in case.unsupported[:1]] == [
        f"7: assertion {'x' * 80}: scoregate doesn't know this type"
    ]
    assert [each.removeprefix(f"{FILE}:").partition(": scoregate")[0] for each in case.unsupported[2:]] == [
        "4: max_turns",
        "5: max_tokens",
    ]


def test_files_of_yaml_have_two_endings() -> None:
    assert [is_yaml(name) for name in ("a.yaml", "a.yml", "a.json", "yaml")] == [True, True, False, False]


def test_what_the_agent_must_not_find_is_listed_once() -> None:
    skill = "skills/paint"
    files = (
        f"{skill}/tasks/a.yaml",
        f"{skill}/tasks/b.yaml",
        f"{skill}/tests/c.yaml",
        f"{skill}/t.yaml",
        "other/d.yaml",
    )
    cases = SkillCases(files=files)
    assert list_private(f"{skill}/eval.yaml", skill, cases) == ["evals", "tests", "eval.yaml", "tasks", "t.yaml"]
    assert list(list_folders(("a/b/c", "a/b"), "a")) == ["a/b", "a/b"]


def test_results_depend_on_the_files_of_cases_and_of_programs() -> None:
    skill = "skills/paint"
    source = SkillCase("a", "p", workspace_files=(InputFile("x", f"{skill}/data/x"), InputFile("y", content="c")))
    program = SkillCase("b", "p", graders=(CaseGrader("l", "program", 1, {}),))
    check = SkillCase("c", "p", graders=(CaseGrader("l", "contains", 1, {}),))
    file = f"{skill}/evals/eval.yaml"
    files = (f"{skill}/one.yaml",)
    without = list_case_files(file, skill, SkillCases(cases=(source, check), files=files))
    assert without == [f"{skill}/data", f"{skill}/evals", f"{skill}/one.yaml"]
    assert list_case_files(f"{skill}/eval.yaml", skill, SkillCases(cases=(check, program))) == [
        skill,
        f"{skill}/eval.yaml",
    ]
