"""Plans without a lock file: requirements, and the project's own metadata."""

from __future__ import annotations

import re
from pathlib import Path

from scoregate.ci.install.groups import normalize_name
from scoregate.ci.install.hatch import read_hatch_environments
from scoregate.ci.install.plan import PIP_INSTALL, InstallPlan, InstallRequest, Words, project_step, repeat_option
from scoregate.ci.install.python_project import EXTRA, GROUP, PYPROJECT

REQUIREMENTS, SUITE_REQUIREMENTS, UNPINNED = "requirements.txt", "evals/requirements.txt", "requirements.in"
FOLDER = "requirements"
# The files of the folder that hold what the project itself needs; the first that exists is used.
_MAIN_FILES = ("base", "main", "requirements", "common", "default", "prod", "production")
_GROUP_FILE = re.compile(r"requirements[-_.](?P<after>[\w.-]+)\.txt|(?P<before>[\w.-]+)[-_.]requirements\.txt")
_REQUIREMENT_FILES, _HATCH = "requirements files", "Hatch environments"


def plan_requirements(request: InstallRequest) -> InstallPlan | None:
    """Install requirements.txt or the main file of `requirements/`, and those of the suites."""
    main = find_main_requirements(request.root)
    return None if main is None else _requirements_plan(request, (main, *_suite_files(request)))


def plan_suite_requirements(request: InstallRequest) -> InstallPlan | None:
    """Install the requirements of the suites alone, or only files that the wanted groups name."""
    files = _suite_files(request)
    more = find_group_requirements(request.root)
    is_wanted = any(normalize_name(name) in more for name in request.groups.names)
    return _requirements_plan(request, files) if files or is_wanted else None


def _requirements_plan(request: InstallRequest, files: tuple[str, ...]) -> InstallPlan:
    project = request.project
    more = find_group_requirements(request.root)
    chosen = request.groups.choose({_REQUIREMENT_FILES: more, **project.groups}, source=str(request.root))
    files = tuple(dict.fromkeys((*files, *(more[name] for name in chosen.of(_REQUIREMENT_FILES)))))
    notes = [
        f"{name} is not compiled: versions can differ between runs; `uv pip compile` pins them"
        for name in files
        if name.endswith(".in")
    ]
    # Only code in `src` is imported as if it were installed; other code is found in the root.
    step = project_step(project) if (request.root / "src").is_dir() else ()
    used = (*files, PYPROJECT) if step or chosen.of(GROUP, EXTRA) else files
    words = (*repeat_option("-r", files), *repeat_option("--group", chosen.of(GROUP)))
    extras = _project_words(request, chosen.of(EXTRA)) if chosen.of(EXTRA) else ()
    steps = (request.venv_command(), (*PIP_INSTALL, *words, *extras))
    return InstallPlan(steps, " and ".join(files), used, project_step=step, notes=tuple(notes))


def plan_project(request: InstallRequest) -> InstallPlan | None:
    """Install the project with its dependencies: from `[project]`, else by its build backend."""
    project = request.project
    is_standard = bool(project.table("project"))
    if not is_standard and not project.is_package:
        return None
    hatch = read_hatch_environments(project)
    available = {**project.groups, _HATCH: hatch.names}
    chosen = request.groups.choose(available, source=str(request.root), advice=_locks_advice(request))
    hatch_packages = hatch.select(chosen.of(_HATCH))
    suite_files = _suite_files(request)
    words = (
        *_project_words(request, (*chosen.of(EXTRA), *hatch_packages.features)),
        *repeat_option("--group", (*chosen.of(GROUP), *hatch_packages.groups)),
        *repeat_option("-r", suite_files),
        *(("-r", "{requirements}") if hatch_packages.requirements else ()),
    )
    files = [name for name in (PYPROJECT, "setup.py", "setup.cfg", *suite_files) if project.has(name)]
    shown = PYPROJECT if is_standard or project.table("tool", "poetry") else next(iter(files), PYPROJECT)
    return InstallPlan(
        (request.venv_command(), (*PIP_INSTALL, *words)),
        " and ".join((shown, *suite_files)),
        (*files, *hatch.files),
        requirements=hatch_packages.text,
        project_step=project_step(project) if is_standard and not hatch_packages.skips_project else (),
    )


def _project_words(request: InstallRequest, extras: tuple[str, ...]) -> Words:
    """The project's dependencies by its table `[project]`; without one, the project as its backend builds it."""
    if request.project.table("project"):
        return ("-r", PYPROJECT, *repeat_option("--extra", extras))
    return ("-e", f".[{','.join(extras)}]" if extras else ".")


def _suite_files(request: InstallRequest) -> tuple[str, ...]:
    return (SUITE_REQUIREMENTS,) if request.project.has(SUITE_REQUIREMENTS) else ()


def _locks_advice(request: InstallRequest) -> str:
    if request.project.table("tool", "poetry"):
        return "Groups of Poetry need a poetry.lock: run `poetry lock` and commit the file."
    return ""


def find_main_requirements(root: Path) -> str | None:
    """requirements.txt, else the main file of `requirements/`, else requirements.in; None if none exists."""
    if (root / REQUIREMENTS).is_file():
        return REQUIREMENTS
    names = {path.stem for path in (root / FOLDER).glob("*.txt") if path.is_file()}
    stem = next((name for name in _MAIN_FILES if name in names), next(iter(names)) if len(names) == 1 else None)
    if stem is not None:
        return f"{FOLDER}/{stem}.txt"
    return UNPINNED if (root / UNPINNED).is_file() else None


def find_group_requirements(root: Path) -> dict[str, str]:
    """Files with further requirements, such as requirements-dev.txt or requirements/dev.txt, by the name of a group."""
    paths = sorted(path for path in (*root.glob("*requirements*.txt"), *(root / FOLDER).glob("*.txt")))
    found: dict[str, str] = {}
    for path in paths:
        match = _GROUP_FILE.fullmatch(path.name)
        name = (
            path.stem if path.parent.name == FOLDER and path.parent != root else match and match[match.lastgroup or 0]
        )
        if name and path.is_file():
            found.setdefault(normalize_name(name), path.relative_to(root).as_posix())
    return found
