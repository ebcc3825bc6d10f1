"""Tasks of waza: their files, fields and prompts for triggers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.kernel.waza_files import FILE, FOLDER, write

from scoregate.kernel.types.skill_cases import InputFile, SkillCase, SkillCases
from scoregate.kernel.types.skill_formats import waza
from scoregate.kernel.types.skill_formats.formats import (
    parse_cases,
)


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


DOCUMENT = ("name", "description", "skill", "version", "tasks", "graders", "hooks", "tasks_from")
DOCUMENT_UNUSED = ("config", "inputs", "range", "metrics", "baseline")
TASK = (
    "id",
    "name",
    "description",
    "enabled",
    "context_dir",
    "tags",
    "inputs",
    "expected",
    "graders",
    "timeout_seconds",
)
GRADER = ("script", "rubric", "assertions", "type", "name", "config", "weight", "model", "description")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((*DOCUMENT, *DOCUMENT_UNUSED), "{0}: x\n{tasks}"),
        ((*TASK, "timeout_seconds"), "tasks:\n- {{id: a, inputs: {{prompt: p}}, {0}: x}}"),
        (("prompt", "files", "environment", "context"), "tasks: [{{id: a, inputs: {{prompt: p, {0}: x}}}}]"),
        (("path", "content"), "tasks: [{{id: a, inputs: {{prompt: p, files: [{{path: b, {0}: x}}]}}}}]"),
        (
            GRADER,
            "{tasks}\ngraders:\n- {{type: text, config: {{contains: [a]}}, {0}: x}}",
        ),
        (
            ("before_run", "before_task", "after_run", "after_task"),
            "{tasks}\nhooks: {{{0}: x}}",
        ),
    ],
)
def test_almost_the_name_of_a_field_is_a_problem(tmp_path: Path, names: tuple[str, ...], text: str) -> None:
    for name in names:
        wrong = f"{name}x"
        (problem, *_) = read(tmp_path, text.format(wrong, tasks="tasks: [{id: a, inputs: {prompt: p}}]")).problems
        assert problem.endswith(f': there is no field "{wrong}"; do you mean {name}?')


def test_known_fields_without_an_effect_are_named(tmp_path: Path) -> None:
    head = "name: n\ndescription: d\nskill: s\nversion: 1\nhooks: {}\ngraders: []\n"
    task = "{id: a, name: n, description: d, enabled: true, context_dir: c, tags: [], graders: [], expected: {}, %s}"
    text = f"{head}tasks:\n- {task % 'inputs: {prompt: p, files: [], environment: null}'}"
    assert read(tmp_path, text).notices == ()
    found = read(tmp_path, f"{text}\n- {{id: b, inputs: {{prompt: q, context: x}}, timeout_seconds: 5}}")
    assert found.notices == (f"{FILE}: these fields have no effect: 'timeout_seconds' (line 9), 'context' (line 9)",)
    unused = read(tmp_path, f"{text}\n" + "".join(f"{name}: x\n" for name in DOCUMENT_UNUSED))
    names = ", ".join(f"'{name}' (line {line})" for line, name in enumerate(DOCUMENT_UNUSED, 9))
    assert unused.notices == (f"{FILE}: these fields have no effect: {names}",)


def test_fields_of_files_and_triggers_without_an_effect_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"trigger_tests.yaml": "skill: s\nodd: 1\nshould_trigger_prompts: [{prompt: p, more: 1}]"})
    found = read(tmp_path, "tasks: [{id: a, inputs: {prompt: p, files: [{path: x, other: 1}]}}]")
    places = "'other' (line 1), 'odd' ({0}:2), 'more' ({0}:3)".format(f"{FOLDER}/trigger_tests.yaml")
    assert found.notices == (f"{FILE}: these fields have no effect: {places}",)
    assert not found.problems
