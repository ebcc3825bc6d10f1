"""Cases of skills in the formats of other tools: what is read, what is an error of its case, and what is a problem."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from scoregate.kernel.types import yaml_document
from scoregate.kernel.types.skill_cases import SkillCases
from scoregate.kernel.types.skill_formats import place
from scoregate.kernel.types.skill_formats.formats import list_case_files, list_private, parse_cases

SKILL = "skills/paint"

SCENARIOS = """\
scenarios:
  - name: "Say hello"
    prompt: "Greet Alice"
    setup:
      copy_test_files: true
      files:
        - path: "in/notes.txt"
          content: "blue\\n"
        - path: "data.csv"
          source: "fixtures/data.csv"
      commands: ["make"]
    assertions:
      - type: output_contains
        value: Alice
      - type: "output_not_matches"
        pattern: "(?i)bob"
      - type: file_exists
        path: "**/*.csv"
      - type: file_not_contains
        path: "*.cs"
        value: stackalloc
      - type: exit_success
    expect_tools: [bash]
    reject_tools: ["create_file"]
    rubric:
      - It is friendly
    timeout: 30
  - name: Sing
    prompt: Sing a song
    expect_activation: false
"""

WAZA = """\
name: paint-eval
skill: paint
version: "1.0"
config: {trials_per_task: 3, timeout_seconds: 60, executor: mock, model: gpt-4o}
metrics:
  - {name: done, weight: 1, threshold: 0.8}
graders:
  - type: text
    name: no_errors
    config: {regex_not_match: ["(?i)fatal error"]}
tasks:
  - "tasks/*.yaml"
  - id: inline
    inputs: {prompt: Explain}
"""

TASK = """\
id: one
name: One
tags: [basic]
inputs:
  prompt: Explain sample.py
  files:
    - path: sample.py
    - {path: notes.txt, content: "a\\n"}
expected:
  should_trigger: true
  output_contains: [greet]
  output_contains_any: [say, tell]
  outcomes: [{type: task_completed}, {type: tool_called, tool_name: view}]
  behavior: {max_tool_calls: 5, max_response_time_ms: 30000}
graders:
  - name: file
    type: file
    config:
      must_exist: [out]
      must_not_exist: [DELETE.txt]
      content_patterns: [{path: out/a.md, must_match: ["(?i)title"], must_not_match: [TODO]}]
  - name: same
    type: diff
    config: {expected_files: [{path: a.json, snapshot: expected.json, contains: ["+x", "-y", z]}]}
  - name: code
    type: code
    config: {assertions: ["len(output) > 3 and re.search('a', output)"]}
  - name: program
    type: program
    config: {command: python3, args: [graders/check.py], timeout: 5}
  - name: order
    type: action_sequence
    config: {matching_mode: in_order_match, expected_actions: [view, edit]}
  - name: skills
    type: skill_invocation
    config: {mode: any_order, required_skills: [paint], allow_extra: false}
  - name: tools
    type: tool_constraint
    config: {reject_tools: [{tool: bash, command_pattern: "rm\\\\s+-rf"}]}
  - name: json
    type: json_schema
    config: {schema: {type: object}}
  - name: judge
    type: prompt
    config: {prompt: It is correct}
