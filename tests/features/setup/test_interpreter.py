"""The Python that runs the suites."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scoregate.errors import SettingsError
from scoregate.features.setup.interpreter import find_interpreter


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def everything(tmp_path: Path) -> dict[str, str]:
    """A project with an interpreter of each kind, and an environment that finds them."""
    root = tmp_path / "project"
    (root / "uv.lock").parent.mkdir()
    (root / "uv.lock").touch()
    return {
        "root": str(root),
        "named": program(root / "tools" / "python"),
        "active": program(tmp_path / "active" / "bin" / "python"),
        "own": program(root / ".venv" / "bin" / "python"),
        "other": program(root / "venv" / "bin" / "python"),
        "uv": program(tmp_path / "bin" / "uv"),
        "VIRTUAL_ENV": str(tmp_path / "active"),
        "PATH": str(tmp_path / "bin"),
    }


def test_interpreters_have_an_order(everything: dict[str, str]) -> None:
    root = Path(everything["root"])
    named = find_interpreter(root, everything, named="tools/python", origin="--python")
    assert (named.argv, named.why) == ((everything["named"],), "named by --python")
    for kind in ("active", "own", "other"):
        interpreter = find_interpreter(root, everything)
        assert interpreter.argv == (everything[kind],)
        assert "virtual environment" in interpreter.why
        Path(everything[kind]).unlink()
    assert find_interpreter(root, everything).argv == (everything["uv"], "run", "--quiet", "python")
    (root / "uv.lock").unlink()
    assert find_interpreter(root, everything).argv == (sys.executable,)


def test_uv_counts_only_if_installed(everything: dict[str, str]) -> None:
    for kind in ("active", "own", "other", "uv"):
        Path(everything[kind]).unlink()
    assert find_interpreter(Path(everything["root"]), everything).argv == (sys.executable,)


def test_a_name_is_looked_up_on_path(everything: dict[str, str]) -> None:
    assert find_interpreter(Path(everything["root"]), everything, named="uv").argv == (everything["uv"],)


def test_the_python_of_a_virtual_environment_is_not_resolved(tmp_path: Path) -> None:
    real = program(tmp_path / "real")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(real)
    assert find_interpreter(tmp_path, {}).argv == (str(tmp_path / ".venv" / "bin" / "python"),)


@pytest.mark.parametrize("named", ["missing/python", "no-such-python", "folder/"])
def test_a_missing_named_python_is_an_error(tmp_path: Path, named: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(SettingsError, match=r"INPUT_PYTHON: python = .* can't be run") as exc_info:
        find_interpreter(tmp_path, {}, named=named, origin="INPUT_PYTHON")
    assert exc_info.value.advice


@pytest.mark.parametrize("named", [None, "tools/env/bin/python"])
def test_programs_of_the_interpreters_environment_come_first(tmp_path: Path, named: str | None) -> None:
    environment = tmp_path / ("tools/env" if named else ".venv")
    python = program(environment / "bin" / "python")
    (environment / "pyvenv.cfg").touch()
    interpreter = find_interpreter(tmp_path, {"PATH": "/usr/bin"}, named=named)
    assert interpreter.argv == (python,)
    assert interpreter.environment == {"VIRTUAL_ENV": str(environment), "PATH": f"{environment}/bin:/usr/bin"}


def test_an_interpreter_outside_of_an_environment_leaves_path_alone(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3.13")
    assert find_interpreter(tmp_path, {"PATH": "/usr/bin"}, named="bin/python3.13").environment == {}


def test_uv_starts_commands_in_the_environment_that_it_makes(everything: dict[str, str]) -> None:
    for kind in ("active", "own", "other"):
        Path(everything[kind]).unlink()
    interpreter = find_interpreter(Path(everything["root"]), everything)
    assert interpreter.launcher == (everything["uv"], "run", "--quiet")


@pytest.mark.parametrize("declared_by", ["poetry.lock", "pyproject.toml"])
@pytest.mark.parametrize("made", [True, False])
def test_poetry_says_where_its_environment_is(tmp_path: Path, declared_by: str, *, made: bool) -> None:
    environment = tmp_path / "cache" / "bot-x1-py3.12"
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / declared_by).write_text('[tool.poetry]\nname = "bot"\n', encoding="utf-8")
    python = environment / "bin" / "python"
    if made:
        program(python)
        (environment / "pyvenv.cfg").touch()
    poetry = Path(program(tmp_path / "bin" / "poetry"))
    answer = f"echo {python}" if made else "exit 1"
    poetry.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "env info --executable" ] && {answer}\n', encoding="utf-8")
    interpreter = find_interpreter(tmp_path / "project", {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})
    if made:
        assert interpreter.argv == (str(python),)
        assert interpreter.environment["PATH"].startswith(f"{environment}/bin:")
        assert "Poetry" in interpreter.why
    else:
        assert interpreter.argv == (sys.executable,)


def test_a_project_without_poetry_does_not_ask_it(tmp_path: Path) -> None:
    poetry = Path(program(tmp_path / "bin" / "poetry"))
    poetry.write_text(f"#!/bin/sh\necho {sys.executable}\ntouch {tmp_path}/asked\n", encoding="utf-8")
    find_interpreter(tmp_path, {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})
    assert not (tmp_path / "asked").exists()
