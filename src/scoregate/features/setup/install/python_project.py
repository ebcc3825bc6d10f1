"""What a project's folder says about its Python environment: pyproject.toml, and the lock of a uv workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from scoregate.features.setup.install.files import has_setup_metadata, read_setup_extras, read_toml
from scoregate.features.setup.install.groups import normalize_name
from scoregate.features.setup.install.workspaces import matches_any
from scoregate.kernel.types.records import record

UV_LOCK, PYPROJECT = "uv.lock", "pyproject.toml"
GROUP, EXTRA = "dependency groups", "extras"


@record
class PythonProject:
    """A project's folder, and the content of its pyproject.toml; empty without that file."""

    root: Path
    content: Mapping[str, Any]

    def has(self, name: str) -> bool:
        """Whether the project has a file, at a path relative to its folder."""
        return (self.root / name).is_file()

    def table(self, *keys: str) -> Mapping[str, Any]:
        """A table of pyproject.toml; empty if it is missing or something else."""
        value: Any = self.content
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value if isinstance(value, Mapping) else {}

    @property
    def is_package(self) -> bool:
        """Whether the project can be installed itself: it has a build backend, and no tool's setting forbids it."""
        forbidden = (
            self.table("tool", "uv").get("package") is False
            or self.table("tool", "poetry").get("package-mode") is False
            or self.table("tool", "pdm").get("distribution") is False
        )
        if forbidden:
            return False
        if "poetry" in str(self.table("build-system").get("build-backend", "")):
            return self._has_poetry_code()
        return "build-system" in self.content or self.has("setup.py") or has_setup_metadata(self.root)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The names of dependency groups (PEP 735, and those of older versions of uv) and of extras."""
        old = ("dev",) if "dev-dependencies" in self.table("tool", "uv") else ()
        extras = (
            *self.table("project", "optional-dependencies"),
            *self.table("tool", "poetry", "extras"),
            *self.table("tool", "setuptools", "dynamic", "optional-dependencies"),
            *read_setup_extras(self.root),
        )
        return {
            GROUP: tuple(dict.fromkeys((*self.table("dependency-groups"), *old))),
            EXTRA: tuple(dict.fromkeys(extras)),
        }

    def _has_poetry_code(self) -> bool:
        """Whether Poetry finds a package. Many applications have none, and are installed with `--no-root`."""
        poetry = self.table("tool", "poetry")
        if poetry.get("packages"):
            return True
        name = normalize_name(str(self.table("project").get("name") or poetry.get("name") or "")).replace("-", "_")
        places = (
            self.root / name,
            self.root / "src" / name,
            self.root / f"{name}.py",
            self.root / "src" / f"{name}.py",
        )
        return bool(name) and any(place.exists() for place in places)


def read_python_project(root: Path) -> PythonProject:
    """Read pyproject.toml.

    Raises:
        InstallError: it is not valid.
    """
    return PythonProject(root, read_toml(root / PYPROJECT))


def find_uv_lock(root: Path) -> Path | None:
    """uv.lock of the project, or of the workspace that it is a member of; folders above the repository don't count.

    Raises:
        InstallError: a pyproject.toml above the project can't be read.
    """
    if (root / UV_LOCK).is_file():
        return root / UV_LOCK
    if not (root / PYPROJECT).is_file():
        return None
    for folder in _folders_above(root):
        if (folder / UV_LOCK).is_file() and _is_member(folder, root):
            return folder / UV_LOCK
    return None


def find_lock_above(root: Path) -> Path | None:
    """uv.lock of the nearest project above a folder, in the same repository."""
    locks = (folder / UV_LOCK for folder in _folders_above(root) if (folder / PYPROJECT).is_file())
    return next((lock for lock in locks if lock.is_file()), None)


def _folders_above(root: Path) -> tuple[Path, ...]:
    """The folders above the root, the nearest first, up to the top of the repository; none outside of one."""
    folders = (root, *root.parents)
    top = next((number for number, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[1 : top + 1]


def _is_member(workspace: Path, root: Path) -> bool:
    table = read_python_project(workspace).table("tool", "uv", "workspace")
    folder = PurePosixPath(root.relative_to(workspace).as_posix())

    def matches(key: str) -> bool:
        globs = table.get(key)
        return isinstance(globs, list) and matches_any(folder, globs)

    return matches("members") and not matches("exclude")
