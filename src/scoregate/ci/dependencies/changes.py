"""What changed since a run that a script depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoregate.ci.dependencies.recording import STDLIB, as_texts
from scoregate.ci.dependencies.tree import Tree
from scoregate.core.dependencies import UNKNOWN, Dependency, RunDependencies, ScriptDependencies


class Changes:
    """Compares the dependencies of a run with the files of a repository now.

    Args:
        before: the dependencies of the run.
        tree: the files now.
        folder: the project's folder in the repository.
    """

    def __init__(self, before: RunDependencies, tree: Tree, folder: str) -> None:
        self._before, self._tree = before, tree
        self._shared = describe_difference(before.shared, as_texts(tree.digest_shared(folder)))
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
        return next(self._list_changes(script), "")

    def _list_changes(self, script: ScriptDependencies) -> Iterator[str]:
        for place in script.uses:
            then = self._before.table[place]
            now = self._digest(then, script)
            if UNKNOWN in (then.digest, now):
                yield f"it is unknown whether {then.path or 'the top folder'} is the same"
            elif then.digest != now:
                yield _describe_change(then, now)

    def _digest(self, dependency: Dependency, script: ScriptDependencies) -> str:
        path = dependency.path
        match dependency.kind:
            case "file":
                return self._tree.digest_file(path)
            case "folder":
                return self._tree.digest_folder(path)
            case "imports":
                return self._tree.digest_imports(path, script.modules, STDLIB)
            case "tree":
                return self._tree.digest_tree([f"{path}/**" if path else "**"])
            case "inputs":
                return self._tree.digest_tree([path])
        return UNKNOWN


def _describe_change(then: Dependency, now: str) -> str:
    if then.kind == "file":
        return f"{then.path} {'is new' if not then.digest else 'changed' if now else 'is gone'}"
    if then.kind == "folder":
        return f"{then.path or 'the top folder'} has other files"
    if then.kind == "imports":
        return f"{then.path or 'the top folder'} has other modules"
    return f"{then.path} changed"


def describe_difference(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The first key with another value, as text; empty if there is none."""
    for name in sorted(then.keys() | now.keys()):
        if name not in now:
            return f"{name} is gone"
        if then.get(name) != now[name] or UNKNOWN in now[name]:
            return f"{name} changed" if name in then else f"{name} is new"
    return ""
