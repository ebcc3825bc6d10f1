"""How the packages of a package.json are installed: the package manager, its version, and its command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from scoregate.errors import InstallError
from scoregate.features.setup.install.python_project import matches_any
from scoregate.features.setup.javascript.project_files import PACKAGE, WorkspaceFiles, text_at
from scoregate.kernel.types.records import record

NODE_MODULES = "node_modules"
NPM, PNPM, YARN = "npm", "pnpm", "yarn"
# In the order in which they count if a folder has several.
_LOCKS = {"npm-shrinkwrap.json": NPM, "package-lock.json": NPM, "pnpm-lock.yaml": PNPM, "yarn.lock": YARN}
_UNSUPPORTED = ("bun.lock", "bun.lockb", "deno.lock")
DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies")
_PACKAGE_MANAGER = re.compile(r"(npm|pnpm|yarn)@(\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[0-9A-Za-z.-]{1,40})?)(?:\+.*)?")
# The version of a lock file's format, and the package manager that writes it without changing it.
_PNPM_VERSIONS = {"5": "7", "6": "8", "9": "10"}
_YARN_VERSIONS = {"4": "2", "5": "2", "6": "3", "7": "3", "8": "4.13", "9": "4.14", "10": "4"}
_PNPM_FORMAT = re.compile(r"^lockfileVersion: *['\"]?(\d{1,3})", re.MULTILINE)
_YARN_FORMAT = re.compile(r"^__metadata:\s+version: *['\"]?(\d{1,3})", re.MULTILINE)
_NO_LOCK = (NPM, "install", "--no-save", "--no-package-lock")
_BERRY, _CLASSIC = "@yarnpkg/cli-dist", "yarn"

_PNPM_WORKSPACE = "pnpm-workspace.yaml"
# The list is written as a block, or in brackets.
_PNPM_LIST = re.compile(
    r"^packages:[ \t]*(?:#[^\n]*)?(?:\n(?P<block>(?:[ \t]*(?:-[^\n]*|#[^\n]*)?\n)*)|\[(?P<flow>[^]]*)\])", re.M
)
_PNPM_ITEM = re.compile(r"^[ \t]*-[ \t]+(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|([^\s#,]+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_CHOICES = 100


@record
class PackagePlan:
    """How the packages of one folder are installed.

    Args:
        folder: the folder to install in.
        command: the command that installs them.
        why: the files that it follows, for people.
        tool: the package manager to get from npm's registry first, as `name@version`; None for the npm of Node.js.
        notes: what was found and is ignored.
    """

    folder: Path
    command: tuple[str, ...]
    why: str
    tool: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether an earlier step installed packages into the folder."""
        return has_packages(self.folder)

    def describe(self) -> str:
        """How they are installed, and why."""
        source = "installed by an earlier step" if self.is_installed else f"`{' '.join(self.command)}`"
        return f"packages: {source} ({'; '.join((self.why, *self.notes))})"


def has_packages(folder: Path) -> bool:
    """Whether node_modules of a folder has packages. Tools also put their own folders into it, such as `.cache`."""
    packages = folder / NODE_MODULES
    return packages.is_dir() and any(not each.name.startswith(".") for each in packages.iterdir())


def find_package_plan(folder: Path, files: WorkspaceFiles) -> PackagePlan | None:
    """The plan for the nearest package.json in a folder or above; None if there is none, or nothing to install.

    The lock file is next to package.json, or at the root of the workspace that the package belongs to.

    Raises:
        InstallError: the lock file is of a kind that isn't supported, and no earlier step installed packages.
    """
    places = [place for place in files.upward(folder) if files.has(place / PACKAGE)]
    if not places:
        return None
    own = (places[0], *(place for place in places[1:] if _has_member(place, places[0], files)))
    for place in own:
        if locks := [name for name in _LOCKS if files.has(place / name)]:
            return _plan_locked(place, locks, files)
    package = files.read_table(places[0] / PACKAGE)
    if not any(package.get(name) for name in DEPENDENCIES):
        return None
    for place in own:
        if unsupported := [name for name in _UNSUPPORTED if files.has(place / name)]:
            if has_packages(place) or has_packages(places[0]):
                installed = place if has_packages(place) else places[0]
                return PackagePlan(installed, (), files.name(place / unsupported[0]))
            raise InstallError(
                f"the packages of {files.name(places[0] / PACKAGE)} can't be installed: scoregate doesn't support "
                f"{files.name(place / unsupported[0])}",
                advice="Add the lock file of npm, pnpm or yarn, install the packages in an earlier step, or set "
                "`install` to a command.",
            )
    return PackagePlan(
        places[0],
        _NO_LOCK,
        files.name(places[0] / PACKAGE),
        notes=("there is no lock file, so the packages are the newest ones that package.json allows",),
    )


