"""The files of a repository as a run finds them, and digests of them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from scoregate.kernel.host import git
from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.types.relative_paths import is_below, matches_path
from scoregate.kernel.types.runs.dependencies import UNKNOWN

_MOST_BYTES = 256 << 20
_FOLDER, _PROGRAM = "folder", "+x"
_INIT = "__init__"
_CODE = (".py", ".so", ".pyd", ".pyc")
_NODE_ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".node")
# No native library reads such files as data.
_NO_DATA = {
    *(".py", ".pyi", ".ipynb", ".md", ".rst", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".css"),
    *(".scss", ".svg", ".go", ".rs", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".rb", ".php", ".sh", ".swift"),
    *(".gitignore", ".gitattributes", ".gitkeep", ".editorconfig", ".tf", ".vue"),
}
_MOST_ENDINGS = 200
NODE_MODULES = "node_modules"


@dataclass
class Tree:
    """The files that are tracked or not ignored when a run starts. Paths are relative to the top, with slashes.

    Args:
        top: the top of the repository, without links.
        tracked: the digests of tracked files in the index of git.
        others: the files that are neither tracked nor ignored.
        changed: the tracked files that differ from the index.
        submodules: the folders of other repositories.
        left_out: folders whose files are no dependencies: the output of scoregate and its cache.
        named: tracked files and folders that all suites depend on by the settings: variables, recorded calls of models,
            files of the command that installs packages.
        links: the tracked files that are links.
        programs: the tracked files that are executable.
    """

    top: Path
    tracked: dict[str, str]
    others: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()
    submodules: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    links: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()
    _digests: dict[str, str] = field(default_factory=dict)
    _real: dict[str, str | None] = field(default_factory=dict)

    @cached_property
    def entries(self) -> dict[str, set[str]]:
        """The names in each folder with files; those of folders end with a slash."""
        entries: dict[str, set[str]] = {"": set()}
        for path in self.list_files():
            folder, _, name = path.rpartition("/")
            while name:
                is_new = folder not in entries
                entries.setdefault(folder, set()).add(name)
                if not is_new or not folder:
                    # A folder that is known is an entry of the folder above it.
                    break
                folder, _, last = folder.rpartition("/")
                name = f"{last}/"
        return entries

    def list_files(self) -> Iterable[str]:
        """The files that are there, without those that are left out."""
        missing = {path for path in self.changed if not os.path.lexists(self.top / path)}
        for path in (*self.tracked, *self.others):
            if path not in missing and not self.is_left_out(path):
                yield path

    def list_linked(self) -> Iterable[str]:
        """The files that are there, and those in folders that links lead to, by the names of the links."""
        paths = list(self.list_files())
        yield from paths
        for link, real in self.linked_folders.items():
            start = f"{real}/" if real else ""
            yield from (f"{link}/{path.removeprefix(start)}" for path in paths if path.startswith(start))

    @cached_property
    def linked_folders(self) -> dict[str, str]:
        """The folders of the repository that links in it lead to, by the paths of the links."""
        linked, maybe = dict[str, str](), self.links | self.changed
        for path in self.list_files():
            place = self.top / path
            if (path in maybe or path not in self.tracked) and place.is_symlink() and place.is_dir():
                real = self.follow_links(path)
                if real is not None:
                    linked[path] = real
        return linked

    def follow_links(self, path: str) -> str | None:
        """The place of a folder without links; None if its files are not listed."""
        if path not in self._real:
            real = Path(os.path.realpath(self.top / path))
            name = real.relative_to(self.top).as_posix() if real.is_relative_to(self.top) else None
            name = "" if name == "." else name
            self._real[path] = None if name is None or self.has_submodule(name) else name
        return self._real[path]

    def is_left_out(self, path: str) -> bool:
        """Whether a path is no dependency: scoregate's output, caches, and what is installed."""
        parts = path.split("/")
        is_installed = any(part in (NODE_MODULES, ".git", "__pycache__", ".pytest_cache") for part in parts)
        return is_installed or any(is_below(path, folder) for folder in self.left_out)

    def has_submodule(self, path: str) -> bool:
        """Whether a folder is in another repository, or holds one: its files are not listed."""
        return any(is_below(path, each) or is_below(each, path) for each in self.submodules)

    def digest_file(self, path: str) -> str:
        """The digest of a file, also of one that is ignored; that of a link says where it leads."""
        if path not in self._digests:
            self._digests[path] = self._describe_file(path)
        return self._digests[path]

    def _describe_file(self, path: str) -> str:
        """The id that git gives to the content of a file; with its mode, and the place that links lead to."""
        place = self.top / path
        if not os.path.lexists(place):
            return ""
        real = Path(os.path.realpath(place))
        if not real.is_relative_to(self.top):
            return UNKNOWN
        name = real.relative_to(self.top).as_posix()
        try:
            content = _FOLDER if real.is_dir() else _digest_content(real)
            mode = _PROGRAM if content != _FOLDER and self._is_program(name) else ""
        except FileNotFoundError:
            content, mode = "nothing", ""
        except OSError:
            return UNKNOWN
        return f"{content}{mode}{'' if real == place else f'>{name}'}" if content else UNKNOWN

    def _is_program(self, path: str) -> bool:
        """Whether a file is executable. Some file systems have no such mode, so git's counts if nothing changed."""
        if path in self.tracked and path not in self.changed:
            return path in self.programs
        return bool((self.top / path).stat().st_mode & stat.S_IXUSR)

    def digest_folder(self, path: str) -> str:
        """The digest of the names in a folder, and of the place that links lead to."""
        if not (self.top / path).is_dir():
            return ""
        real = self.follow_links(path)
        if real is None:
            return UNKNOWN
        try:
            # Git lists no file of a folder that it ignores, such as data that another tool fetches.
            names = self.entries.get(real) or {each.name for each in (self.top / real).iterdir()}
        except OSError:
            return UNKNOWN
        return _digest_names(sorted(names), path, real)

    def digest_imports(self, path: str, modules: Iterable[str], stdlib: frozenset[str]) -> str:
        """The digest of the names in a folder that imports of some modules may find.

        A new file hides a module of the standard library, too.
        """
        real = self.follow_links(path)
        if real is None:
            return UNKNOWN
        wanted, names = {*modules, *stdlib, _INIT}, []
        for name in self.entries.get(real, ()):
            is_code = name.endswith(("/", *_CODE))
            if (is_code and name.rstrip("/").split(".")[0] in wanted) or name.endswith((".dist-info/", ".egg-info/")):
                names.append(name)
                names += (f"{name}{each}" for each in self._list_init_files(f"{real}/{name}".strip("/")))
        return _digest_names(sorted(names), path, real)

    def _list_init_files(self, folder: str) -> Iterator[str]:
        """The files that make a folder a package that runs code when it is imported."""
        yield from (
            name for name in self.entries.get(folder, ()) if name.startswith(f"{_INIT}.") and name.endswith(_CODE)
        )

    def digest_stem(self, path: str) -> str:
        """The digest of the names that an import of a module in Node.js may find by a name without its ending."""
        folder, _, name = path.rpartition("/")
        real = self.follow_links(folder)
        if real is None or self.has_submodule(path):
            return UNKNOWN
        names = self.entries.get(real, set())
        return _digest_names([each for each in _NODE_ENDINGS if f"{name}{each}" in names], folder, real)

    def digest_tree(self, patterns: Sequence[str]) -> str:
        """The digest of all files that match a pattern; `**` also matches no folder."""
        if any(self.has_submodule(_fixed_part(pattern)) for pattern in patterns):
            return UNKNOWN
        chosen = [path for path in self.list_linked() if any(matches_path(path, pattern) for pattern in patterns)]
        folders = (_fixed_part(pattern) for pattern in patterns)
        if not chosen and any(folder not in self.entries and (self.top / folder).is_dir() for folder in folders):
            return UNKNOWN  # git ignores the whole folder
        digests = {path: self.digest_file(path) for path in sorted(chosen)}
        # What is below a link in a folder that a link leads to is not listed.
        nested = any(digest.startswith(_FOLDER) and path not in self.linked_folders for path, digest in digests.items())
        is_unknown = nested or UNKNOWN in digests.values()
        return UNKNOWN if is_unknown else _digest_texts(f"{path}\0{digest}" for path, digest in digests.items())

    def digest_data(self) -> dict[str, str]:
        """The digests of all tracked files that may be data, by the ends of their names; `*` for further ends."""
        groups: dict[str, list[str]] = {}
        for path in sorted(self.list_files()):
            name = path.rpartition("/")[2]
            ending = PurePosixPath(name).suffix.lower() or name
            if ending in _NO_DATA:
                continue
            if path not in self.tracked:
                continue
            digest = self.digest_file(path) if path in self.changed else self.tracked[path]
            key = ending[:50] if ending in groups or len(groups) < _MOST_ENDINGS else "*"
            groups.setdefault(key, []).append(f"{path}\0{digest}")
        return {ending: _digest_texts(lines) for ending, lines in groups.items()}


