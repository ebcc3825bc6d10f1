"""What one script did with files of the repository, from the log that its process wrote."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.types.runs.dependencies import LONGEST_PATH, LONGEST_REASON, UNKNOWN, Dependency, is_relative
from scoregate.kernel.types.text import replace_surrogates

_MOST_BYTES = 16 << 20
_MOST_PATHS = 10_000
_MOST_MODULES = 5_000
_COMPILED = "__pycache__/"
_OPENING = ("r", "d", "w", "a")
LOG = "dependencies"


@dataclass(slots=True)
class FileUses:
    """What a script used. Paths are relative to the top of the repository.

    Args:
        looked_up: the paths that it read or looked up.
        rows: the files whose rows are the cases of `evaluate(data=PATH)`.
        written: the files that it wrote, and whether it used what was there before.
        appended: those of them that it did not replace.
        listed: the folders that it listed.
        imported: the folders that its imports searched.
        trees: the folders that packages were installed from.
        stems: the paths of modules of Node.js without the endings of their names.
        modules: parts of the names of the modules that it imported or looked for.
        native: native code that may read files unseen.
        unknown: why that may not be all; empty if it is.
    """

    looked_up: dict[str, None] = field(default_factory=dict)
    rows: dict[str, None] = field(default_factory=dict)
    written: dict[str, bool] = field(default_factory=dict)
    appended: set[str] = field(default_factory=set)
    listed: dict[str, None] = field(default_factory=dict)
    imported: dict[str, None] = field(default_factory=dict)
    trees: dict[str, None] = field(default_factory=dict)
    stems: dict[str, None] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    native: str = ""
    unknown: str = ""
    _counts: Counter[str] = field(default_factory=Counter)
    _threads: dict[str, set[str]] = field(default_factory=lambda: {"T": set(), "W": set()})

    def add(self, kind: str, text: str) -> None:
        """Add an entry of the log."""
        if kind in ("P", "E", "N", "C"):
            self._counts[kind] += 1
        elif kind in ("T", "W"):
            self._threads[kind].add(text)
        elif kind == "m":
            self.modules.update(text.split("."))
        elif kind == "n":
            self.native = self.native or text[:LONGEST_REASON]
        elif kind == "?":
            self.unknown = self.unknown or text[:LONGEST_REASON] or "it is not recorded"
        else:
            self.unknown = self.unknown or f"its record has an unknown entry {kind!r}"

    def add_path(self, kind: str, path: str) -> None:
        """Add a path."""
        folder, compiled, name = path.rpartition(_COMPILED)
        if compiled:
            if kind not in ("w", "a"):
                self.looked_up[f"{folder}{name.split('.')[0]}.py"] = None
        elif kind in ("w", "a"):
            if kind == "a" and path not in self.written:
                self.appended.add(path)
            self.written.setdefault(path, path in self.looked_up)  # what it looked up before it wrote was there before
        elif kind in ("r", "s"):
            if path not in self.written:
                self.looked_up[path] = None
            elif kind == "r" and path in self.appended:
                self.written[path] = True
        else:
            {"l": self.listed, "i": self.imported, "t": self.trees, "e": self.stems, "d": self.rows}[kind][path] = None

    def check_end(self) -> None:
        """Doubt a log that isn't that of one Python process which ended normally, or of Node.js and its children."""
        counts = self._counts
        if not counts["P"] and not counts["N"]:
            self.unknown = "no process of it was recorded"
        elif counts["N"]:
            if counts["P"] or counts["N"] != counts["C"] + 1 or self._threads["W"] - self._threads["T"]:
                self.unknown = self.unknown or "it started a process or a thread that wasn't recorded"
        elif counts["P"] > 1 or counts["E"] != counts["P"]:
            self.unknown = self.unknown or "its process didn't end normally, or started others"
        if len(self.modules) > _MOST_MODULES or len(self.looked_up) + len(self.written) > _MOST_PATHS:
            self.unknown = "it uses too many files"


