"""Plans without a lock file: requirements, and the project's own metadata."""

from __future__ import annotations

import re
from pathlib import Path

from scoregate.features.setup.install.files import SETUP_CFG, SETUP_PY, has_setup_metadata, read_bounded
from scoregate.features.setup.install.hatch import read_hatch_environments
from scoregate.features.setup.install.plan import (
    PIP_INSTALL,
    InstallPlan,
    InstallRequest,
    Words,
    project_step,
    repeat_option,
)
from scoregate.features.setup.install.python_project import EXTRA, GROUP, PYPROJECT, PythonProject, normalize_name

REQUIREMENTS, SUITE_REQUIREMENTS, UNPINNED = "requirements.txt", "evals/requirements.txt", "requirements.in"
FOLDER = "requirements"
# The files of the folder that hold what the project itself needs; the first that exists is used.
_MAIN_FILES = ("base", "main", "requirements", "common", "default", "prod", "production")
_GROUP_FILE = re.compile(r"requirements[-_.](?P<after>[\w.-]+)\.txt|(?P<before>[\w.-]+)[-_.]requirements\.txt")
_OWN_PROJECT = re.compile(r"\s*(?:-e\s+|--editable[\s=]+)?\./?(?:\[[^]]{0,200}\])?\s*(?:[#;].*)?$")
_REQUIREMENT_FILES, _HATCH = "requirements files", "Hatch environments"


def plan_requirements(request: InstallRequest) -> InstallPlan | None:
    """Install requirements.txt or the main file of `requirements/`, and those of the suites."""
    main = find_main_requirements(request.root)
    return None if main is None else _requirements_plan(request, (main, *_suite_files(request)))


def plan_unpinned_requirements(request: InstallRequest) -> InstallPlan | None:
    """Install requirements.in and those of the suites."""
    is_there = request.project.has(UNPINNED)
    return _requirements_plan(request, (UNPINNED, *_suite_files(request))) if is_there else None


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
    own = find_ignored_metadata(project, ()) or (PYPROJECT,)
    used = (*files, *own) if step or chosen.of(GROUP, EXTRA) else files
    words = (*repeat_option("-r", files), *repeat_option("--group", chosen.of(GROUP)))
    extras = _project_arguments(request, chosen.of(EXTRA)) if chosen.of(EXTRA) else ()
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
        *_project_arguments(request, (*chosen.of(EXTRA), *hatch_packages.features)),
        *repeat_option("--group", (*chosen.of(GROUP), *hatch_packages.groups)),
        *repeat_option("-r", suite_files),
        *(("-r", "{requirements}") if hatch_packages.requirements else ()),
    )
    files = [name for name in (PYPROJECT, SETUP_PY, SETUP_CFG, *suite_files) if project.has(name)]
    shown = PYPROJECT if is_standard or project.table("tool", "poetry") else next(iter(files), PYPROJECT)
    return InstallPlan(
        (request.venv_command(), (*PIP_INSTALL, *words)),
        " and ".join((shown, *suite_files)),
        (*files, *hatch.files),
        requirements=hatch_packages.text,
        project_step=project_step(project) if is_standard and not hatch_packages.skips_project else (),
    )


def _project_arguments(request: InstallRequest, extras: tuple[str, ...]) -> Words:
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
    """requirements.txt, else the main file of `requirements/`; None if none exists."""
    if (root / REQUIREMENTS).is_file():
        return REQUIREMENTS
    names = (f"{FOLDER}/{stem}.txt" for stem in _MAIN_FILES)
    return next((name for name in names if (root / name).is_file()), None)


def find_ignored_metadata(project: PythonProject, files: tuple[str, ...]) -> tuple[str, ...]:
    """The files with the project's own dependencies that requirements files replace, unless one installs the project.

    Args:
        project: the project.
        files: the requirements files, relative to its folder.
    """
    if any(_installs_project(project.root / name) for name in files):
        return ()
    has_dependencies = {
        PYPROJECT: bool(_declared_dependencies(project)),
        SETUP_PY: project.has(SETUP_PY),
        SETUP_CFG: has_setup_metadata(project.root),
    }
    return tuple(name for name, ignored in has_dependencies.items() if ignored)


def _declared_dependencies(project: PythonProject) -> object:
    """What pyproject.toml says about the project's own dependencies; empty if they are nowhere or none."""
    table = project.table("project")
    is_dynamic = "dependencies" in str(table.get("dynamic", ""))
    return table.get("dependencies") or is_dynamic or project.table("tool", "poetry", "dependencies")


def _installs_project(file: Path) -> bool:
    lines = read_bounded(file).decode("utf-8", "replace").splitlines()
    return any(_OWN_PROJECT.match(line) for line in lines)


def find_group_requirements(root: Path) -> dict[str, str]:
    """Files with further requirements, such as requirements-dev.txt or requirements/dev.txt, by the name of a group."""
    paths = sorted(path for path in (*root.glob("*requirements*.txt"), *(root / FOLDER).glob("*.txt")))
    requirements: dict[str, str] = {}
    for path in paths:
        match = _GROUP_FILE.fullmatch(path.name)
        name = (
            path.stem if path.parent.name == FOLDER and path.parent != root else match and match[match.lastgroup or 0]
        )
        if name and path.is_file():
            requirements.setdefault(normalize_name(name), path.relative_to(root).as_posix())
    return requirements
