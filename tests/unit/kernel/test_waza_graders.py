"""The checks that each grader of waza becomes, with their options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.kernel.waza_files import FILE, FOLDER, write

from scoregate.kernel.types.skill_cases import SkillCase, SkillCases
from scoregate.kernel.types.skill_formats.formats import parse_cases


def read(root: Path, graders: str, *, expected: str = "{}") -> SkillCases:
    task = f"- id: a\n  inputs: {{prompt: b}}\n  expected: {expected}\n"
    return parse_cases(f"graders:\n{graders}\ntasks:\n{task}", FILE, root, "skills/paint")


def read_case(root: Path, graders: str) -> SkillCase:
    found = read(root, graders)
    assert not found.problems
    (case,) = found.cases
    return case


def list_graders(root: Path, kind: str, config: str) -> list[tuple[str, str, dict[str, Any]]]:
    case = read_case(root, f"- {{type: {kind}, name: x, config: {config}}}")
    assert not case.unsupported
    return [(each.label, each.kind, dict(each.options)) for each in case.graders]


TEXTS = {
    "contains": ("contains", {"text": "a", "ignore_case": True}),
    "not_contains": ("contains", {"text": "a", "ignore_case": True, "negated": True}),
    "contains_cs": ("contains", {"text": "a"}),
    "not_contains_cs": ("contains", {"text": "a", "negated": True}),
    "regex_match": ("matches", {"pattern": "a"}),
    "regex_not_match": ("matches", {"pattern": "a", "negated": True}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_searched_as_their_field_says(tmp_path: Path, name: str) -> None:
    kind, options = TEXTS[name]
    assert list_graders(tmp_path, "text", f"{{{name}: [a]}}") == [(f'grader x: {name} "a"', kind, options)]


def test_files_exist_and_have_a_content(tmp_path: Path) -> None:
    config = (
        "{must_exist: [a], must_not_exist: [b], content_patterns: [{path: c, must_match: [d], must_not_match: [e]}]}"
    )
    assert list_graders(tmp_path, "file", config) == [
        ('grader x: must_exist "a"', "file_exists", {"path": "a"}),
        ('grader x: must_not_exist "b"', "file_exists", {"path": "b", "negated": True}),
        ('grader x: "c" exists', "file_exists", {"path": "c", "is_regular": True}),
        ('grader x: "c" must_match "d"', "file_contains", {"pattern": "d", "path": "c"}),
        ('grader x: "c" must_not_match "e"', "file_contains", {"pattern": "e", "path": "c", "negated": True}),
    ]


def test_a_file_is_compared_with_a_snapshot_and_with_lines_of_a_diff(tmp_path: Path) -> None:
    write(tmp_path, {"fixtures/a": "1", "other/a": "2"})
    exists = ('grader x: "f" exists', "file_exists", {"path": "f", "is_regular": True})
    for folder, field in (("fixtures", ""), ("other", ", context_dir: other")):
        config = f"{{expected_files: [{{path: f, snapshot: a}}]{field}}}"
        same = ('grader x: "f" equals "a"', "file_equals", {"path": "f", "source": f"{FOLDER}/{folder}/a"})
        assert list_graders(tmp_path, "diff", config) == [exists, same]
        found = read(tmp_path, f"- {{type: diff, config: {config}}}")
        assert found.files == (f"{FOLDER}/{folder}/a",)
    assert list_graders(tmp_path, "diff", "{expected_files: [{path: f, contains: ['+x', '-y', z]}]}") == [
        exists,
        ('grader x: "f" contains "+x"', "file_contains", {"path": "f", "text": "x"}),
        ('grader x: "f" contains "-y"', "file_contains", {"path": "f", "text": "y", "negated": True}),
        ('grader x: "f" contains "z"', "file_contains", {"path": "f", "text": "z"}),
    ]


def test_code_is_an_expression_with_known_names(tmp_path: Path) -> None:
    known = ["any(w in output for w in ['a'])", "len(re.findall('a', output)) < duration_ms"]
    known += ("all([str(int(float('1')))])", "bool(list(dict()))", "'\\d' in output")
    for text in known:
        expected = [(f"grader x: {text}", "python", {"expression": text})]
        case = read_case(tmp_path, f"- type: code\n  name: x\n  config:\n    assertions:\n    - >-\n      {text}")
        assert not case.unsupported, text
        found = [(each.kind, dict(each.options)) for each in case.graders]
        assert found == [each[1:] for each in expected]
    (grader,) = read_case(tmp_path, "- {type: code, name: x, config: {language: python, assertions: [output]}}").graders
    assert (grader.label, grader.line) == ('grader x: "output"', 2)
    unknown = read_case(tmp_path, "- {type: code, name: x, config: {assertions: [zip(output) or exec]}}").unsupported
    assert unknown == (
        f'{FILE}:2: grader x: assertion "zip(output) or exec": scoregate has no exec, zip; '
        "it has output and duration_ms",
    )


def test_a_program_runs_next_to_the_cases_with_a_limit(tmp_path: Path) -> None:
    write(tmp_path, {"check.py": "", "lib/check.py": ""})
    for timeout, limit in (("", 30), (", timeout: 5", 5), (", timeout: 0", 30)):
        config = f"{{command: sh, args: [check.py, -v]{timeout}}}"
        options = {"command": ["sh", "check.py", "-v"], "folder": FOLDER, "timeout": limit}
        assert list_graders(tmp_path, "program", config) == [("grader x", "program", options)]
    # A script may use what is in its own folder, but the folder of the cases has the whole file of cases.
    for script, file in (("check.py", f"{FOLDER}/check.py"), ("lib/check.py", f"{FOLDER}/lib")):
        found = read(tmp_path, f"- {{type: program, config: {{command: {script}}}}}")
        assert found.files == (file,)
    assert read(tmp_path, "- {type: program, config: {command: lib}}").files == ()
    missing = read(tmp_path, "- {type: program, config: {args: [a]}}")
    assert missing.problems == (f"{FILE}:2: command is missing",)


def test_behavior_limits_calls_and_time(tmp_path: Path) -> None:
    config = (
        "{max_tool_calls: 0, max_duration_ms: 1, max_response_time_ms: 2, required_tools: [a], forbidden_tools: [b]}"
    )
    assert list_graders(tmp_path, "behavior", config) == [
        ("grader x: max_tool_calls 0", "max_tool_calls", {"most": 0}),
        ("grader x: max_duration_ms 1", "duration", {"most_ms": 1}),
        ("grader x: max_response_time_ms 2", "duration", {"most_ms": 2}),
        ("grader x: required_tools a", "called", {"tool": "a"}),
        ("grader x: forbidden_tools b", "called", {"tool": "b", "negated": True}),
    ]
    case = read_case(tmp_path, "- {type: behavior, config: {max_tokens: 5, max_iterations: 6}}")
    assert [each.partition(": ")[2] for each in case.unsupported] == [
        f"grader behavior: {name}: scoregate can't measure it" for name in ("max_tokens", "max_iterations")
    ]


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("exact_match", "exact"),
        ("in_order_match", "in_order"),
        ("any_order_match", "superset"),
        ("in_order", "in_order"),
        ("any_order", "superset"),
    ],
)
def test_sequences_of_calls_have_a_mode(tmp_path: Path, given: str, mode: str) -> None:
    config = f"{{matching_mode: {given}, expected_actions: [a, b]}}"
    options = {"expected": ["a", "b"], "mode": mode}
    assert list_graders(tmp_path, "action_sequence", config) == [("grader x", "tool_calls", options)]
    stricter = {"in_order": "exact", "superset": "any_order"}
    for field, expected in (
        ("", mode),
        (", allow_extra: true", mode),
        (", allow_extra: false", stricter.get(mode, mode)),
    ):
        config = f"{{mode: {given}, required_skills: [a]{field}}}"
        options = {"expected": ["a"], "mode": expected}
        assert list_graders(tmp_path, "skill_invocation", config) == [("grader x", "skills", options)]


def test_a_sequence_needs_a_mode_and_something_expected(tmp_path: Path) -> None:
    for kind, names in (
        ("action_sequence", ("matching_mode", "expected_actions")),
        ("skill_invocation", ("mode", "required_skills")),
    ):
        missing = read(tmp_path, f"- {{type: {kind}, name: x, config: {{{names[1]}: [a]}}}}")
        assert missing.problems == (f"{FILE}:2: {names[0]} is missing",)
        for config, why in (
            (f"{{{names[0]}: odd, {names[1]}: [a]}}", f'scoregate doesn\'t know the {names[0]} "odd"'),
            (f"{{{names[0]}: in_order}}", "it checks nothing"),
        ):
            case = read_case(tmp_path, f"- {{type: {kind}, name: x, config: {config}}}")
            assert case.unsupported == (f"{FILE}:2: grader x: {why}",)


def test_tool_constraints_have_patterns(tmp_path: Path) -> None:
    patterns = "{tool: a, command_pattern: b, skill_pattern: c, path_pattern: d}"
    options = {"patterns": {"tool": "a", "command_pattern": "b", "skill_pattern": "c", "path_pattern": "d"}}
    config = f"{{expect_tools: [{patterns}], reject_tools: [{{tool: e}}]}}"
    assert list_graders(tmp_path, "tool_constraint", config) == [
        ("grader x: expect_tools a b c d", "tool_matches", options),
        ("grader x: reject_tools e", "tool_matches", {"patterns": {"tool": "e"}, "negated": True}),
    ]
    case = read_case(tmp_path, "- {type: tool_constraint, config: {expect_tools: [{tool: a, path_pattern: '('}]}}")
    assert (len(case.unsupported), case.graders) == (1, ())
    missing = read(tmp_path, "- {type: tool_constraint, config: {expect_tools: [{path_pattern: a}]}}")
    assert missing.problems == (f"{FILE}:2: tool is missing",)


def test_a_schema_is_given_or_in_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"schema.json": '{"type": "array"}', "list.json": "[]", "bad.json": "{", "latin.json": ""})
    (tmp_path / FOLDER / "latin.json").write_bytes(b"\xe9")
    array, given = {"schema": {"type": "array"}}, {"schema": {"type": "object"}}
    assert list_graders(tmp_path, "json_schema", "{schema_file: schema.json}") == [("grader x", "json_schema", array)]
    both = "{schema: {type: object}, schema_file: schema.json}"
    assert list_graders(tmp_path, "json_schema", both) == [("grader x", "json_schema", given)]
    assert read(tmp_path, "- {type: json_schema, config: {schema_file: schema.json}}").files == (
        f"{FOLDER}/schema.json",
    )
    for config, problem in (
        ("{schema_file: list.json}", "grader x needs a schema, which is an object"),
        ("{schema: a}", "grader x needs a schema, which is an object"),
        ("{}", "grader x needs a schema, which is an object"),
        ("{schema_file: bad.json}", 'the schema "bad.json" is not JSON: '),
        ("{schema_file: ../../../a.json}", 'the file "../../../a.json" is not in the skill'),
        ("{schema_file: none.json}", 'the file "none.json": there is no such file'),
        ("{schema_file: latin.json}", 'the file "latin.json": it is not UTF-8'),
    ):
        found = read(tmp_path, f"- {{type: json_schema, name: x, config: {config}}}")
        assert len(found.problems) == 1
        assert found.problems[0].startswith(f"{FILE}:2: {problem}"), found.problems


def test_a_prompt_is_an_expectation(tmp_path: Path) -> None:
    for fields in ("", ", mode: independent", ", continue_session: false, model: any"):
        case = read_case(tmp_path, f"- {{type: prompt, name: x, config: {{prompt: It is blue{fields}}}}}")
        (statement,) = case.expectations
        assert statement.startswith("The output satisfies these instructions")
        assert statement.endswith("The instructions: It is blue")
        assert (case.graders, case.unsupported) == ((), ())
    for fields, why in (
        ("continue_session: true", "scoregate's judge doesn't see the session (continue_session)"),
        ("mode: pairwise", 'scoregate can\'t grade with mode "pairwise"'),
    ):
        case = read_case(tmp_path, f"- {{type: prompt, name: x, config: {{prompt: a, {fields}}}}}")
        assert (case.expectations, case.unsupported) == ((), (f"{FILE}:2: grader x: {why}",))
    assert read(tmp_path, "- {type: prompt, config: {mode: independent}}").problems == (f"{FILE}:2: prompt is missing",)


def test_a_grader_without_a_name_is_called_by_its_type(tmp_path: Path) -> None:
    (grader,) = read_case(tmp_path, "- {type: text, config: {contains: [a]}}").graders
    assert grader.label == 'grader text: contains "a"'
    (grader,) = read_case(tmp_path, f"- {{type: text, name: {'n' * 90}, config: {{contains: [a]}}}}").graders
    assert grader.label == f'grader {"n" * 80}: contains "a"'


def test_a_grader_that_cannot_be_measured_does_not_stop_the_next(tmp_path: Path) -> None:
    after = "- {type: text, name: z, config: {contains: [a]}}"
    for grader, why in (
        ("{type: odd, name: x}", 'scoregate can\'t measure graders of type "odd"'),
        ("{type: text, name: x}", "it has no config"),
        ("{type: text, name: x, config: {}}", "it checks nothing"),
        ("{type: code, name: x, config: {language: js, assertions: [a]}}", 'can\'t measure assertions in "js"'),
        ("{type: text, name: x, config: {odd: 1}}", 'the field "odd" is not known'),
        ("{type: file, name: x, config: {content_patterns: [{path: a, odd: 1}]}}", 'the field "odd" is not known'),
        ("{type: diff, name: x, config: {expected_files: [{path: a, odd: 1}]}}", 'the field "odd" is not known'),
        ("{type: tool_constraint, name: x, config: {reject_tools: [{tool: a, odd: 1}]}}", 'the field "odd" is not'),
    ):
        case = read_case(tmp_path, f"- {grader}\n{after}")
        (message,) = case.unsupported
        assert message.startswith(f"{FILE}:2: grader x: "), message
        assert why in message
        assert case.graders[-1].label.startswith("grader z: ")
    for name in ("script", "rubric", "assertions"):
        case = read_case(tmp_path, f"- {{type: text, name: x, {name}: a, config: {{contains: [a]}}}}")
        assert case.unsupported == (f"{FILE}:2: grader x: {name}: scoregate can't measure it",)


def test_fields_of_graders_without_an_effect_are_named(tmp_path: Path) -> None:
    found = read(tmp_path, "- {type: text, weight: 2, model: m, description: d, config: {contains: [a]}}")
    assert found.notices == (
        f"{FILE}: these fields have no effect: 'weight' (line 2), 'model' (line 2), 'description' (line 2)",
    )
    for grader in ("{name: x, config: {contains: [a]}}", "{config: {contains: [a]}}"):
        assert read(tmp_path, f"- {grader}").problems == (f"{FILE}:2: type is missing",)


@pytest.mark.parametrize(
    "grader",
    [
        "{type: file, config: {must_exist: [../a]}}",
        "{type: file, config: {must_not_exist: [../a]}}",
        "{type: file, config: {content_patterns: [{path: ../a, must_match: [b]}, {path: c}]}}",
        "{type: diff, config: {expected_files: [{path: ../a, contains: [b]}]}}",
    ],
)
def test_paths_of_graders_stay_in_the_workspace(tmp_path: Path, grader: str) -> None:
    (problem,) = read(tmp_path, f"- {grader}").problems
    assert problem.startswith(f'{FILE}:2: the path "../a" leads out of its folder')


@pytest.mark.parametrize("field", ["content_patterns", "expected_files"])
def test_files_of_graders_need_a_path(tmp_path: Path, field: str) -> None:
    kind = "file" if field == "content_patterns" else "diff"
    found = read(tmp_path, f"- {{type: {kind}, config: {{{field}: [{{}}]}}}}")
    assert found.problems == (f"{FILE}:2: path is missing",)


def test_what_is_expected_of_a_task_becomes_checks(tmp_path: Path) -> None:
    folded = {"ignore_case": True}
    for field, expected in (
        ("output_contains: [a]", ('expected.output_contains "a"', "contains", {"text": "a", **folded})),
        (
            "output_not_contains: [a]",
            ('expected.output_not_contains "a"', "contains", {"text": "a", "negated": True, **folded}),
        ),
        (
            "output_excludes: [a]",
            ('expected.output_excludes "a"', "contains", {"text": "a", "negated": True, **folded}),
        ),
        (
            "output_contains_any: [a, b]",
            ('expected.output_contains_any ["a","b"]', "contains_any", {"texts": ["a", "b"], **folded}),
        ),
        ("matches: [a]", ('expected.matches "a"', "matches", {"pattern": "a"})),
        (
            "outcomes: [{type: tool_called, tool_name: t}]",
            ("expected.outcomes: t is called", "called", {"tool": "t"}),
        ),
        (
            "behavior: {required_tools: [t]}",
            ("expected.behavior.required_tools t", "called", {"tool": "t"}),
        ),
    ):
        (case,) = read(tmp_path, "  []", expected=f"{{{field}}}").cases
        assert not case.unsupported
        assert [(each.label, each.kind, dict(each.options)) for each in case.graders] == [expected]
        assert case.graders[0].line == 6
    for field in (
        "outcomes: [{type: task_completed, odd: 1}]",
        "outcomes: [{type: tool_called}]",
        "outcomes: [{type: tool_called, tool_name: t, odd: 1}]",
        "outcomes: [{tool_name: t}]",
        "behavior: {odd: 1}",
        "matches: ['(']",
        "tool_calls: [a]",
        "odd: 1",
    ):
        (case,) = read(tmp_path, "  []", expected=f"{{{field}}}").cases
        assert (len(case.unsupported), case.graders) == (1, ()), field
        assert case.unsupported[0].startswith(f"{FILE}:6: expected")


@pytest.mark.parametrize(
    "before",
    [
        "{type: odd, name: x}",
        "{type: prompt, name: x, config: {prompt: It is blue}}",
        "{type: text, name: x, config: {contains: [a]}}",
    ],
)
def test_a_grader_that_checks_nothing_is_found_after_others(tmp_path: Path, before: str) -> None:
    case = read_case(tmp_path, f"- {before}\n- {{type: text, name: y, config: {{}}}}")
    assert case.unsupported[-1] == f"{FILE}:3: grader y: it checks nothing"
