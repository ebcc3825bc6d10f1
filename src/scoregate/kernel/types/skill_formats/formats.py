"""The formats of cases: which file has which, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from scoregate.kernel.types.skill_cases import SkillCases, parse_skill_cases
from scoregate.kernel.types.skill_findings import show
from scoregate.kernel.types.skill_formats import YAML_FILE
from scoregate.kernel.types.skill_formats.fields import CaseReader, Fields
from scoregate.kernel.types.skill_formats.place import CasesPlace
from scoregate.kernel.types.skill_formats.skill_validator import KEY as SCENARIOS
from scoregate.kernel.types.skill_formats.skill_validator import read_scenarios
from scoregate.kernel.types.skill_formats.waza import KEY as TASKS
from scoregate.kernel.types.skill_formats.waza import read_tasks
from scoregate.kernel.types.yaml_document import Value, YamlProblem, parse_yaml

Read = Callable[[Fields, CaseReader, CasesPlace], str | None]

FORMATS: Mapping[str, tuple[str, Read]] = {
    SCENARIOS: ("skill-validator", read_scenarios),
    TASKS: ("waza", read_tasks),
}
"""For each format of YAML, the field that only it has: its tool and its reader."""

_PRIVATE = ("evals", "tests", YAML_FILE)


def is_yaml(file: str) -> bool:
    """Whether a file of cases is YAML."""
    return file.endswith((".yaml", ".yml"))


def parse_cases(text: str, file: str, root: Path, skill: str) -> SkillCases:
    """Read the cases of a skill in any format.

    Args:
        text: the content of the file.
        file: its path, relative to the project.
        root: the project.
        skill: the folder of the skill, relative to the project.
    """
    if not is_yaml(file):
        return parse_skill_cases(text, file)
    try:
        document = parse_yaml(text, file)
    except YamlProblem as error:
        return SkillCases(problems=(str(error),))
    reader, place = CaseReader(file), CasesPlace(root, file, os.path.normpath(skill))
    content = document.content if isinstance(document.content, dict) else {}
    read = next((read for key, (_, read) in FORMATS.items() if key in content), None)
    if read is None:
        return _explain_unknown(content, reader)
    name = read(Fields(content, document.line, file, reader), reader, place)
    if not reader.cases and not reader.problems:
        reader.add(document.line, "it has no cases")
    files = tuple(dict.fromkeys(reader.files))
    return SkillCases(name, tuple(reader.cases), reader.list_problems(), tuple(reader.list_notices()), files)


def _explain_unknown(content: Mapping[str, Value], reader: CaseReader) -> SkillCases:
    """What a file is without the field of any format: one of another kind, or one with a wrong name."""
    for key, value in content.items():
        if meant := reader.find_similar_name(key, FORMATS):
            reader.add(value.line, f"there is no field {show(key)}; do you mean {meant}?")
    known = ", ".join(f"{key!r} ({tool})" for key, (tool, _) in FORMATS.items())
    unknown = "" if reader.problems else f"it has none of the fields {known}"
    return SkillCases(problems=reader.list_problems(), unknown=unknown)


def list_private(file: str, skill: str, cases: SkillCases) -> list[str]:
    """What the agent must not find in its copy of a skill, as it has expected results. Paths are relative to the skill.

    Args:
        file: the file of the cases, relative to the project.
        skill: the folder of the skill, relative to the project.
        cases: the cases.
    """
    names = (os.path.relpath(name, skill) for name in list_folders((file, *cases.files), skill))
    inner_names = dict.fromkeys(name for name in names if not name.startswith(os.pardir))
    return [*_PRIVATE, *(name for name in inner_names if name.partition("/")[0] not in _PRIVATE)]


def list_case_files(file: str, skill: str, cases: SkillCases) -> list[str]:
    """What the results of both arms depend on: files and folders of the cases, relative to the project.

    Args:
        file: the file of the cases.
        skill: the folder of the skill.
        cases: the cases.
    """
    sources = [each.source for case in cases.cases for each in case.workspace_files if each.source is not None]
    # Programs may use any file next to the cases.
    runs_programs = any(grader.kind == "program" for case in cases.cases for grader in case.graders)
    folder = [str(PurePosixPath(file).parent)] if runs_programs else []
    return sorted({*folder, *list_folders((file, *cases.files, *sources), skill)})


def list_folders(names: Iterable[str], skill: str) -> Iterator[str]:
    """The folders of files; a file itself if it is right in the skill."""
    for name in names:
        folder = str(PurePosixPath(name).parent)
        yield name if folder == skill else folder
