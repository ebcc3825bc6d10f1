"""The suites of skills and of other files for agents: read and check their cases, and make an arm with and without."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.tables import WORKTREE, AgentSettings
from scoregate.kernel.run.discover.files import open_nonblocking
from scoregate.kernel.run.plan import DiscoveredSuites, SourceKind, SuiteSource
from scoregate.kernel.types.records import record
from scoregate.kernel.types.relative_paths import join_path
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.skill_cases import TOOL_KINDS, CaseGrader, SkillCase, SkillCases, is_graded
from scoregate.kernel.types.skill_formats import SKILL_FILE
from scoregate.kernel.types.skill_formats.formats import (
    is_yaml,
    list_case_files,
    list_folders,
    list_private,
    parse_cases,
)

_MOST_BYTES = 50 * 1024 * 1024
_MOST_PROBLEMS = 20
_NAME = re.compile(r"^name:[ \t]*(['\"]?)(.+?)\1[ \t]*$", re.MULTILINE)
_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_SAFE_NAME = re.compile(r"\w[\w.-]{0,99}")
_LONGEST_NAME = 200
_WORKER = ("-m", "scoregate.worker", "arm")
# The options of a worker are one argument, whose length is limited.
_MOST_FOLDERS = 100


@record
class _Suite:
    """A suite: its name, its files, the arguments of the worker that both arms have, and what names its cases."""

    name: str
    path: str
    cases: str
    why: str
    inputs: str
    options: dict[str, Any]
    cases_origin: str = ""


def read_skill(
    root: Path, folder: str, cases: Sequence[str], agent: AgentSettings, settings: Settings
) -> DiscoveredSuites:
    """The suites of a skill.

    Args:
        root: the project.
        folder: the folder of the skill.
        cases: its files of cases, of which the first counts.
        agent: the agent that it is measured with.
        settings: the settings of the project.
    """
    path = join_path(folder, SKILL_FILE)
    head = _HEAD.match(_read(root / path)[0] or "")
    match = _NAME.search(head[1]) if head else None
    own = (root / folder).resolve().name  # also for a skill at the root, whose folder is `.`
    name = (match[2].strip()[:_LONGEST_NAME] if match else "") or own
    # An agent's folder of a skill becomes a path, so an odd name is replaced.
    target = f"{agent.skills_folder}/{name if _SAFE_NAME.fullmatch(name) else own}"
    # Cases outside of the skill are hidden from the agent by their folder.
    is_inside = folder == os.curdir or cases[0].startswith(f"{folder}/")
    shown = os.path.relpath(cases[0], folder) if is_inside else cases[0]
    options = {
        "skill": folder,
        "skill_name": name,
        "target": target,
        "agent": _list_agent_options(agent, is_top=folder == os.curdir),
        "hidden": [os.path.normpath(settings.out), *([] if is_inside else [str(PurePosixPath(shown).parent)])],
    }
    if len(cases) > 1:  # those that are not read have expected results, too
        options["private"] = list_private(cases[0], folder, SkillCases())
    suite = _Suite(name, path, cases[0], f"a skill with {shown}", folder, options)
    return _make_sources(root, suite, path_without=suite.cases)


def read_arms(root: Path, agent: AgentSettings, settings: Settings) -> DiscoveredSuites:
    """The suites of the files that the table `[arms]` names."""
    arms = settings.arms
    assert arms is not None
    folder = PurePosixPath(arms.cases).parent
    inputs = str(folder.parent if folder.name == "evals" else folder)
    options = {
        "files": list(arms.files),
        "agent": _list_agent_options(agent),
        "hidden": [os.path.normpath(settings.out), arms.cases],
    }
    name = ", ".join(arms.files)
    why = f"named in {settings.origin('arms', 'with')}"
    cases_origin = f"cases in {settings.origin('arms', 'cases')}"
    suite = _Suite(name, arms.files[0], arms.cases, why, inputs, options, cases_origin)
    missing = [each for each in arms.files if not (root / each).exists()]
    if missing:
        error = f"{', '.join(missing)}: there is no such file ({why})"  # an arm without its files would measure nothing
        return DiscoveredSuites((SuiteSource(suite.path, SourceKind.AGENT, suite_ids=(name,), why=why, error=error),))
    return _make_sources(root, suite, path_without=suite.cases)


def _list_agent_options(agent: AgentSettings, *, is_top: bool = False) -> dict[str, Any]:
    """The arguments of `command_agent`. The workspace of a skill that is the whole project has no other files."""
    workspace = "." if agent.workspace == WORKTREE else agent.workspace
    return {
        "command": list(agent.command) if agent.command is not None else agent.preset,
        "events": agent.events,
        "timeout": agent.timeout,
        "max_steps": agent.max_steps,
        "max_cost": agent.max_cost,
        "network": agent.network,
        "workspace": None if is_top and workspace == "." else workspace,
        "concurrency": agent.concurrency,
    }


def _make_sources(root: Path, suite: _Suite, *, path_without: str) -> DiscoveredSuites:
    text, problem = _read(root / suite.cases)
    place = f"{suite.cases}: {problem}{f' ({suite.cases_origin})' if suite.cases_origin else ''}"
    skill = str(suite.options.get("skill", ""))
    parsed = SkillCases(problems=(place,)) if text is None else parse_cases(text, suite.cases, root, skill)
    if parsed.unknown and skill:  # the file of a tool that isn't known
        return DiscoveredSuites(notices=(f"{suite.cases} is not read, as {parsed.unknown}",))
    if is_yaml(suite.cases):  # files of YAML name further files
        suite = _add_files(suite, skill, parsed)
    problems = [
        *parsed.problems,
        *([f"{suite.cases}:1: {parsed.unknown}"] if parsed.unknown else []),
        *_find_scattered(suite),
        *_find_missing_files(root, suite, parsed.cases),
        *_find_unmeasurable(suite, parsed.cases),
    ]
    if problems:
        source = SuiteSource(
            suite.path, SourceKind.AGENT, suite_ids=(suite.name,), why=suite.why, error="; ".join(problems)
        )
        return DiscoveredSuites((source,))
    notices = list(parsed.notices)
    if parsed.skill_name is not None and suite.options.get("skill") and parsed.skill_name != suite.name:
        notices.append(
            f"{suite.cases}: skill_name is {parsed.skill_name!r:.80}, and {suite.path} says {suite.name!r:.80}"
        )
    sources = [_make_source(suite, Arm.WITH, suite.path)]
    if any(map(is_graded, parsed.cases)):
        # Without graders, both arms only say whether the skill was loaded, and one arm is enough.
        sources.append(_make_source(suite, Arm.WITHOUT, path_without))
    return DiscoveredSuites(tuple(sources), notices=tuple(notices))


def _add_files(suite: _Suite, skill: str, cases: SkillCases) -> _Suite:
    """The suite with what the agent must not find in the skill, and what both arms depend on."""
    files = list_case_files(suite.cases, skill or os.curdir, cases)
    few = files if len(files) <= _MOST_FOLDERS else [skill or os.curdir, str(PurePosixPath(suite.cases).parent)]
    options = {**suite.options, "case_files": few}
    if skill:
        options["private"] = list_private(suite.cases, skill, cases)
    else:
        own = cases.files if len(cases.files) <= _MOST_FOLDERS // 2 else list_folders(cases.files, os.curdir)
        options["hidden"] = list(dict.fromkeys([*options["hidden"], *own]))
    return replace(suite, options=options)


def _find_scattered(suite: _Suite) -> Iterator[str]:
    """Whether the cases are in too many places for the command line of a worker."""
    if any(len(suite.options.get(name, ())) > _MOST_FOLDERS for name in ("private", "hidden")):
        yield f"{suite.cases}: its cases are in more than {_MOST_FOLDERS} files and folders; put them in one folder"


def _make_source(suite: _Suite, arm: Arm, path: str) -> SuiteSource:
    options = {"file": suite.path, "name": suite.name, "arm": arm.value, "cases": suite.cases, **suite.options}
    return SuiteSource(
        path,
        SourceKind.AGENT,
        suite_ids=(suite.name,),
        why=suite.why if arm is Arm.WITH else f"{suite.why}, without it",
        argv=(*_WORKER, json.dumps(options, ensure_ascii=False)),
        uses_host_python=True,
        arm=arm,
    )


def _find_unmeasurable(suite: _Suite, cases: Sequence[SkillCase]) -> Iterator[str]:
    """What the cases require and no score can show."""
    is_skill, is_text = "skill" in suite.options, suite.options["agent"]["events"] == "text"
    why = (
        "the format text shows no tool calls, so should_trigger can't be measured; set `format` in [agent]"
        if is_text
        else "should_trigger is for skills; nothing shows whether an agent read another file"
    )
    first = next((case for case in cases if case.should_trigger is not None), None)
    if first is not None and (is_text or not is_skill):
        yield f"{first.file or suite.cases}:{first.line}: {why}"
    elif is_text and (graded := _find_tool_grader(cases)) is not None:
        case, grader = graded
        why = f"the format text shows no tool calls, so {grader.label} can't be measured; set `format` in [agent]"
        yield f"{case.file or suite.cases}:{case.line}: {why}"
    elif cases and (is_text or not is_skill) and not any(map(is_graded, cases)):
        yield f"{suite.cases}: nothing can be measured: no case has checks, expectations or expected_output"


def _find_tool_grader(cases: Iterable[SkillCase]) -> tuple[SkillCase, CaseGrader] | None:
    """The first grader that needs the tool calls of the agent, with its case."""
    return next(((case, each) for case in cases for each in case.graders if each.kind in TOOL_KINDS), None)


def _find_missing_files(root: Path, suite: _Suite, cases: Iterable[SkillCase]) -> Iterator[str]:
    """The files of cases that don't exist, each with the line of its case."""
    known: dict[tuple[str, str], str] = {}
    count = 0
    for case in cases:
        sources = (each.source for each in case.workspace_files if each.source is not None)
        for folder, name in (*((suite.inputs, name) for name in case.files), *((os.curdir, name) for name in sources)):
            if (folder, name) not in known:
                known[folder, name] = _explain_file(root / folder, name)
            if known[folder, name]:
                count += 1
                if count <= _MOST_PROBLEMS:
                    yield f"{case.file or suite.cases}:{case.line}: the file {name!r:.200} {known[folder, name]}"
    if count > _MOST_PROBLEMS:
        yield f"{count - _MOST_PROBLEMS:,} more problems in {suite.cases}"


def _explain_file(folder: Path, name: str) -> str:
    path = folder / name
    if not os.path.lexists(path):
        return f"does not exist in {folder.name}"
    # A link that leads out would give the agent files of the host.
    return "" if path.resolve().is_relative_to(folder.resolve()) else "is a link that leads out of the skill"


def _read(path: Path) -> tuple[str | None, str]:
    """The text of a file, or why it can't be read."""
    try:
        if not path.is_file():
            return None, "not a regular file" if os.path.lexists(path) else "there is no such file"
        with open(path, "rb", opener=open_nonblocking) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        return None, f"can't be read: {error.strerror}"
    if len(data) > _MOST_BYTES:
        return None, f"it has more than {_MOST_BYTES >> 20} MB"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        return None, f"it is not UTF-8: {error.reason} at byte {error.start}"
