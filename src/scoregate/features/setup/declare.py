"""The settings of the environment that suites run in."""

from __future__ import annotations

import re

from scoregate.kernel.types.declarations.declaration import TEXT, TEXTS, Feature, Owner, Setting

_GROUP = "The environment of suites"
PYTHON = Setting[str | None](
    "python",
    TEXT,
    None,
    """The Python interpreter that runs suites. Without it: the active virtual environment, `.venv`, `uv run`, Poetry's
    environment, or the interpreter of scoregate, whichever is found first.
    """,
    _GROUP,
    owner=Owner.HEAD,
    after="env_file",
    is_shared=True,
    decides_results=True,
    is_program=True,
)
PYTHON_VERSION = Setting[str | None](
    "python_version",
    TEXT,
    None,
    """The Python version of the environment that `install` creates. Without it: the version that the project
    asks for.
    """,
    _GROUP,
    owner=Owner.HEAD,
    after="env_file",
    is_shared=True,
    decides_results=True,
)
INSTALL = Setting(
    "install",
    TEXT,
    "auto",
    """How the environment of the suites is created: `uv-sync`, `poetry`, `pdm`, `pipenv`, `requirements`, `project`,
    `node`, `none`, or a shell command. `auto` creates one only in the action, from the first of these files: `uv.lock`
    (also of a workspace), `poetry.lock`, `pdm.lock`, `pylock.toml`, `Pipfile.lock`, `requirements.txt`,
    `pyproject.toml`, `setup.py`. Commands that need Node.js get it there, too, with the packages of `package.json`.
    `node` provides only these.
    """,
    _GROUP,
    owner=Owner.HEAD,
    after="env_file",
    is_shared=True,
    decides_results=True,
    is_command=True,
)


def _check_group_names(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", value, re.ASCII):
            raise ValueError(f"{value!r:.100} is no name of a dependency group or extra")
    return values


INSTALL_GROUPS = Setting[tuple[str, ...]](
    "install_groups",
    TEXTS,
    (),
    "Dependency groups and extras that `install` adds, by name.",
    _GROUP,
    owner=Owner.HEAD,
    check=_check_group_names,
    after="env_file",
    is_shared=True,
    decides_results=True,
)
FEATURE = Feature("setup", settings=(PYTHON, PYTHON_VERSION, INSTALL, INSTALL_GROUPS))
