"""Environments of real layouts, from lock files that the real tools wrote. The tools themselves are installed, too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from tests.integration.cached_environments import UV
from tests.integration.host.conftest import Project, suite
from tests.integration.host.own_wheel import installed_from_wheel

from scoregate.features.setup.environment import VenvSpec, prepare_environment
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.judge.settings import load_settings

__all__ = ["installed_from_wheel"]
LAYOUTS = Path(__file__).parents[2] / "data" / "layouts"
INSTALLED = {"iniconfig": "2.0.0", "tomli-w": "1.0.0", "roman": "4.1"}
# Versions of what is installed, and the folder that the project is imported from.
QUERY = """
import importlib.metadata, importlib.util, json
names = ("iniconfig", "tomli-w", "roman", "toolz", "kit", "shop", "scoregate")
found = {each.metadata["Name"].replace("_", "-"): each.version for each in importlib.metadata.distributions()}
shop = importlib.util.find_spec("shop")
print(json.dumps([{name: found[name] for name in names if name in found}, shop.origin if shop else None]))
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """A project below `tests/data/layouts`, and what its environment must have.

    Args:
        name: its folder.
        why: what the environment is made from.
        groups: the wanted groups.
        versions: versions by package.
        package: where the project itself is imported from; None if it isn't installed.
        folder: the project's folder in it.
    """

    name: str
    why: str
    groups: Sequence[str]
    versions: dict[str, str]
    package: str | None = "src/shop/__init__.py"
    folder: str = "."


PACKAGE = {"shop": "0.1.0"}
ALL = (
    Layout("poetry", "poetry.lock", ["numerals"], {**INSTALLED, **PACKAGE}),
    Layout("pdm", "pdm.lock", ["numerals"], {**INSTALLED, **PACKAGE}),
    Layout("pipenv", "Pipfile.lock", ["dev", "evals"], INSTALLED, package=None),
    Layout(
        "uv_workspace",
        "uv.lock of the workspace",
        ["evals", "numerals"],
        {**INSTALLED, **PACKAGE, "kit": "0.1.0"},
        folder="services/shop",
    ),
    Layout(
        "pip_tools",
        "requirements.txt and requirements-evals.txt",
        ["evals"],
        {"iniconfig": "2.0.0", "tomli-w": "1.0.0", **PACKAGE},
    ),
    Layout("hatch", "pyproject.toml", ["evals"], {**INSTALLED, **PACKAGE, "toolz": "0.12.0"}),
    Layout(
        "setup",
        "setup.py",
        ["evals"],
        {"iniconfig": "2.0.0", "tomli-w": "1.0.0", **PACKAGE},
        package="lib/shop/__init__.py",
    ),
)


async def check_layout(layout: Layout, folder: Path) -> None:
    top = folder / "project"
    shutil.copytree(LAYOUTS / layout.name, top)
    (top / ".git").mkdir()
    if layout.name == "uv_workspace":
        await anyio.run_process([UV, "lock", "--quiet"], cwd=top)
    root, lines = top / layout.folder, list[str]()
    (folder / "scratch").mkdir()
    spec = VenvSpec(root, folder / "scratch", os.environ, Redactor(()), lines.append, automatic=True)
    settings = load_settings(root, {}, flags={"install_groups": layout.groups})
    interpreter = await prepare_environment(spec, settings)
    assert interpreter.why.startswith(f"an environment made from {layout.why}"), interpreter.why
    answer = await anyio.run_process([*interpreter.argv, "-I", "-c", QUERY], cwd=root, stderr=None)
    versions, shop = json.loads(answer.stdout)
    assert versions.pop("scoregate"), lines
    assert versions == layout.versions, lines
    assert shop == (str(root / layout.package) if layout.package else None), lines
    assert not [path for path in top.rglob("*") if path.name in ("pyvenv.cfg", ".pdm-python")]


@pytest.mark.anyio
@pytest.mark.usefixtures("installed_from_wheel")
async def test_each_layout_gets_its_pinned_versions(tmp_path: Path) -> None:
    limit = anyio.CapacityLimiter(3)

    async def check(layout: Layout) -> None:
        async with limit:
            await check_layout(layout, tmp_path / layout.name)

    async with anyio.create_task_group() as tasks:
        for layout in ALL:
            (tmp_path / layout.name).mkdir()
            tasks.start_soon(check, layout)


BROKEN = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.mark.usefixtures("installed_from_wheel")
def test_a_project_that_cannot_be_built_is_reported(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("backend.py", "raise SystemExit('no compiler was found')\n")
    project.write("src/shop.py", "")
    project.write("evals/demo.py", suite("import shop"))
    project.write("pyproject.toml", f'[project]\nname = "shop"\nversion = "1"\n{BROKEN}')
    outcome = project.scoregate("run", SCOREGATE_ACTION="1")
    assert outcome.exit_code == 0, outcome.output
    assert "no compiler was found" in outcome.output
    assert "The project itself could not be installed" in outcome.output
    project.write("pyproject.toml", BROKEN)
    outcome = project.scoregate("run", SCOREGATE_ACTION="1")
    assert outcome.exit_code == 3
    for part in ("can't be made", "-e .", "no compiler was found", "made from pyproject.toml"):
        assert part in outcome.output


def test_ignored_files_are_printed_and_listed(tmp_path: Path) -> None:
    """Here scoregate is installed from where it was installed from itself."""
    project = Project(tmp_path)
    project.write("evals/demo.py", suite())
    project.write("pyproject.toml", '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11"\n')
    project.write("requirements.txt", "no-such-package-anywhere==1\n")
    project.write("environment.yml", "")
    subprocess.run([UV, "lock", "--quiet"], cwd=tmp_path, check=True)
    line = "ignored: requirements.txt, as uv.lock is used; environment.yml, as Conda environments aren't supported"
    outcome = project.scoregate("run", SCOREGATE_ACTION="1")
    assert outcome.exit_code == 0, outcome.output
    assert line in outcome.output
    outcome = project.scoregate("list", SCOREGATE_ACTION="1", UV_OFFLINE="1")
    assert f"an environment made from uv.lock; {line}" in " ".join(outcome.output.split())


def test_a_conda_project_is_an_error(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("evals/demo.py", suite())
    project.write("environment.yml", "")
    outcome = project.scoregate("run", SCOREGATE_ACTION="1")
    assert outcome.exit_code == 3
    assert "Conda environments aren't supported" in outcome.output
    assert "Set `install` to a command" in outcome.output
    assert project.scoregate("run").exit_code == 0, "on a laptop nothing is installed"