def read_uses(log: Path, tree: Tree) -> FileUses:
    """Read the log of a script. A suite can write to it, so nothing in it is trusted."""
    uses, text = FileUses(), _read_log(log)
    if text is None:
        uses.unknown = "its record can't be read"
        return uses
    if len(text) > _MOST_BYTES or not text.endswith(b"\0"):
        uses.unknown = "its record is too long, or cut off" if text else "no process of it was recorded"
        return uses
    start = f"{tree.top}/"
    for entry in text[:-1].split(b"\0"):
        kind, rest = os.fsdecode(entry[:1]), os.fsdecode(entry[1:])
        if kind not in "rwaslited" or not kind:
            uses.add(kind, replace_surrogates(rest))
            continue
        path = "" if rest == str(tree.top) else rest.removeprefix(start)
        if not is_relative(path) or len(path) > LONGEST_PATH or not _is_text(path):
            uses.unknown = "it uses a file whose name can't be recorded"
        elif path == ".git" or path.startswith(".git/"):
            if kind not in "sil":  # a search of all folders lists them
                uses.unknown = uses.unknown or "it reads the repository's history"
        elif not tree.is_left_out(path) or _COMPILED in path or path in tree.tracked:
            uses.add_path(kind, path)
    uses.check_end()
    return uses


def list_opened(folder: Path, tree: Tree) -> list[str]:
    """The files of a repository that a script opened, by their paths; without those that git ignores.

    A file that git doesn't track counts only if the script read it: scripts write logs.

    Args:
        folder: the folder of the script's log.
        tree: the files of the repository before the script ran.
    """
    start, others, opened = f"{tree.top}/", set(tree.others), set[str]()
    for entry in (_read_log(folder / LOG) or b"").split(b"\0"):
        kind, path = os.fsdecode(entry[:1]), os.fsdecode(entry[1:]).removeprefix(start)
        above, compiled, name = path.rpartition(_COMPILED)
        path = f"{above}{name.split('.')[0]}.py" if compiled else path
        is_known = path in tree.tracked if kind in ("w", "a") else path in tree.tracked or path in others
        if kind in _OPENING and is_known and not tree.is_left_out(path):
            opened.add(path)
    return sorted(opened)


def _read_log(log: Path) -> bytes | None:
    """The start of a log; None if it can't be read."""
    try:
        with open(log, "rb", opener=open_nofollow) as file:
            return file.read(_MOST_BYTES + 1)
    except OSError:
        return None


def _is_text(path: str) -> bool:
    """Whether a name is valid in UTF-8, so that JSON can hold it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def describe_uses(uses: FileUses, tree: Tree, *, since: float, stdlib: frozenset[str]) -> Iterator[Dependency]:
    """The dependencies of a script, after it ended.

    Args:
        uses: what it used.
        tree: the files before it ran.
        since: when it started, in seconds since the epoch. What changed since then has an unknown digest.
        stdlib: the names of modules in the standard library.
    """
    # What is read in another way, too, may affect all cases.
    rows = uses.rows.keys() - uses.looked_up.keys() - uses.written.keys()
    for path in sorted({*_find_files(uses, tree), *(uses.rows.keys() - uses.written.keys())}):
        digest = tree.digest_file(path)
        if digest and _has_changed(tree.top / path, since):
            digest = UNKNOWN
        yield Dependency("rows" if path in rows else "file", path, digest)
    for path, was_used in sorted(uses.written.items()):
        if was_used:
            # It used what was there before. A file that was neither tracked nor seen by git was not there.
            yield Dependency("file", path, UNKNOWN if path in tree.tracked or path in tree.others else "")
    yield from (Dependency("folder", path, tree.digest_folder(path)) for path in sorted(uses.listed))
    yield from (Dependency("stem", path, tree.digest_stem(path)) for path in sorted(uses.stems))
    for path in sorted(uses.imported):
        yield Dependency("imports", path, tree.digest_imports(path, uses.modules, stdlib))
    for path in sorted(uses.trees):
        yield Dependency("tree", path, tree.digest_tree([f"{path}/**" if path else "**"]))


def _find_files(uses: FileUses, tree: Tree) -> Iterable[str]:
    """The files and missing paths that it used, without folders that hold one of the files."""
    paths = {path for path in uses.looked_up if path and path not in uses.written}
    folders = set[str]()
    for path in paths:
        place = tree.top / path
        if not place.is_dir() and os.path.lexists(place):
            while path := path.rpartition("/")[0]:
                folders.add(path)
    return (path for path in paths if path not in folders or (tree.top / path).is_symlink())


def _has_changed(path: Path, since: float) -> bool:
    try:
        status = path.stat()
    except OSError:
        return True
    return path.is_file() and status.st_ctime >= since
