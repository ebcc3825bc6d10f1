"""Hatch's environments: the packages that they add to a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from scoregate.errors import InstallError
from scoregate.features.setup.install.files import read_toml
from scoregate.features.setup.install.python_project import PythonProject
from scoregate.kernel.types.records import record

_FILE, _DEFAULT = "hatch.toml", "default"
_MOST_TEMPLATES = 10


@record
class HatchPackages:
    """What environments of Hatch add.

    Args:
        requirements: packages.
        features: extras of the project.
        groups: dependency groups of the project.
        skips_project: whether none of them installs the project itself.
    """

    requirements: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    skips_project: bool = False

    @property
    def text(self) -> str | None:
        """The packages in the format of requirements.txt; None without any."""
        return "".join(f"{each}\n" for each in self.requirements) or None


@record
class HatchEnvironments:
    """The tables of Hatch's environments, by name.

    Args:
        project: the project.
        tables: the tables.
        files: the file that holds them, if it isn't pyproject.toml.
    """

    project: PythonProject
    tables: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the environments."""
        return tuple(self.tables)

    def select(self, names: tuple[str, ...]) -> HatchPackages:
        """What the environment `default` and the named ones add.

        Raises:
            InstallError: a package is written in a form that only Hatch can read.
        """
        if not self.tables:
            return HatchPackages()
        selected = tuple(dict.fromkeys((_DEFAULT, *names)))
        options = [self._options(name) for name in selected]
        packages = [
            self._expand(text) for each in options for key in ("dependencies", "extra-dependencies")
            for text in _texts(each.get(key))
        ]  # fmt: skip
        return HatchPackages(
            tuple(dict.fromkeys(packages)),
            tuple(dict.fromkeys(text for each in options for text in _texts(each.get("features")))),
            tuple(dict.fromkeys(text for each in options for text in _texts(each.get("dependency-groups")))),
            skips_project=all(each.get("skip-install") is True for each in options),
        )

    def _options(self, name: str) -> Mapping[str, Any]:
        """The options of an environment, with those of the environments that it inherits from."""
        inherited: dict[str, Any] = {}
        for _ in range(_MOST_TEMPLATES):
            table = self.tables.get(name)
            own = table if isinstance(table, Mapping) else {}
            is_detached = own.get("detached") is True
            inherited = {**({"skip-install": True} if is_detached else {}), **own, **inherited}
            template = own.get("template", _DEFAULT)
            if is_detached or name in (_DEFAULT, template):
                break
            name = str(template)
        return inherited

    def _expand(self, requirement: str) -> str:
        """A requirement with the project's folder put in."""
        root = self.project.root
        text = requirement.replace("{root:uri}", root.as_uri()).replace("{root}", str(root))
        if "{" in text or any(control in text for control in "\r\n\0"):
            raise InstallError(
                f"an environment of Hatch requires {requirement!r:.200}, which only Hatch can read",
                advice="Set `install` to a command, such as `pip install …`.",
            )
        return text


def read_hatch_environments(project: PythonProject) -> HatchEnvironments:
    """Read the environments of hatch.toml, else of pyproject.toml.

    Raises:
        InstallError: hatch.toml is not valid.
    """
    tables = read_toml(project.root / _FILE).get("envs")
    if isinstance(tables, Mapping):
        return HatchEnvironments(project, tables, (_FILE,))
    return HatchEnvironments(project, project.table("tool", "hatch", "envs"))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()
