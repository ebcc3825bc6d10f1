"""Fields of files of cases: what is read of each type, what is a problem, and where files may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoregate.kernel.types import skill_findings
from scoregate.kernel.types.skill_cases import SkillCase
from scoregate.kernel.types.skill_findings import CaseFindings, show
from scoregate.kernel.types.skill_formats import fields as fields_module
from scoregate.kernel.types.skill_formats import place as place_module
from scoregate.kernel.types.skill_formats.fields import CaseReader, Fields, is_inside
from scoregate.kernel.types.skill_formats.place import CasesPlace
from scoregate.kernel.types.yaml_document import parse_yaml

FOLDER = "skills/paint/tests"
FILE = f"{FOLDER}/eval.yaml"


def make_fields(text: str) -> tuple[Fields, CaseFindings]:
    findings = CaseFindings("f.yaml")
    document = parse_yaml(f"# comment\n{text}", "f.yaml")
    assert isinstance(document.content, dict)
    return Fields(document.content, document.line, "f.yaml", findings), findings


def read_field(method: str, value: str, **options: Any) -> tuple[Any, list[str]]:
    fields, findings = make_fields(f"b: 1\na: {value}")
    result = getattr(fields, method)("a", **options)
    return result, [each.removeprefix("f.yaml:") for each in findings.problems]


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("method", "value", "result", "problem"),
    [
        ("read_text", "x", "x", None),
        ("read_text", "5", "5", None),
        ("read_text", "' '", None, None),
        ("read_text", "null", None, None),
        ("read_text", "[x]", None, '3: a must be a text, not ["x"]'),
        ("read_text", "{x: y}", None, '3: a must be a text, not {"x":"y"}'),
        ("read_content", "''", "", None),
        ("read_content", "null", None, None),
        ("read_content", "[]", None, "3: a must be a text, not []"),
        ("read_id", "' x '", "x", None),
        ("read_id", "''", None, "3: a is missing"),
        ("read_texts", "[x, 5]", ["x", "5"], None),
        ("read_texts", "null", [], None),
        ("read_texts", "x", [], '3: a must be a list, not "x"'),
        ("read_texts", "[x, ' ']", ["x"], '3: a must be a list of texts, and one is " "'),
        ("read_texts", "[null]", [], "3: a must be a list of texts, and one is null"),
        ("read_lines", "[x]", [(3, "x")], None),
        ("read_list", "{}", (), "3: a must be a list, not {}"),
        ("read_items", "[x]", [], '3: a must be a list of objects, and one is "x"'),
        ("read_fields", "null", None, None),
        ("read_fields", "[]", None, "3: a must be an object, not []"),
        ("read_flag", "true", True, None),
        ("read_flag", "false", False, None),
        ("read_flag", "Y", True, None),
        ("read_flag", "N", False, None),
        ("read_flag", "null", None, None),
        ("read_flag", "1", None, "3: a must be true or false, not 1"),
        ("read_flag", "maybe", None, '3: a must be true or false, not "maybe"'),
        ("read_number", "0", 0, None),
        ("read_number", "7", 7, None),
        ("read_number", "null", None, None),
        ("read_number", "-1", None, "3: a must be a whole number of at least 0, not -1"),
        ("read_number", "true", None, "3: a must be a whole number of at least 0, not true"),
        ("read_number", "1.5", None, "3: a must be a whole number of at least 0, not 1.5"),
        ("read_plain", "[x, {y: 1}]", ["x", {"y": 1}], None),
    ],
)
def test_a_field_has_one_type(method: str, value: str, result: Any, problem: str | None) -> None:
    assert read_field(method, value) == (result, [problem] if problem else [])


def test_a_required_text_has_one_problem() -> None:
    assert read_field("read_text", "''", required=True) == (None, ["3: a is missing"])
    assert read_field("read_text", "[]", required=True) == (None, ["3: a must be a text, not []"])
    assert read_field("read_text", "{}", required=True) == (None, ["3: a must be a text, not {}"])
    fields, findings = make_fields("b: 1")
    assert fields.read_text("a", required=True) is None
    assert findings.problems == ["f.yaml:2: a is missing"]
    assert fields.read_plain("a") is None
    for method in ("read_text", "read_content", "read_flag", "read_number", "read_fields"):
        assert getattr(fields, method)("a") is None
    assert (fields.read_list("a"), fields.read_items("a")) == ((), [])


def test_inner_mappings_have_their_lines() -> None:
    fields, _ = make_fields("a:\n- x: 1\n- y: 2\nb:\n  z: 3")
    assert [(each.line, each.list_names()) for each in fields.read_items("a")] == [(3, ["x"]), (4, ["y"])]
    inner = fields.read_fields("b")
    assert inner is not None
    assert (inner.line, inner.find_line("z"), inner.find_line("none"), inner.shown) == (5, 6, 5, "f.yaml")
    assert ["a" in fields, "none" in fields, "z" in inner] == [True, False, True]
    empty, _ = make_fields("a: null")
    assert "a" not in empty


def test_ids_are_bounded() -> None:
    assert read_field("read_id", "x" * 500) == ("x" * 500, [])
    assert read_field("read_id", "x" * 501) == ("x" * 501, ["3: a has more than 500 characters"])


def test_unknown_fields_have_no_effect_and_almost_known_ones_are_problems() -> None:
    fields, findings = make_fields("prompt: a\npromt: b\nweight: c\nodd: d")
    fields.check(("prompt",), ("weight", "model"))
    assert findings.problems == ['f.yaml:3: there is no field "promt"; do you mean prompt?']
    assert list(findings.list_notices()) == [
        "f.yaml: these fields have no effect: 'odd' (line 5), 'weight' (line 4)",
    ]


def test_fields_without_an_effect_are_listed_up_to_five() -> None:
    findings = CaseFindings("f.yaml")
    assert list(findings.list_notices()) == []
    for number in range(5):
        findings.add_unused(number, f"n{number}", "g.yaml" if number else "")
    findings.add_unused(9, "n0")
    (notice,) = findings.list_notices()
    assert notice.startswith("f.yaml: these fields have no effect: 'n0' (line 0), 'n1' (g.yaml:1), ")
    assert notice.endswith("'n4' (g.yaml:4)")
    findings.add_unused(5, "x" * 50, "f.yaml")
    (notice,) = findings.list_notices()
    assert notice.endswith("'n4' (g.yaml:4) and 1 more")
    only = CaseFindings("f.yaml")
    only.add_unused(5, "x" * 50, "f.yaml")
    assert list(only.list_notices()) == [f"f.yaml: these fields have no effect: '{'x' * 40}' (line 5)"]


def test_problems_are_listed_up_to_twenty() -> None:
    findings = CaseFindings("f.yaml")
    for number in range(20):
        assert len(findings.list_problems()) == number
        findings.add(number, "p", "g.yaml" if number == 1 else "")
    assert len(findings.list_problems()) == 20
    for number in (20, 21):
        findings.add(number, "p")
    problems = findings.list_problems()
    assert (problems[:2], len(problems), problems[-1]) == (
        ("f.yaml:0: p", "g.yaml:1: p"),
        21,
        "2 more problems in f.yaml",
    )
    findings.problems.pop()
    assert findings.list_problems()[-1] == "1 more problems in f.yaml"


def test_similar_names_are_found_regardless_of_case_and_hyphens(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = CaseFindings("f.yaml")
    known = {"should_trigger", "files"}
    for name in ("should-trigger", "Should_Trigger", "shouldtrigger", "should_triggers"):
        assert findings.find_similar_name(name, known) == "should_trigger"
    assert [findings.find_similar_name(name, known) for name in ("fil", "odd")] == ["", ""]
    assert CaseFindings("f").find_similar_name("file", known) == "files"
    monkeypatch.setattr(skill_findings, "_MOST_NAMES", 1)
    findings = CaseFindings("f.yaml")
    assert findings.find_similar_name("file", known) == "files"
    assert findings.find_similar_name("should-trigger", known) == ""
    assert findings.find_similar_name("file", known) == "files"


def test_values_in_messages_are_shortened() -> None:
    assert show("x" * 78) == f'"{"x" * 78}"'
    assert show("x" * 79) == f'"{"x" * 79}…'
    assert show({"a": [1]}) == '{"a":[1]}'


def test_cases_of_one_id_or_prompt_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = CaseReader("f.yaml")
    monkeypatch.setattr(fields_module, "MOST_CASES", 3)
    for case_id, prompt, line in (("a", "p", 1), (None, "p", 2), ("a", "q", 3), (None, "p", 4), ("b", "p", 5)):
        reader.add_case(SkillCase(case_id, prompt, line), "g.yaml" if line == 1 else "f.yaml")
    assert [each.line for each in reader.cases] == [1, 2, 5]
    assert reader.problems == [
        'f.yaml:3: the case in g.yaml:1 has the id "a" too; give each case its own id',
        "f.yaml:4: the case in f.yaml:2 has the prompt, and no id, too; give each case its own id",
    ]
    reader.add_case(SkillCase("c", "p", 6), "f.yaml")
    assert reader.problems[2:] == ["f.yaml:6: there are more than 3 cases"]
    assert len(reader.cases) == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", True),
        ("a/b", True),
        ("a/..b", True),
        ("", False),
        ("/a", False),
        ("a/../b", False),
        ("a\\b", False),
        ("a\0", False),
    ],
)
def test_a_path_is_inside_if_it_is_relative_and_goes_down(name: str, expected: bool) -> None:
    assert is_inside(name) is expected


def test_sources_are_in_the_skill_or_next_to_the_cases(tmp_path: Path) -> None:
    inner = CasesPlace(tmp_path, "skills/paint/tests/eval.yaml", "skills/paint")
    assert (inner.folder, inner.join("a", "..", "b")) == ("skills/paint/tests", "skills/paint/tests/b")
    for folder, name, expected in (
        ("skills/paint", "a", "skills/paint/a"),
        ("skills/paint/tests", "../a", "skills/paint/a"),
        ("skills/paint", "../a", None),
        ("skills/paint", "../paint2/a", None),
        ("skills/paint", ".", None),
        ("skills/paint", "", None),
        ("skills/paint", "/skills/paint/a", None),
        ("skills/paint", "a\\b", None),
        ("skills/paint", "a\0", None),
    ):
        assert inner.find_source(folder, name) == expected, name
    outer = CasesPlace(tmp_path, "evals/paint.yaml", "skills/paint")
    assert outer.find_source("evals", "a") == "evals/a"
    assert outer.find_source("evals", "../skills/paint/a") == "skills/paint/a"
    assert outer.find_source("evals", "../other/a") is None
    root = CasesPlace(tmp_path, "eval.yaml", ".")
    assert (root.find_source(".", "a/b"), root.find_source(".", "../a")) == ("a/b", None)


def test_files_are_found_sorted_and_up_to_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"b.yaml": "", "a.yaml": "", "d.yaml/c.txt": ""})
    place = CasesPlace(tmp_path, FILE, "skills/paint")
    assert list(place.find_files("*.yaml")) == [f"{FOLDER}/a.yaml", f"{FOLDER}/b.yaml"]
    monkeypatch.setattr(place_module, "MOST_FILES", 2)
    assert len(list(place.find_files("*.yaml"))) == 2
    monkeypatch.setattr(place_module, "MOST_FILES", 1)
    with pytest.raises(ValueError, match="more than 1 files"):
        list(place.find_files("*.yaml"))


def test_a_file_is_read_within_the_project_and_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.txt": "12345", "bom.txt": "\ufeffx"})
    (tmp_path / FOLDER / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / FOLDER / "bytes").write_bytes(b"ab\xff")
    place = CasesPlace(tmp_path, FILE, "skills/paint")
    monkeypatch.setattr(place_module, "_MOST_BYTES", 5)
    assert [place.read(f"{FOLDER}/{name}") for name in ("a.txt", "bom.txt")] == ["12345", "x"]
    for name, problem in (
        ("none", "there is no such file"),
        ("gone", "it is not a regular file"),
        (".", "it is not a regular file"),
        ("bytes", "it is not UTF-8: invalid start byte at byte 2"),
        ("../../../..", "it is a link that leads out of the project"),
    ):
        with pytest.raises(ValueError, match=problem):
            place.read(f"{FOLDER}/{name}")
    monkeypatch.setattr(place_module, "_MOST_BYTES", 4)
    with pytest.raises(ValueError, match="it has more than 4 bytes"):
        place.read(f"{FOLDER}/a.txt")