_SUBMODULE, _LINK, _EXECUTABLE, _FIRST_STAGE = b"160000", b"120000", b"100755", b"0"


async def read_tree(root: Path, left_out: Iterable[Path] = ()) -> Tree | None:
    """The files of the repository of a project; None outside of one, or if git can't list them.

    Args:
        root: the project.
        left_out: folders of scoregate's own.

    Raises:
        GitError: the repository belongs to another user.
    """
    top = await git.top_level(root)
    if top is None:
        return None
    staged = await git.read_output(top, "ls-files", "--stage", "-z")
    others = await git.read_output(top, "ls-files", "--others", "--exclude-standard", "-z")
    changed = await git.read_output(top, "diff-files", "--name-only", "--ignore-submodules", "-z")
    if staged is None or others is None or changed is None:
        return None
    tracked, submodules, links, programs = dict[str, str](), list[str](), set[str](), set[str]()
    for line in filter(None, staged.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, digest, stage = about.split(b" ")
        if stage != _FIRST_STAGE:
            return None  # a merge is in progress
        if mode == _SUBMODULE:
            submodules.append(os.fsdecode(name))
        else:
            tracked[os.fsdecode(name)] = digest.decode()
            if mode in (_LINK, _EXECUTABLE):
                (links if mode == _LINK else programs).add(os.fsdecode(name))
    own = tuple(each.relative_to(top).as_posix() for each in left_out if each.is_relative_to(top))
    return Tree(
        top,
        tracked,
        _names(others),
        frozenset(_names(changed)),
        tuple(submodules),
        own,
        links=frozenset(links),
        programs=frozenset(programs),
    )


def _names(output: bytes) -> tuple[str, ...]:
    return tuple(os.fsdecode(name) for name in output.split(b"\0") if name)


def _digest_content(path: Path) -> str:
    """The id; empty for a file that is too large."""
    with open(path, "rb", opener=open_nofollow) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _MOST_BYTES:
            return ""
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _digest_texts(texts: Iterable[str]) -> str:
    return hashlib.blake2b(os.fsencode("\n".join(texts)), digest_size=10).hexdigest()


def _digest_names(names: Sequence[str], path: str, real: str) -> str:
    """The digest of names in a folder, with the place that links to it lead to."""
    return _digest_texts(names if path == real else [f">{real}", *names])


def _fixed_part(pattern: str) -> str:
    """The folder that a glob starts with."""
    parts = pattern.split("/")
    end = next((index for index, part in enumerate(parts) if any(each in part for each in "*?[")), len(parts))
    return "/".join(parts[:end])
