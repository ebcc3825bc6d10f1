"""What changed since a run that a script depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoregate.kernel.run.dependencies.recording import STDLIB, as_texts
from scoregate.kernel.run.dependencies.shared_files import digest_shared_files
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.types.runs.dependencies import ROWS, UNKNOWN, Dependency, RunDependencies, ScriptDependencies


class Changes:
    """Compares the dependencies of a run with the files of a repository now.

    Args:
        before: the dependencies of the run.
        tree: the files now.
        folder: the project's folder in the repository.
    """

    def __init__(self, before: RunDependencies, tree: Tree, folder: str) -> None:
        self._before, self._tree = before, tree
        self._shared = describe_difference(before.shared, as_texts(digest_shared_files(tree, folder)))
        self._data = describe_difference(before.data, as_texts(tree.digest_data()))

    def find_reason(self, script: ScriptDependencies, launch: str) -> str:
        """Why a script has to run: the first thing that it depends on and that differs; empty if there is none.

        Args:
            script: what it used.
            launch: the digest of how it is started now.
        """
        if script.unknown:
            return f"what it depends on is unknown: {script.unknown}"
        if script.launch != launch:
            return "its command changed, or settings that it gets"
        if self._shared:
            return f"{self._shared}, which all suites depend on"
        if script.native and self._data:
            return f"files of the kind {self._data}, which {script.native} may read unseen"
        # Rows come last: they are the reason only if nothing else changed.
        changes = sorted(self._list_changes(script), key=lambda change: change[0].kind == ROWS)
        return next((_describe_change(then, now) for then, now in changes), "")

    def find_changed_rows(self, script: ScriptDependencies, launch: str) -> tuple[str, ...]:
        """The files of rows that changed, if nothing else did that a script depends on; else none.

        Args:
            script: what it used.
            launch: the digest of how it is started now.
        """
        if script.unknown or script.launch != launch or self._shared or (script.native and self._data):
            return ()
        changes = list(self._list_changes(script))
        is_certain = all(then.kind == ROWS and now and UNKNOWN not in (then.digest, now) for then, now in changes)
        return tuple(then.path for then, _ in changes) if is_certain else ()

    def _list_changes(self, script: ScriptDependencies) -> Iterator[tuple[Dependency, str]]:
        """What differs or may differ, with its digest now."""
        for place in script.uses:
            then = self._before.table[place]
            now = self._digest(then, script)
            if then.digest != now or UNKNOWN in (then.digest, now):
                yield then, now

    def _digest(self, dependency: Dependency, script: ScriptDependencies) -> str:
        path = dependency.path
        match dependency.kind:
            case "file" | "rows":
                return self._tree.digest_file(path)
            case "folder":
                return self._tree.digest_folder(path)
            case "stem":
                return self._tree.digest_stem(path)
            case "imports":
                return self._tree.digest_imports(path, script.modules, STDLIB)
            case "tree" | "inputs" as kind:
                return self._tree.digest_tree([path if kind == "inputs" else f"{path}/**".lstrip("/")])
        return UNKNOWN


_OTHERS = {"stem": "has other endings", "folder": "has other files", "imports": "has other modules"}


def _describe_change(then: Dependency, now: str) -> str:
    path = then.path or "the top folder"
    if UNKNOWN in (then.digest, now):
        return f"it is unknown whether {path} is the same"
    if then.kind == ROWS and now:
        return f"rows of {path} changed"
    if then.kind in ("file", ROWS):
        return f"{path} {'is new' if not then.digest else 'changed' if now else 'is gone'}"
    return f"{path} {_OTHERS.get(then.kind, 'changed')}"


def describe_difference(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The first key with another value, as text; empty if there is none."""
    for name in sorted(then.keys() | now.keys()):
        if name not in now:
            return f"{name} is gone"
        if then.get(name) != now[name] or UNKNOWN in now[name]:
            return f"{name} changed" if name in then else f"{name} is new"
    return ""
