"""How an environment is made, by the setting and by what the project holds."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scoregate.ci.settings import Settings
from scoregate.errors import InstallError

AUTO, NONE = "auto", "none"
LOCK, PROJECT = "uv.lock", "pyproject.toml"
REQUIREMENTS = ("requirements.txt", "evals/requirements.txt")
_PYTHON = ("--python", "{python}")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Commands to run in the root, one after the other, and in words why these.

    In their words, `{uv}`, `{venv}` and `{python}` stand for uv, the environment's folder and its interpreter.
    """

    steps: tuple[tuple[str, ...], ...]
    why: str


def find_recipe(root: Path, settings: Settings) -> Recipe | None:
    """The way the settings name, or with `auto` the first that the project has something for; None if it has nothing.

    Raises:
        InstallError: the project has nothing for the way that is named.
    """
    version = ("--python", settings.python_version) if settings.python_version else ()
    if settings.install == AUTO:
        ways = (_sync, _requirements, _project, _bare if version else _nothing)
        return next((recipe for way in ways if (recipe := way(root, version)) is not None), None)
    if settings.install == NONE:
        return None
    if settings.install not in _NAMED:
        return Recipe((_venv(version, "--seed"), ("sh", "-ec", settings.install)), f"`{settings.install}`")
    if (recipe := _NAMED[settings.install](root, version)) is None:
        sought = _SOUGHT[settings.install]
        raise InstallError(
            f"install = {settings.install!r} ({settings.origin('install')}), but {root} has no {sought}",
            advice="Add it, name another folder with `working_directory`, or set `install` to auto.",
        )
    return recipe


Words = tuple[str, ...]
Way = Callable[[Path, Words], Recipe | None]


def _sync(root: Path, version: Words) -> Recipe | None:
    if not (root / LOCK).is_file():
        return None
    return Recipe((("{uv}", "sync", "--frozen", *version),), LOCK)


def _requirements(root: Path, version: Words) -> Recipe | None:
    there = [name for name in REQUIREMENTS if (root / name).is_file()]
    if not there:
        return None
    files = [word for name in there for word in ("-r", name)]
    return Recipe((_venv(version), ("{uv}", "pip", "install", *_PYTHON, *files)), " and ".join(there))


def _project(root: Path, version: Words) -> Recipe | None:
    try:
        named = "project" in tomllib.loads((root / PROJECT).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    install = ("{uv}", "pip", "install", *_PYTHON, "-r", PROJECT)
    return Recipe((_venv(version), install), PROJECT) if named else None


def _bare(_root: Path, version: Words) -> Recipe:
    return Recipe((_venv(version),), f"Python {version[-1]} alone")


def _nothing(_root: Path, _version: Words) -> None:
    return None


def _venv(version: Words, *more: str) -> Words:
    return ("{uv}", "venv", *version, *more, "{venv}")


_NAMED: Mapping[str, Way] = {"uv-sync": _sync, "requirements": _requirements}
_SOUGHT = {"uv-sync": LOCK, "requirements": " or ".join(REQUIREMENTS)}
