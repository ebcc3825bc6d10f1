"""What a project's folder says about its Python environment: pyproject.toml, and the lock of a uv workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from scoregate.errors import InstallError
from scoregate.features.setup.install.files import has_setup_metadata, read_setup_extras, read_toml
from scoregate.kernel.types.records import record

_MOST_LISTED = 20


@record
class WantedGroups:
    """The names in the setting, and where it is set."""

    names: tuple[str, ...] = ()
    origin: str = "default"

    def choose(self, available: Mapping[str, Iterable[str]], *, source: str, advice: str = "") -> ChosenGroups:
        """The wanted names, as the project's files spell them, by kind.

        Args:
            available: the names that exist, by kind, such as `extra`.
            source: the files that list them.
            advice: what to do about a name that is missing.

        Raises:
            InstallError: a name exists in no kind.
        """
        known = {kind: {normalize_name(name): name for name in names} for kind, names in available.items()}
        for wanted in self.names:
            if not any(normalize_name(wanted) in names for names in known.values()):
                raise InstallError(
                    f"install_groups ({self.origin}) names {wanted!r:.100}, but {source} has no such group; "
                    f"{_describe(known)}",
                    advice=advice or "Correct the name, or add the group.",
                )
        keys = [normalize_name(wanted) for wanted in self.names]
        return ChosenGroups(
            {kind: tuple(dict.fromkeys(names[key] for key in keys if key in names)) for kind, names in known.items()}
        )


@record
class ChosenGroups:
    """The chosen names by kind."""

    by_kind: Mapping[str, tuple[str, ...]]

    def of(self, *kinds: str) -> tuple[str, ...]:
        """The names of some kinds."""
        return tuple(name for kind in kinds for name in self.by_kind.get(kind, ()))


def normalize_name(name: str) -> str:
    """The form in which names of groups and extras are compared (PEP 685)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _describe(known: Mapping[str, Mapping[str, str]]) -> str:
    parts = []
    for kind, names in known.items():
        if names:
            listed = ", ".join(f"{name:.100}" for name in sorted(names.values())[:_MOST_LISTED])
            parts.append(f"{kind}: {listed}{', …' if len(names) > _MOST_LISTED else ''}")
    return f"it has {'; '.join(parts)}" if parts else "it has none"


_MOST_PARTS, _MOST_GLOBS, _LONGEST_GLOB = 20, 1_000, 500


def matches_any(folder: PurePosixPath, globs: Iterable[object]) -> bool:
    """Whether a folder, relative to the top of the workspace, matches one of the globs; what is not text is ignored.

    `**` matches any number of folders. A glob with more than 20 parts, or more than 500 characters, matches nothing.
    """
    texts = (glob for glob in islice(globs, _MOST_GLOBS) if isinstance(glob, str) and len(glob) <= _LONGEST_GLOB)
    return any(_match_parts(folder.parts, PurePosixPath(text).parts) for text in texts)


def _match_parts(parts: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    if len(globs) > _MOST_PARTS:
        return False
    matched = {0}  # how many parts the globs so far can match
    for glob in globs:
        if glob == "**":
            matched = set(range(min(matched), len(parts) + 1))
        else:
            matched = {count + 1 for count in matched if count < len(parts) and fnmatchcase(parts[count], glob)}
        if not matched:
            return False
    return len(parts) in matched


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
