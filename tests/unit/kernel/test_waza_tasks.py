"""Tasks of waza: their files, fields and prompts for triggers."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.kernel.types.skill_cases import InputFile, SkillCase, SkillCases
from scoregate.kernel.types.skill_formats import waza
from scoregate.kernel.types.skill_formats.formats import (
    parse_cases,
)

FOLDER = "skills/paint/tests"
FILE = f"{FOLDER}/eval.yaml"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read(root: Path, text: str) -> SkillCases:
    return parse_cases(text, FILE, root, "skills/paint")


def test_the_files_of_tasks_are_read_once_and_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = "id: {0}\ninputs: {{prompt: p}}\n"
    write(tmp_path, {f"t/{name}.yaml": task.format(name) for name in "ab"})
    found = read(tmp_path, "tasks: [t/*.yaml, t/a.yaml]")
    assert (found.problems, [each.id for each in found.cases]) == ((), ["a", "b"])
    assert found.files == (f"{FOLDER}/t/a.yaml", f"{FOLDER}/t/b.yaml")
    assert [each.file for each in found.cases] == list(found.files)
    size = len(task.format("a"))
    monkeypatch.setattr(waza, "_MOST_CHARACTERS", 2 * size)
    assert not read(tmp_path, "tasks: [t/*.yaml]").problems
    monkeypatch.setattr(waza, "_MOST_CHARACTERS", 2 * size - 1)
    (problem,) = read(tmp_path, "tasks: [t/*.yaml]").problems
    assert problem.startswith(f"{FOLDER}/t/b.yaml:1: the files of the tasks have more than")
    monkeypatch.setattr(waza, "MOST_FILES", 2)
    monkeypatch.setattr(waza, "_MOST_CHARACTERS", 10_000)
    assert not read(tmp_path, "tasks: [t/*.yaml]").problems
    monkeypatch.setattr(waza, "MOST_FILES", 1)
    found = read(tmp_path, "tasks: [t/*.yaml]")
    assert found.problems == (f"{FILE}:1: there are more than 1 files of tasks",)


def test_tasks_have_what_their_fields_say(tmp_path: Path) -> None:
    task = (
        "id: ' a '\n  tags: [t]\n  expected: {should_trigger: no}\n  context_dir: data\n"
        "  inputs: {prompt: p, files: [{path: x}, {path: y, content: ''}, {path: z, content: null}]}"
    )
    found = read(tmp_path, f"skill: paint\ntasks:\n- {task}\n- id: b\n  enabled: false\n  inputs: {{prompt: q}}\n")
    assert not found.problems
    (case,) = found.cases
    assert case == SkillCase(
        "a",
        "p",
        3,
        should_trigger=False,
        tags=("t",),
        workspace_files=(
            InputFile("x", f"{FOLDER}/data/x"),
            InputFile("y", content=""),
            InputFile("z", f"{FOLDER}/data/z"),
        ),
        file=FILE,
    )
    assert found.skill_name == "paint"
    enabled = read(tmp_path, "tasks: [{id: a, enabled: true, inputs: {prompt: p, files: [{path: x}]}}]").cases
    assert enabled[0].workspace_files == (InputFile("x", f"{FOLDER}/fixtures/x"),)
    assert (enabled[0].should_trigger, enabled[0].unsupported) == (None, ())


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ("{inputs: {prompt: p}}", "id is missing"),
        ("{id: a, inputs: {}}", "prompt is missing"),
        ("{id: a, inputs: [p]}", "inputs must be an object"),
        ("{id: a, inputs: {prompt: p, files: [{content: c}]}}", "path is missing"),
        ("{id: a, inputs: {prompt: p, files: [{path: x, content: [c]}]}}", "content must be a text"),
        ("{id: a, context_dir: ../.., inputs: {prompt: p, files: [{path: x}]}}", 'the file "x" is not in the skill'),
        ("{id: a, inputs: {prompt: p}, expected: [a]}", "expected must be an object"),
        ("{id: a, inputs: {prompt: p}, tags: t}", "tags must be a list"),
        ("null", "a task must be an object, or a pattern"),
    ],
)
def test_a_wrong_task_is_a_problem_and_no_case(tmp_path: Path, task: str, problem: str) -> None:
    found = read(tmp_path, f"tasks:\n- {{id: ok, inputs: {{prompt: o}}}}\n- {task}")
    assert [each.id for each in found.cases] == ["ok"]
    assert any(each.startswith(f"{FILE}:3: {problem}") for each in found.problems), found.problems


def test_hooks_of_tasks_cannot_be_measured(tmp_path: Path) -> None:
    tasks = "tasks: [{id: a, inputs: {prompt: '{{x}} {'}}]"
    found = read(tmp_path, f"hooks: {{before_run: [a], before_task: [b], after_run: [c], after_task: [d]}}\n{tasks}")
    assert [each.partition(": ")[2].partition(":")[0] for each in found.cases[0].unsupported] == [
        "hooks.before_run",
        "hooks.before_task",
        "inputs.prompt",
    ]
    assert "'after_run' (line 1), 'after_task' (line 1)" in found.notices[0]


def test_prompts_for_triggers_are_cases_without_an_id(tmp_path: Path) -> None:
    triggers = (
        "should_trigger_prompts:\n- {prompt: p, reason: r, confidence: high}\n- {reason: r}\n"
        "should_not_trigger_prompts:\n- {prompt: q}\n"
    )
    write(tmp_path, {"trigger_tests.yaml": triggers})
    found = read(tmp_path, "tasks: []")
    name = f"{FOLDER}/trigger_tests.yaml"
    assert found.cases == (
        SkillCase(None, "p", 2, should_trigger=True, file=name),
        SkillCase(None, "q", 5, should_trigger=False, file=name),
    )
    assert (found.problems, found.files, found.notices) == ((f"{name}:3: prompt is missing",), (name,), ())
    write(tmp_path, {"trigger_tests.yaml": "[a]"})
    assert read(tmp_path, "tasks: []").problems == (f"{name}:1: it must be an object",)
