"""Other frameworks in environments of their own, for the pages about moving from them."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.docs.project import ROOT, Project
from tests.integration.cached_environments import UV, cached_folder, install, make_python
from tests.warm_program import program_folder

_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def use_python(project: Project, name: str, requirements: Sequence[str], *, alone: Sequence[str] = ()) -> None:
    """Give the project a `python` with these packages and with scoregate, as if all were installed together.

    The environment is made once and kept; the test is skipped where no package index can be reached. The command line
    runs in this process' environment, and starts suites with that `python`.

    Args:
        project: the reader's.
        name: what the test is about.
        requirements: packages with versions.
        alone: packages that are installed without what they need.
    """
    expected = (*requirements, *_own_requirements("cli", "endpoints", "judges"))

    def make(folder: Path) -> None:
        make_python(folder, expected, what=f"the example of {name}")
        if alone:
            python = str(folder / "bin" / "python")
            command = [UV, "pip", "install", "--quiet", "--no-deps", "--python", python, *alone]
            install(command, what=f"the example of {name}")

    environment = cached_folder(f"migrate-{name}", (sys.version, *expected, *alone), make)
    prepend_path(project, environment / "bin")
    project.environment |= {"PYTHONPATH": str(ROOT / "src"), "VIRTUAL_ENV": str(environment)}


def use_node(project: Project, name: str, packages: Sequence[str], *, version: str, optional: bool = True) -> Path:
    """Give the project the programs of these npm packages and this version of Node.js; as `use_python`.

    Args:
        project: the reader's.
        name: what the test is about.
        packages: with versions; in a package of native code `{platform}` stands for this machine's, as in "linux-x64".
        version: of Node.js, which comes from npm too, as the machine may have an older one.
        optional: whether to install optional dependencies.

    Returns:
        The folder `node_modules` that holds them.
    """
    system, machine = platform.system().lower(), _MACHINES.get(platform.machine())
    if shutil.which("npm") is None or system != "linux" or machine is None:
        pytest.skip(
            f"the example of {name} is NOT tested: there is no npm, or no Node.js from npm for {system} {machine}"
        )
    this = f"{system}-{machine}"
    expected = (f"node-{this}@{version}", *(package.format(platform=this) for package in packages))

    def make(folder: Path) -> None:
        folder.mkdir()
        quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        chosen = () if optional else ("--omit=optional",)
        install(["npm", "install", *quiet, *chosen, "--prefix", str(folder), *expected], what=f"the example of {name}")

    modules = cached_folder(f"migrate-{name}", expected, make) / "node_modules"
    prepend_path(project, modules / f"node-{this}" / "bin", modules / ".bin")
    return modules


def _own_requirements(*extras: str) -> list[str]:
    """What scoregate with these extras needs."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(
        {*declared["dependencies"], *(each for extra in extras for each in declared["optional-dependencies"][extra])}
    )


def prepend_path(project: Project, *folders: Path) -> None:
    """Let programs of these folders be found before all others."""
    own = str(program_folder()), str(Path(sys.executable).parent), os.environ["PATH"]
    path = project.environment.get("PATH") or os.pathsep.join(own)
    project.environment["PATH"] = os.pathsep.join([*map(str, folders), path])
