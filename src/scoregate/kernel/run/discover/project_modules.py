"""Modules of the project itself: where an import finds them, and whether they lead to a package that starts suites."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from scoregate.kernel.run.discover.files import PYTHON, open_nonblocking
from scoregate.kernel.run.discover.names import STAR, is_sdk_path
from scoregate.kernel.run.discover.packages import InstalledPackages, find_import_folders
from scoregate.kernel.types.records import record

# A file that starts a suite has one of these words: a package, the attribute of a client, or a mark of tests.
WORDS = (b"scoregate", b"autoblocks", b"offline_tests", b".langsmith")
_INIT = f"__init__{PYTHON}"
_MOST_MODULES = 10_000  # besides the files that discovery reads anyway
_MOST_BYTES = 1024 * 1024
_MOST_ENTRIES = 20_000  # of a folder
_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:"
    rb"from[ \t]{1,9}([.\w]{1,300})[ \t]{1,9}import[ \t]{0,9}(\([^)]{0,5000}\)|[^\n#;]{0,2000})"
    rb"|import[ \t]{1,9}([^\n#;]{1,2000}))"
    rb"|\b(?:import_module|__import__)\([ \t]{0,9}[\"']([.\w]{1,300})[\"']",
    re.MULTILINE,
)
_SEPARATORS = re.compile(r"[,()\n]")


@record
class ModuleLocation:
    """What a dotted path is: the files that its import executes, and the part of the path inside of the last one."""

    files: tuple[str, ...]
    rest: tuple[str, ...]


@record
class ModuleText:
    """A module that is read but not parsed.

    `imports` are the dotted paths that it may import, and `folders` those that it adds to `sys.path`.
    """

    has_words: bool
    imports: tuple[str, ...]
    folders: tuple[str, ...] = ()


@dataclass(slots=True)
class ProjectModules:
    """The modules of the project in `root`. Each is read once, and only if a file leads to it.

    `packages` are the folders with top-level packages, by name. Packages that are installed and start suites count as
    modules of the project. `is_incomplete`: a limit was reached, or a module could not be read.
    """

    root: Path
    packages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    installed: InstalledPackages = field(default_factory=InstalledPackages)
    is_incomplete: bool = False
    _folders: dict[str, dict[str, bool]] = field(default_factory=dict)
    _located: dict[tuple[str, str, tuple[str, ...]], ModuleLocation | None] = field(default_factory=dict)
    _texts: dict[str, ModuleText] = field(default_factory=dict)
    _mentions: dict[str, bool] = field(default_factory=dict)
    _read: int = 0

    def locate(self, file: str, path: str) -> ModuleLocation | None:
        """What a dotted path in a file is; None if it is not in the project.

        An absolute import is searched in the folders that the file adds to `sys.path`, in the file's folder, in those
        above it, in the folder `src` of each, among the packages of the project, and among the installed ones.
        """
        # The SDK is known, and reading its own modules would find suites in all of them.
        if is_sdk_path(path):
            return None
        folder, known = file.rpartition("/")[0], self._texts.get(file)
        # Equal for all files of a folder, which mostly import the same modules.
        key = folder, path, () if known is None else known.folders
        if key not in self._located:
            self._located[key] = self._locate(*key)
        return self._located[key]

    def _locate(self, folder: str, path: str, added: tuple[str, ...]) -> ModuleLocation | None:
        name = path.lstrip(".")
        level, parts = len(path) - len(name), tuple(name.split(".")) if name else ()
        above = [PurePosixPath(folder), *PurePosixPath(folder).parents]
        if level:
            return self._find(str(above[level - 1]), parts, is_package=True) if level <= len(above) else None
        if not parts:
            return None
        near = (str(each / inner) for each in above for inner in (".", "src"))
        own = (*added, *near, *self.packages.get(parts[0], ()))
        # Most packages next to an installed one have no suites, and many modules.
        for each in own if not Path(folder).is_absolute() else ():
            if (location := self._find(each, parts)) is not None:
                return location
        others = (self._find(each, parts) for each in self.installed.find(parts[0]))
        return next((each for each in others if each is not None), None)

    def _find(self, folder: str, parts: tuple[str, ...], *, is_package: bool = False) -> ModuleLocation | None:
        files: list[str] = []
        if is_package and _INIT in self._list(folder):
            files.append(_join(folder, _INIT))
        for index, part in enumerate(parts):
            names = self._list(folder)
            if names.get(part):
                folder = _join(folder, part)
                if _INIT in self._list(folder):
                    files.append(_join(folder, _INIT))
                # A folder without `__init__.py` next to a module of that name: Python prefers the module.
                elif f"{part}{PYTHON}" in names:
                    return ModuleLocation((*files, f"{folder}{PYTHON}"), parts[index + 1 :])
            elif f"{part}{PYTHON}" in names:
                return ModuleLocation((*files, _join(folder, f"{part}{PYTHON}")), parts[index + 1 :])
            else:
                return ModuleLocation(tuple(files), parts[index:]) if files else None
        return ModuleLocation(tuple(files), ()) if files else None

    def _list(self, folder: str) -> dict[str, bool]:
        """The names in a folder, and whether each is a folder."""
        if folder not in self._folders:
            try:
                with os.scandir(self.root / folder) as entries:  # a folder of data may have millions of entries
                    is_folder_by_name = {entry.name: entry.is_dir() for entry in islice(entries, _MOST_ENTRIES)}
            except OSError:
                is_folder_by_name = {}
            self._folders[folder] = is_folder_by_name
        return self._folders[folder]

    def add(self, file: str, text: ModuleText) -> None:
        """Add a file that is already read."""
        self._texts[file] = text

    def read(self, file: str) -> ModuleText | None:
        """The text of a module; None if it can't be read."""
        if file not in self._texts:
            content = self.read_content(file) if self._read < _MOST_MODULES else None
            self._read += 1
            if content is None:
                self.is_incomplete = True
                return None
            self._texts[file] = read_text(content, file)
        return self._texts[file]

    def read_content(self, file: str) -> bytes | None:
        """The content of a module; None if it can't be read, is not a file, or is too large."""
        try:
            with open(self.root / file, "rb", opener=open_nonblocking) as opened:
                status = os.fstat(opened.fileno())
                is_readable = stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES
                return opened.read(_MOST_BYTES) if is_readable else None
        except OSError:
            return None

    def imported_files(self, file: str, imports: Iterable[str]) -> Iterator[str]:
        """The modules that a file imports."""
        for path in imports:
            if (located := self.locate(file, path)) is not None:
                yield from located.files

    def mentions_sdk(self, file: str) -> bool:
        """Whether a file has one of the words, or imports a module that does, directly or through others."""
        if file not in self._mentions:
            known = self.read(file)  # an unreadable module may start a suite
            # One search for each import: what the first of them does not lead to is then known for all files.
            self._mentions[file] = (
                known is None
                or known.has_words
                or any(self._leads_to_sdk(each) for each in self.imported_files(file, known.imports) if each != file)
            )
        return self._mentions[file]

    def _leads_to_sdk(self, start: str) -> bool:
        if start in self._mentions:
            return self._mentions[start]
        importers: dict[str, str | None] = {start: None}
        stack = [start]
        while stack:
            current = stack.pop()
            text = self.read(current)
            if text is None or text.has_words or self._mentions.get(current):
                # All modules on the way to it lead to it, too.
                way: str | None = current
                while way is not None:
                    self._mentions[way], way = True, importers[way]
                return True
            for each in self.imported_files(current, text.imports):
                if each not in importers and self._mentions.get(each) is not False:
                    importers[each] = current
                    stack.append(each)
        # All that was reached leads nowhere, so no later search visits it again.
        self._mentions |= dict.fromkeys(importers, False)
        return False


def read_text(content: bytes, file: str) -> ModuleText:
    """What a module may import, by its lines: parsing takes a hundred times as long.

    Args:
        content: its source.
        file: its path, relative to the root of the project.
    """
    imports: dict[str, None] = {}
    for match in _IMPORT.finditer(content.replace(b"\\\n", b" ")):  # a backslash continues a line
        module, names, modules, dynamic = (part.decode("utf-8", "replace") if part else "" for part in match.groups())
        if module:
            start = module if module.endswith(".") else f"{module}."  # `from . import x` has no dot to add
            listed = (_first_word(each) for each in _SEPARATORS.split(names))
            imports |= dict.fromkeys(module if name == STAR else f"{start}{name}" for name in listed if name)
        else:
            imports |= dict.fromkeys(filter(None, map(_first_word, modules.split(",")) if modules else (dynamic,)))
    return ModuleText(any(word in content for word in WORDS), tuple(imports), find_import_folders(content, file))


def _first_word(text: str) -> str:
    words = text.split(None, 1)
    return words[0] if words else ""


def _join(folder: str, name: str) -> str:
    return name if folder in ("", os.curdir) else f"{folder}/{name}"
