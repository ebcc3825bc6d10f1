"""Unused settings and files are named if no environment is created."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scoregate.features.setup.environment import VenvSpec, prepare_environment
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.judge.settings import load_settings

pytestmark = pytest.mark.anyio


async def test_groups_not_installed_are_named(tmp_path: Path) -> None:
    venv = tmp_path / ".venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "python").symlink_to(sys.executable)
    ignored = "install_groups (--install-groups) is ignored: "
    cases: list[tuple[dict[str, object], bool, list[str]]] = [
        ({"python": sys.executable}, False, [f"{ignored}`python` (--python) names the interpreter"]),
        ({"install": "none"}, False, [f"{ignored}`install` (--install) is none"]),
        ({"install": "node"}, True, [f"{ignored}`install` (--install) is node"]),
        ({}, True, [f"{ignored}the project's virtual environment .venv is used"]),
        ({}, False, []),
        ({"install_groups": ()}, True, []),
        ({"install": "none", "install_groups": ()}, False, []),
    ]
    for flags, automatic, expected in cases:
        printed: list[str] = []
        spec = VenvSpec(tmp_path, tmp_path, {"PATH": ""}, Redactor(()), printed.append, automatic=automatic)
        settings = load_settings(tmp_path, {}, flags={"install_groups": ("evals",), **flags})
        listed = await prepare_environment(spec, settings, dry=True)
        assert (list(listed.notes), printed) == (expected, []), flags
        await prepare_environment(spec, settings)
        assert printed == expected


async def test_requirements_of_a_folder_are_named_if_not_installed(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "docs.txt").touch()
    spec = VenvSpec(tmp_path, tmp_path, {"PATH": ""}, Redactor(()), print, automatic=True, host_python_is_fallback=True)
    environment = await prepare_environment(spec, load_settings(tmp_path, {}), dry=True)
    assert environment.notes == ("ignored: requirements/docs.txt; `install_groups` installs such files",)