"""


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / SKILL / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read(root: Path, text: str, file: str = "tests/eval.yaml") -> SkillCases:
    return parse_cases(text, f"{SKILL}/{file}", root, SKILL)


def kinds(found: SkillCases, at: int = 0) -> list[str]:
    return [each.kind for each in found.cases[at].graders]


def test_scenarios_of_skill_validator_are_cases(tmp_path: Path) -> None:
    found = read(tmp_path, SCENARIOS)
    assert not found.problems
    first, second = found.cases
    assert (first.id, first.prompt, first.line, first.expectations) == (
        "Say hello",
        "Greet Alice",
        2,
        ("It is friendly",),
    )
    expected = ["contains", "matches", "file_exists", "file_exists", "file_contains", "not_empty", "called", "called"]
    assert kinds(found) == expected
    assert [each.options.get("negated", False) for each in first.graders] == [0, 1, 0, 0, 1, 0, 0, 1]
    assert [each.line for each in first.graders][:2] == [13, 15]
    folder, notes, data = first.workspace_files
    assert (folder.path, folder.source, folder.left_out) == ("", f"{SKILL}/tests", ("eval.yaml",))
    assert (notes.path, notes.content) == ("in/notes.txt", "blue\n")
    assert (data.path, data.source) == ("data.csv", f"{SKILL}/fixtures/data.csv")
    assert first.setup == ("make",)
    assert (first.should_trigger, second.should_trigger) == (None, False)
    assert found.notices == (f"{SKILL}/tests/eval.yaml: these fields have no effect: 'timeout' (line 27)",)


def test_tasks_of_waza_are_cases(tmp_path: Path) -> None:
    triggers = "skill: paint\nshould_trigger_prompts:\n- prompt: Paint\nshould_not_trigger_prompts:\n- {prompt: Sing}\n"
    others = {"fixtures/expected.json": "{}", "graders/check.py": "", "trigger_tests.yaml": triggers}
    write(tmp_path, {"tasks/one.yaml": TASK, **others})
    found = read(tmp_path, WAZA, "eval.yaml")
    assert not found.problems
    assert (found.skill_name, [each.id for each in found.cases]) == ("paint", ["one", "inline", None, None])
    first = found.cases[0]
    assert kinds(found) == [
        *("matches", "file_exists", "file_exists", "file_exists", "file_contains", "file_contains"),
        *("file_exists", "file_equals", "file_contains", "file_contains", "file_contains"),
        *("python", "program", "tool_calls", "skills", "tool_matches", "json_schema"),
        *("contains", "contains_any", "called", "max_tool_calls", "duration"),
    ]
    assert kinds(found, 1) == ["matches"]
    assert first.expectations[0].endswith("It is correct")
    assert (first.should_trigger, first.tags, first.unsupported) == (True, ("basic",), ())
    assert [(each.path, each.source) for each in first.workspace_files] == [
        ("sample.py", f"{SKILL}/fixtures/sample.py"),
        ("notes.txt", None),
    ]
    assert [each.should_trigger for each in found.cases[1:]] == [None, True, False]
    assert "'config'" in found.notices[0]
    assert "'metrics'" in found.notices[0]
    private = list_private(f"{SKILL}/eval.yaml", SKILL, found)
    assert {"eval.yaml", "tests", "evals", "tasks", "graders", "fixtures", "trigger_tests.yaml"} == set(private)
    # A program may use any file next to it.
    assert SKILL in list_case_files(f"{SKILL}/eval.yaml", SKILL, found)


def test_unmeasurable_checks_are_errors_of_their_case(tmp_path: Path) -> None:
    graders = {
        "{type: human, name: x, config: {a: 1}}": 'grader x: scoregate can\'t measure graders of type "human"',
        "{type: text, name: x, config: {pattern: a}}": 'grader x: the field "pattern" is not known',
        "{type: text, name: x, config: {}}": "grader x: it checks nothing",
        "{type: text, name: x}": "grader x: it has no config",
        "{type: text, name: x, config: {regex_match: ['(?<a>b']}}": "Python can't compile the pattern",
        "{type: code, name: x, config: {assertions: ['len(errors) == 0']}}": "scoregate has no errors",
        "{type: code, name: x, config: {assertions: ['1 +']}}": "it is not an expression of Python",
        "{type: code, name: x, config: {language: javascript, assertions: [a]}}": 'assertions in "javascript"',
        "{type: behavior, name: x, config: {max_tokens: 5}}": "grader x: max_tokens: scoregate can't measure it",
        "{type: prompt, name: x, config: {prompt: a, continue_session: true}}": "doesn't see the session",
        "{type: prompt, name: x, config: {prompt: a, mode: pairwise}}": 'mode "pairwise"',
        "{type: action_sequence, name: x, config: {matching_mode: a, expected_actions: [b]}}": "doesn't know the",
        "{type: tool_constraint, name: x, config: {expect_tools: [{tool: '('}]}}": "Python can't compile the pattern",
        "{type: text, name: x, script: a.py, config: {contains: [a]}}": "grader x: script: scoregate can't measure it",
    }
    for grader, message in graders.items():
        found = read(
            tmp_path,
            f"graders:\n- {grader}\ntasks:\n- {{id: a, inputs: {{prompt: b}}}}\n- {{id: c, inputs: {{prompt: d}}}}",
        )
        assert not found.problems, (grader, found.problems)
        for case in found.cases:
            assert message in case.unsupported[0], (grader, case.unsupported)
            assert case.unsupported[0].startswith(f"{SKILL}/tests/eval.yaml:2: "), case.unsupported
    tasks = {
        "inputs: {prompt: '{{name}}'}": "inputs.prompt: scoregate doesn't fill in templates",
        "inputs: {prompt: a, environment: {A: b}}": "inputs.environment: scoregate can't measure it",
        "inputs: {prompt: a}, expected: {outcomes: [{type: other}]}": 'expected.outcomes "other"',
        "inputs: {prompt: a}, expected: {tool_calls: {a: b}}": "expected.tool_calls",
        "inputs: {prompt: a}, expected: {sentiment: good}": 'the field "sentiment" is not known',
        "inputs: {prompt: a}, expected: {behavior: {max_iterations: 5}}": "expected.behavior.max_iterations",
    }
    for task, message in tasks.items():
        (case,) = read(tmp_path, f"tasks:\n- {{id: a, {task}}}").cases
        assert message in case.unsupported[0], (task, case.unsupported)
    (case,) = read(tmp_path, "hooks: {before_task: [{command: a}]}\ntasks:\n- {id: a, inputs: {prompt: b}}").cases
    assert "hooks.before_task" in case.unsupported[0]
    start = "scenarios:\n- name: a\n  prompt: b\n"
    for text, message in (
        (
            "  assertions: [{type: build_passes, value: a}]",
            "4: assertion build_passes: scoregate doesn't know this type",
        ),
        ("  max_turns: 5", "4: max_turns: scoregate can't measure it"),
        ("  max_tokens: 5", "4: max_tokens: scoregate can't measure it"),
    ):
        (case,) = read(tmp_path, start + text).cases
        assert case.unsupported == (f"{SKILL}/tests/eval.yaml:{message}",)


def test_a_wrong_file_is_a_problem_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text("id: a\n")
    write(tmp_path, {"tests/tasks/bad.yaml": "id: a\n  b: [\n", "tests/tasks/list.yaml": "- a\n"})
    (tmp_path / SKILL / "tests/tasks/link.yml").symlink_to(tmp_path / "outside.yaml")
    (tmp_path / SKILL / "tests/tasks/far.yml").symlink_to("/etc/hostname")
    start = "scenarios:\n- name: a\n  prompt: b\n"
    for text, message in {
        "": ":1: it is empty",
        "scenario: []": ':1: there is no field "scenario"; do you mean scenarios?',
        "scenarios: []": ":1: it has no cases",
        "scenarios: {a: b}": ":1: scenarios must be a list",
        "scenarios: [1]": ":1: scenarios must be a list of objects, and one is 1",
        "a: [": ": it is not YAML: ",
        "a: &x [b]\nscenarios: *x": ":2: *x is an alias; write out what it means",
        "a: " + "[" * 60 + "]" * 60: ":1: it has more than 50 levels",
        "a: b\na: c": ":2: the key 'a' occurs twice, first in line 1; keep one",
        "scenarios: [!!python/object/apply:os.system ['x']]": ":1: the tag tag:yaml.org,2002:python/object/apply:os",
        "scenarios: [!!set {a, b}]": ":1: the tag tag:yaml.org,2002:set is not known",
        "<<: {a: b}\nscenarios: []": ":1: the key << is not read; write out what it adds",
        "scenarios: !!python/name:os.system x": ":1: the tag tag:yaml.org,2002:python/name:os.system is not known",
        "scenarios: !!int ''": ":1: '' is not a value of its tag",
        "scenarios: !!bool x": ":1: 'x' is not a value of its tag",
        "scenarios: !!int 'a'": ":1: 'a' is not a value of its tag",
        "scenarios: a\0b": ": it is not YAML",
        "--- {}\n--- {}": ":2: it is not YAML",
        "? [a]\n: b": ":1: a key must be a text",
        "scenarios:\n- prompt: b": ":2: name is missing",
        "scenarios:\n- name: a": ":2: prompt is missing",
        "scenarios:\n- name: a\n  prompt: [b]": ':3: prompt must be a text, not ["b"]',
        start + "- name: a\n  prompt: c": ':4: the case in skills/paint/tests/eval.yaml:2 has the id "a" too',
        start + "  assertion: []": ':4: there is no field "assertion"; do you mean assertions?',
        start + "  assertions: [{type: output_contains}]": ":4: value is missing",
        start + "  assertions: [{type: output_contains, valeu: a, value: b}]": "do you mean value?",
        start + "  rubric: [[a]]": ':4: rubric must be a list of texts, and one is ["a"]',
        start + "  expect_activation: maybe": ":4: expect_activation must be true or false",
        start + "  setup: {files: [{path: ../a, content: b}]}": ':4: the path "../a" leads out of its folder',
        start + "  setup: {files: [{path: /a, content: b}]}": ':4: the path "/a" leads out of its folder',
        start
        + "  setup: {files: [{path: a, source: ../../b}]}": ':4: the source "../../b" is neither in the skill nor',
        start + "  setup: {files: [{path: a, content: [b]}]}": ":4: content must be a text",
        "tasks: [../*.yaml]": ':1: the pattern "../*.yaml" leads out of its folder',
        "tasks: [none/*.yaml]": ':1: no file matches "none/*.yaml"',
        "tasks: [[a]]": ":1: a task must be an object, or a pattern",
        "tasks_from: a.csv\ntasks: []": ":1: tasks_from is not read",
        "tasks: [{id: a, prompt: b}]": ":1: a task must have inputs with a prompt",
        "tasks: [{id: a, inputs: {prompt: b, files: [{path: ../../c}]}}]": "leads out of its folder",
        "tasks: [tasks/bad.yaml]": "skills/paint/tests/tasks/bad.yaml:2: it is not YAML",
        "tasks: [tasks/list.yaml]": "skills/paint/tests/tasks/list.yaml:1: it must be an object",
        "tasks: [tasks/link.yml]": "skills/paint/tests/tasks/link.yml:1: a task must have inputs with a prompt",
        "tasks: [tasks/far.yml]": "tasks/far.yml:1: it is a link that leads out of the project",
    }.items():
        found = read(tmp_path, text)
        assert any(message in each for each in found.problems), (text, found.problems)
        assert all(each.startswith(f"{SKILL}/tests/") for each in found.problems)


def test_program_arguments_can_be_anything(tmp_path: Path) -> None:
    words = ["x" * 5_000, "../../a", "a\\b", "-c", "."]
    grader = json.dumps({"type": "program", "name": "p", "config": {"command": "sh", "args": words}})
    found = read(tmp_path, f"tasks: [{{id: a, inputs: {{prompt: b}}, graders: [{grader}]}}]")
    assert not found.problems
    assert found.cases[0].graders[0].options["command"] == ["sh", *words]


def test_plain_values_are_texts_as_written(tmp_path: Path) -> None:
    text = "scenarios:\n- {name: 010, prompt: 1:30, assertions: [{type: output_contains, value: no}], rubric: [1.50]}\n"
    found = read(tmp_path, text)
    assert not found.problems
    (case,) = found.cases
    assert (case.id, case.prompt, case.expectations) == ("010", "1:30", ("1.50",))
    assert case.graders[0].options["text"] == "no"


def test_flags_are_read_as_in_go(tmp_path: Path) -> None:
    """yaml.v3 takes these texts for a bool where it expects one; elsewhere they stay texts."""
    words = {"y": True, "yes": True, "on": True, "True": True, "n": False, "no": False, "off": False, "FALSE": False}
    for word, flag in words.items():
        (case,) = read(tmp_path, f"scenarios: [{{name: {word}, prompt: b, expect_activation: {word}}}]").cases
        assert (case.id, case.should_trigger) == (word, flag)
    assert (
        "must be true or false"
        in read(tmp_path, "scenarios: [{name: a, prompt: b, expect_activation: Yes}]").problems[0]
    )


def test_a_file_of_another_kind_has_no_cases(tmp_path: Path) -> None:
    for text in ("- a", "prompts: [a]", "a: 2026-01-01"):
        found = read(tmp_path, text)
        assert found.unknown == "it has none of the fields 'scenarios' (skill-validator), 'tasks' (waza)"
        assert not found.problems


def test_files_next_to_the_skill_are_not_copied_with_it(tmp_path: Path) -> None:
    text = "scenarios: [{name: a, prompt: b, setup: {copy_test_files: true}}]"
    (problem,) = read(tmp_path, text, "eval.yaml").problems
    assert "copy_test_files would copy the skill, too; put eval.yaml into tests/" in problem


def test_many_cases_and_a_large_file_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "scenarios:\n" + "".join(f"- name: n{index}\n  prompt: p\n  rubric: [a]\n" for index in range(10_000))
    assert len(read(tmp_path, text).cases) == 10_000
    assert "more than 5,000,000 characters" in read(tmp_path, "#" * 5_000_001).problems[0]
    monkeypatch.setattr(yaml_document, "_MOST_VALUES", 1_000)
    assert "more than 1,000 values" in read(tmp_path, "[" + "1," * 1_001 + "]").problems[0]
    monkeypatch.setattr(place, "MOST_FILES", 10)
    write(tmp_path, {f"tests/tasks/{index}.yaml": f"id: n{index}\ninputs: {{prompt: a}}\n" for index in range(11)})
    assert "the pattern matches more than 10 files" in read(tmp_path, "tasks: ['tasks/*']").problems[0]
    (tmp_path / SKILL / "tests/tasks/10.yaml").unlink()
    assert len(read(tmp_path, "tasks: ['tasks/*', 'tasks/*.yaml']").cases) == 10
    wrong = read(tmp_path, "scenarios:\n" + "- {}\n" * 100).problems
    assert (len(wrong), wrong[-1]) == (21, f"180 more problems in {SKILL}/tests/eval.yaml")


def test_without_pyyaml_a_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing: dict[str, Any] = {"yaml": None}
    for name, module in missing.items():
        monkeypatch.setitem(sys.modules, name, module)
    (problem,) = read(tmp_path, SCENARIOS).problems
    assert "YAML needs the package PyYAML, which is not installed. Run: pip install 'scoregate[judges]'" in problem
