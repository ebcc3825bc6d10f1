"""Choose the plan that installs what a project's suites need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from scoregate.errors import InstallError
from scoregate.features.setup.declare import INSTALL, INSTALL_GROUPS, PYTHON_VERSION
from scoregate.features.setup.install import AUTO, NODE, NONE
from scoregate.features.setup.install.locks import (
    PDM_LOCK,
    POETRY_LOCK,
    PYLOCK,
    plan_pdm,
    plan_pipenv,
    plan_poetry,
    plan_pylock,
    plan_uv_sync,
    plan_uv_sync_above,
    refuse_unlocked_pipfile,
)
from scoregate.features.setup.install.pipfile_lock import PIPFILE_LOCK
from scoregate.features.setup.install.plan import InstallPlan, InstallRequest, PlanInstall
from scoregate.features.setup.install.python_project import (
    PYPROJECT,
    UV_LOCK,
    PythonProject,
    WantedGroups,
    read_python_project,
)
from scoregate.features.setup.install.requirements import (
    FOLDER,
    REQUIREMENTS,
    SUITE_REQUIREMENTS,
    UNPINNED,
    find_group_requirements,
    find_ignored_metadata,
    plan_project,
    plan_requirements,
    plan_suite_requirements,
    plan_unpinned_requirements,
)
from scoregate.kernel.judge.settings import Settings

# The order of `auto`: what pins most comes first.
_AUTOMATIC: tuple[PlanInstall, ...] = (
    plan_uv_sync,
    plan_poetry,
    plan_pdm,
    plan_pylock,
    plan_pipenv,
    plan_requirements,
    plan_project,
    plan_unpinned_requirements,
    plan_suite_requirements,
    plan_uv_sync_above,
    refuse_unlocked_pipfile,
)
_NAMED: Mapping[str, tuple[PlanInstall, ...]] = {
    "uv-sync": (plan_uv_sync, plan_uv_sync_above),
    "poetry": (plan_poetry,),
    "pdm": (plan_pdm,),
    "pipenv": (plan_pipenv,),
    "requirements": (plan_requirements, plan_unpinned_requirements, plan_suite_requirements),
    "project": (plan_project,),
}
_REQUIRED_FILES = {
    "uv-sync": UV_LOCK,
    "poetry": f"{POETRY_LOCK} and {PYPROJECT}",
    "pdm": f"{PDM_LOCK} and {PYPROJECT}",
    "pipenv": PIPFILE_LOCK,
    "requirements": f"{REQUIREMENTS}, {UNPINNED}, main file in {FOLDER}/ or {SUITE_REQUIREMENTS}",
    "project": f"{PYPROJECT} with [project], or setup.py",
}
_CONDA = ("environment.yml", "environment.yaml", "conda-lock.yml", "pixi.toml", "pixi.lock")
_CONDA_ADVICE = (
    "Set `install` to a command that installs the packages with pip or uv, to `none`, or `python` to an interpreter "
    "that an earlier step made."
)
_MOST_SHOWN = 10
_KNOWN_FILES = (UV_LOCK, POETRY_LOCK, PDM_LOCK, PYLOCK, PIPFILE_LOCK, "Pipfile", REQUIREMENTS, UNPINNED)


def find_install_plan(root: Path, settings: Settings) -> InstallPlan | None:
    """The plan that the settings name, or with `auto` the first that fits the project; None if none does.

    Raises:
        InstallError: the project does not have the files of the plan that is named, has only files of Conda, or does
            not have a group that is named.
    """
    install = INSTALL.of(settings)
    if install in (NONE, NODE):
        return None
    groups = WantedGroups(INSTALL_GROUPS.of(settings), settings.origin("install_groups"))
    request = InstallRequest(read_python_project(root), groups, PYTHON_VERSION.of(settings))
    if is_shell_command(install):
        notes = ("install_groups is ignored: `install` is a command",) if groups.names else ()
        steps = (request.venv_command("--seed"), ("sh", "-ec", install))  # the command may call pip itself
        return InstallPlan(steps, f"`{install}`", notes=notes)
    makers = _AUTOMATIC if install == AUTO else _NAMED[install]
    plan = next((plan for make_plan in makers if (plan := make_plan(request)) is not None), None)
    if plan is not None:
        return replace(plan, notes=(*_describe_ignored(request.project, plan), *plan.notes))
    if install != AUTO:
        raise InstallError(
            f"install = {install!r} ({settings.origin('install')}), but {root} has no {_REQUIRED_FILES[install]}",
            advice="Add it, name another folder with `working_directory`, or set `install` to auto.",
        )
    return _plan_nothing(request)


def is_shell_command(install: str) -> bool:
    """Whether the setting `install` is a shell command."""
    return install not in (AUTO, NONE, NODE, *_NAMED)


def _plan_nothing(request: InstallRequest) -> InstallPlan | None:
    """An empty environment if a Python version is wanted, else none.

    Raises:
        InstallError: the project has files of Conda, or groups are wanted.
    """
    if conda := [name for name in _CONDA if request.project.has(name)]:
        raise InstallError(
            f"{request.root} has {conda[0]}, but Conda environments aren't supported, and no other file says what to "
            "install",
            advice=_CONDA_ADVICE,
        )
    available = {"requirements files": find_group_requirements(request.root)}
    request.groups.choose(available, source=str(request.root))
    version = request.python_version
    return InstallPlan((request.venv_command(),), f"Python {version} alone") if version else None


def _describe_ignored(project: PythonProject, plan: InstallPlan) -> tuple[str, ...]:
    """A line about the files that say what to install, but are not used."""
    root, further = project.root, find_group_requirements(project.root).values()
    used = tuple(name for name in plan.files if name.endswith((".txt", ".in")))
    metadata = find_ignored_metadata(project, used) if plan.files[:1] == used[:1] else ()
    known = dict.fromkeys((*_KNOWN_FILES, SUITE_REQUIREMENTS, *further, *metadata))
    unused = [name for name in known if name not in plan.files and (root / name).is_file()]
    # A file that another one is compiled from, or that lists the same packages, is no news.
    sources = {"Pipfile"} if PIPFILE_LOCK in plan.files else {UNPINNED} if REQUIREMENTS in plan.files else set()
    shown = [name for name in unused if name not in sources]
    reasons = [f"{', '.join(shown[:_MOST_SHOWN])}, as {plan.why} is used"] if shown else []
    if conda := [name for name in _CONDA if (root / name).is_file()]:
        reasons.append(f"{', '.join(conda)}, as Conda environments aren't supported")
    return (f"ignored: {'; '.join(reasons)}",) if reasons else ()
