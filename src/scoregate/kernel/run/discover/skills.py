"""Skills with cases, and other files for agents: folders with SKILL.md and a file of cases, and the table `[arms]`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discover.files import ProjectFiles, is_vendored
from scoregate.kernel.run.plan import DiscoveredSuites, SkippedSource
from scoregate.kernel.types.relative_paths import is_below, join_path
from scoregate.kernel.types.skill_formats import SKILL_FILE, YAML_FILE

CASES_FILE = "evals/evals.json"
_MOST_NAMES = 10
# In a skill, the first of these that exists has its cases.
_CASES_FILES = (CASES_FILE, f"evals/{YAML_FILE}", f"tests/{YAML_FILE}", YAML_FILE)
# The layout of dotnet/skills has the cases of plugins/PLUGIN/skills/SKILL in tests/PLUGIN/SKILL.
_PLUGIN_SKILL = re.compile(r"(?P<above>(?:.+/)?)plugins/(?P<plugin>[^/]+)/skills/(?P<skill>[^/]+)")
_NO_AGENT = "it has cases that don't run, because no agent is set"


async def find_skills(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """The suites of skills with cases, and of the files in `[arms]`. Without an agent, they are listed as skipped."""
    if settings.skip_reason("paths"):
        return DiscoveredSuites()
    skills = {
        folder: cases
        for folder, listed in find_skill_cases(await files.list_all()).items()
        if _is_below_paths(folder, settings) and (cases := _list_present(files.root, folder, listed))
    }
    discovered = DiscoveredSuites(notices=tuple(_explain_other_cases(skills)))
    if settings.agent is None:
        return discovered + _explain_no_agent(list(skills), settings)
    from scoregate.kernel.run.discover.skill_suites import read_arms, read_skill

    for folder, cases in skills.items():
        discovered += read_skill(files.root, folder, cases, settings.agent, settings)
    if settings.arms is not None and not settings.is_for_run("paths"):
        discovered += read_arms(files.root, settings.agent, settings)
    return discovered


def find_skill_cases(names: Iterable[str]) -> dict[str, list[str]]:
    """The files of cases of each skill that has any, by its folder, sorted. The first of them counts."""
    skills, files = set[str](), set[str]()
    for name in names:
        if name.endswith(SKILL_FILE) and PurePosixPath(name).name == SKILL_FILE and not is_vendored(name):
            skills.add(str(PurePosixPath(name).parent))
        elif name.endswith((CASES_FILE, YAML_FILE)):
            files.add(name)
    names_by_folder = {folder: [name for name in _list_places(folder) if name in files] for folder in sorted(skills)}
    return {folder: cases for folder, cases in names_by_folder.items() if cases}


def _list_present(root: Path, folder: str, cases: Iterable[str]) -> list[str]:
    """The files of cases that are there; none without the skill. git also lists files that were deleted since."""
    is_present = os.path.lexists(root / folder / SKILL_FILE)
    return [name for name in cases if is_present and os.path.lexists(root / name)]


def _list_places(folder: str) -> Iterator[str]:
    """Where the cases of a skill may be."""
    yield from (join_path(folder, name) for name in _CASES_FILES)
    if layout := _PLUGIN_SKILL.fullmatch(folder):
        yield f"{layout['above']}tests/{layout['plugin']}/{layout['skill']}/{YAML_FILE}"


def _explain_other_cases(skills: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A notice about skills with several files of cases, of which one is read."""
    unread = [f"{name} ({first} is)" for first, *others in skills.values() for name in others]
    if unread:
        more = f" and {len(unread) - _MOST_NAMES} more" if len(unread) > _MOST_NAMES else ""
        yield f"A skill has one file of cases, so these are not read: {', '.join(unread[:_MOST_NAMES])}{more}"


def _is_below_paths(folder: str, settings: Settings) -> bool:
    """Whether no paths are named, or the folder is below one of them."""
    named = [os.path.normpath(path) for path in settings.paths]
    return not named or any(path == os.curdir or is_below(folder, path) for path in named)


def _explain_no_agent(folders: Sequence[str], settings: Settings) -> DiscoveredSuites:
    skipped = [SkippedSource(join_path(folder, SKILL_FILE), _NO_AGENT, notable=True) for folder in folders]
    if settings.arms is not None:
        skipped.append(SkippedSource(", ".join(settings.arms.files), _NO_AGENT, notable=True))
    if not skipped:
        return DiscoveredSuites()
    shown = ", ".join(each.path for each in skipped[:_MOST_NAMES])
    more = f" and {len(skipped) - _MOST_NAMES} more" if len(skipped) > _MOST_NAMES else ""
    notice = f"No agent is set, so the cases of {shown}{more} don't run. Add a table [agent] to the settings"
    return DiscoveredSuites(skipped=tuple(skipped), notices=(f'{notice}, such as preset = "claude".',))