def _has_member(workspace: Path, package: Path, files: WorkspaceFiles) -> bool:
    """Whether the package.json of a folder makes it the root of a workspace, of which another folder is a member.

    Args:
        workspace: the folder that may be the root.
        package: a folder below it.
        files: the files of the project.
    """
    folder = PurePosixPath(package.relative_to(workspace).as_posix())
    globs = [choice for glob in _find_globs(workspace, files) for choice in _expand_braces(glob)]
    excluded = (glob.removeprefix("!") for glob in globs if glob.startswith("!"))
    return matches_any(folder, (glob for glob in globs if not glob.startswith("!"))) and not matches_any(
        folder, excluded
    )


def _find_globs(workspace: Path, files: WorkspaceFiles) -> Iterator[str]:
    """The globs of package.json, then those of pnpm-workspace.yaml; `!` excludes.

    A pnpm-workspace.yaml without `packages` only has settings, so the root is its only package. Of YAML only the usual
    forms of a list of texts are read: a workspace that isn't recognised leaves a package with its own lock file.
    """
    declared = files.read_table(workspace / PACKAGE).get("workspaces")
    globs = declared.get("packages") if isinstance(declared, dict) else declared
    yield from (glob for glob in (globs if isinstance(globs, list) else ()) if isinstance(glob, str))
    packages = _PNPM_LIST.search(f"{files.read(workspace / _PNPM_WORKSPACE) or ''}\n".replace("\r", ""))
    if packages is not None and packages["flow"] is not None:
        yield from (match[1] or match[2] or match[3] or "" for match in _QUOTED.finditer(packages["flow"]))
    elif packages is not None:
        for item in _PNPM_ITEM.findall(packages["block"]):
            if (match := _QUOTED.match(item)) is not None:
                yield match[1] or match[2] or match[3] or ""


def _expand_braces(glob: str) -> list[str]:
    """`libs/{a,b}` as `libs/a` and `libs/b`."""
    done, rest = list[str](), [glob]
    while rest and len(done) + len(rest) <= _MOST_CHOICES:
        text = rest.pop()
        if (braces := _BRACES.search(text)) is None:
            done.append(text)
        else:
            choices = braces[1].split(",")[:_MOST_CHOICES]
            rest += [f"{text[: braces.start()]}{choice}{text[braces.end() :]}" for choice in choices]
    return done


def _plan_locked(folder: Path, locks: list[str], files: WorkspaceFiles) -> PackagePlan:
    package = files.read_table(folder / PACKAGE)
    declared = _PACKAGE_MANAGER.fullmatch(text_at(package, "packageManager")[:300])
    manager, version = declared.groups() if declared is not None else ("", "")
    lock = next((name for name in locks if _LOCKS[name] == manager), locks[0])
    why = files.name(folder / lock)
    notes = list(_ignored(lock, locks, manager))
    if _LOCKS[lock] != manager:
        version = ""
    elif manager != NPM:
        why = f"{why} and packageManager of {files.name(folder / PACKAGE)}"
    try:
        command, tool = _install_command(lock, version, files.read(folder / lock) or "")
    except InstallError:
        if not has_packages(folder):
            raise
        command, tool = (), None
    return PackagePlan(folder, command, why, tool, tuple(notes))


def _ignored(lock: str, locks: list[str], manager: str) -> Iterator[str]:
    if others := [name for name in locks if name != lock]:
        yield f"{' and '.join(others)} is ignored"
    if manager and _LOCKS[lock] != manager:
        yield f"package.json asks for {manager}, but there is no lock file of {manager}"


def _install_command(lock: str, version: str, text: str) -> tuple[tuple[str, ...], str | None]:
    """The command for a lock file, and the package manager that it needs."""
    manager = _LOCKS[lock]
    if manager == NPM:
        return (NPM, "ci"), None
    if manager == PNPM:
        version = version or _format_version(_PNPM_FORMAT, _PNPM_VERSIONS, text, lock)
        return (PNPM, "install", "--frozen-lockfile"), f"{PNPM}@{version}"
    if not version:
        is_berry = _YARN_FORMAT.search(text) is not None
        version = _format_version(_YARN_FORMAT, _YARN_VERSIONS, text, lock) if is_berry else "1"
    if version.partition(".")[0] == "1":
        return (YARN, "install", "--frozen-lockfile", "--non-interactive"), f"{_CLASSIC}@{version}"
    return (YARN, "install", "--immutable"), f"{_BERRY}@{version}"


def _format_version(pattern: re.Pattern[str], versions: Mapping[str, Any], text: str, lock: str) -> str:
    match = pattern.search(text)
    if match is None or match[1] not in versions:
        written = match[1] if match is not None else "unknown"
        raise InstallError(
            f"{lock} has the format version {written}, which scoregate doesn't know",
            advice="Add the field `packageManager` with the exact version to package.json.",
        )
    return str(versions[match[1]])
