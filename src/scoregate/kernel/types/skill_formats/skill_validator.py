"""`eval.yaml` of skill-validator (dotnet/skills): scenarios with assertions, constraints and a rubric."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from scoregate.kernel.types.skill_cases import InputFile, SkillCase
from scoregate.kernel.types.skill_findings import show
from scoregate.kernel.types.skill_formats.case_graders import CaseGraders
from scoregate.kernel.types.skill_formats.fields import CaseReader, Fields
from scoregate.kernel.types.skill_formats.place import CasesPlace

KEY = "scenarios"
# The format has no more fields; `timeout` is a setting of the agent here.
_SCENARIO = ("name", "prompt", "setup", "assertions", "rubric", "expect_tools", "reject_tools", "expect_activation")
_LIMITS = ("max_turns", "max_tokens")
_NEEDED = {
    "output_contains": ("value",),
    "output_not_contains": ("value",),
    "output_matches": ("pattern",),
    "output_not_matches": ("pattern",),
    "file_exists": ("path",),
    "file_not_exists": ("path",),
    "file_contains": ("path", "value"),
    "file_not_contains": ("path", "value"),
    "exit_success": (),
}


def read_scenarios(document: Fields, reader: CaseReader, place: CasesPlace) -> str | None:
    """Read the cases.

    Args:
        document: the fields of the file.
        reader: collects the cases and problems.
        place: where the file is.

    Returns:
        The name of the skill; this format has none.
    """
    document.check((KEY,))
    for fields in document.read_items(KEY):
        before = len(reader.problems)
        fields.check((*_SCENARIO, *_LIMITS), ("timeout",))
        graders = _read_graders(fields)
        setup = fields.read_fields("setup")
        case = SkillCase(
            fields.read_id("name"),
            fields.read_text("prompt", required=True) or "",
            fields.line,
            expectations=tuple(graders.expectations),
            should_trigger=fields.read_flag("expect_activation"),
            graders=tuple(graders.graders),
            workspace_files=() if setup is None else tuple(_read_files(setup, place)),
            setup=() if setup is None else tuple(setup.read_texts("commands")),
            unsupported=tuple(graders.unsupported),
        )
        if len(reader.problems) == before:
            reader.add_case(case, place.file)
    return None


def _read_graders(fields: Fields) -> CaseGraders:
    graders = CaseGraders()
    for assertion in fields.read_items("assertions"):
        _read_assertion(assertion, graders)
    for line, tool in fields.read_lines("expect_tools"):
        graders.add(f"expect_tools {tool}", "called", line, tool=tool)
    for line, tool in fields.read_lines("reject_tools"):
        graders.add(f"reject_tools {tool}", "called", line, tool=tool, negated=True)
    graders.refuse_fields(fields, "", _LIMITS)
    graders.expectations += fields.read_texts("rubric")
    return graders


def _read_assertion(fields: Fields, graders: CaseGraders) -> None:
    kind = fields.read_text("type", required=True)
    if kind is None:
        return
    if kind not in _NEEDED:
        graders.refuse(fields, f"assertion {kind:.80}", "scoregate doesn't know this type")
        return
    fields.check(("type", *_NEEDED[kind]))
    values = {name: fields.read_text(name, required=True) for name in _NEEDED[kind]}
    if None in values.values():
        return
    given = {name: str(value) for name, value in values.items()}
    label = " ".join((kind, *map(show, given.values())))
    negated = {"negated": True} if "_not_" in kind else {}
    line = fields.line
    if kind == "exit_success":
        graders.add(label, "not_empty", line)
    elif "pattern" in given:
        graders.add_pattern(label, "matches", fields, given["pattern"], ignore_case=True, **negated)
    elif "path" not in given:
        graders.add(label, "contains", line, text=given["value"], ignore_case=True, **negated)
    elif "value" not in given:
        graders.add(label, "file_exists", line, glob=given["path"], **negated)
    else:
        if negated:  # without any such file, it fails, too
            graders.add(f"file_exists {show(given['path'])}", "file_exists", line, glob=given["path"])
        graders.add(label, "file_contains", line, glob=given["path"], text=given["value"], **negated)


def _read_files(setup: Fields, place: CasesPlace) -> Iterator[InputFile]:
    setup.check(("copy_test_files", "files", "commands"))
    if setup.read_flag("copy_test_files") and place.folder == place.skill:
        why = f"copy_test_files would copy the skill, too; put {PurePosixPath(place.file).name} into tests/"
        setup.add(setup.find_line("copy_test_files"), why)
    elif setup.read_flag("copy_test_files"):
        yield InputFile("", place.folder, left_out=(PurePosixPath(place.file).name,))
    for each in setup.read_items("files"):
        each.check(("path", "source", "content"))
        path, content = each.read_text("path", required=True), each.read_content("content")
        if path is None or not each.check_path(each.find_line("path"), path):
            continue
        if content is not None:
            yield InputFile(path, content=content)
        elif "content" not in each:
            source = each.read_text("source", required=True)
            source_path = None if source is None else place.find_source(place.skill, source)
            if source_path is not None:
                yield InputFile(path, source_path)
            elif source is not None:
                where = f"neither in the skill nor in {place.folder}"
                each.add(each.find_line("source"), f"the source {show(source)} is {where}")
