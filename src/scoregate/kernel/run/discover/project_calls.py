"""Functions, classes and modules of the project that start suites when a file uses them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scoregate.kernel.run.discover.ast_scan import Scope, Scopes, SuiteCall, read_scopes
from scoregate.kernel.run.discover.entry_points import EntryPoint, find_entry_point
from scoregate.kernel.run.discover.names import STAR, Objects, collect_names, join_path
from scoregate.kernel.run.discover.project_modules import ModuleLocation, ProjectModules

_MOST_PARSED_BYTES = 8 * 1024 * 1024
_MOST_STEPS = 2_000  # of one search
_MOST_RENAMINGS = 16


@dataclass(slots=True)
class _Search:
    """What to look at: objects of modules, by their dotted path in a file, and modules that are executed."""

    objects: list[tuple[str, str]] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    visited: set[tuple[str, str]] = field(default_factory=set)
    steps: int = 0

    def add_scope(self, calls: ProjectCalls, file: str, scope: Scope) -> None:
        """Add what a scope uses and imports."""
        self.objects += ((file, path) for path in scope.references)
        for path in scope.imports:
            self.modules += calls.executed_files(file, path)


@dataclass(slots=True)
class ProjectCalls:
    """Follows the imports of a project's own modules. Each module is parsed once.

    `candidates` are the files that discovery inspects itself: importing one is no reason to run another.
    """

    modules: ProjectModules
    candidates: frozenset[str] = frozenset()
    _parsed_bytes: int = 0
    _names: dict[str, dict[str, str]] = field(default_factory=dict)
    _scopes: dict[str, Scopes | None] = field(default_factory=dict)
    _found: dict[tuple[str, tuple[str, ...]], EntryPoint | None] = field(default_factory=dict)

    def resolve(self, file: str, path: str) -> str:
        """The entry point that a dotted path leads to through imports of other modules; else the path itself."""
        queue = [(file, path)]
        for here, current in queue:  # it grows while it is read
            if find_entry_point(current) is not None:
                return current
            located = self._locate_object(here, current)
            if located is not None:
                module = located.files[-1]
                origins = _find_origins(self._imported_names(module), {}, located.rest)
                others = [(module, other) for other in origins]
                # Bounded, as modules may import each other's names in a circle.
                queue += [each for each in others if each not in queue][: _MOST_RENAMINGS - len(queue)]
        return path

    def exported_names(self, file: str, module: str) -> dict[str, str]:
        """The names that `from module import *` binds, each with its path."""
        exported: dict[str, None] = {}
        stack, visited = [(file, module)], set[str]()
        while stack:
            here, path = stack.pop()
            located = self.modules.locate(here, path)
            # Two modules may import everything from each other.
            if located is None or located.rest or (target := located.files[-1]) in visited:
                continue
            visited.add(target)
            names = self._imported_names(target) if self.modules.mentions_sdk(target) else {}
            stack += ((target, other) for name, other in names.items() if name.startswith(STAR))
            # Most modules lead to no SDK, and parsing is slow.
            exported |= dict.fromkeys(name for name in names if not name.startswith(STAR))
        return {name: join_path(module, (name,)) for name in exported}

    def read_scopes(self, tree: ast.Module, file: str) -> Scopes:
        """The scopes of a file. Names of entry points that modules of the project pass on are those of their SDK."""
        return read_scopes(
            tree, lambda path: self.resolve(file, path), lambda module: self.exported_names(file, module)
        )

    def suite_calls(self, file: str, scopes: Iterable[Scope], *, in_doubt: bool) -> Iterator[SuiteCall]:
        """The calls in these scopes of a file that start a suite through a module of the project.

        Args:
            file: the file.
            scopes: its scopes that are run.
            in_doubt: it also calls what is not known, so an object of the project counts wherever it is mentioned.
        """
        for scope in scopes:
            for path, line in (scope.references if in_doubt else scope.invoked).items():
                located = self._locate_object(file, path)
                if located is not None and (entry_point := self._starts_suite(located, file, path)) is not None:
                    yield SuiteCall(line, entry_point, None, True, _shown(path))
            for path, line in scope.imports.items():
                entry = self._search(_Search(modules=list(self.executed_files(file, path))))
                if entry is not None:
                    yield SuiteCall(line, entry, None, True, _shown(path))

    def executed_files(self, file: str, path: str) -> Iterator[str]:
        """The modules that an import executes, without the candidates."""
        located = self.modules.locate(file, path)
        for each in located.files if located is not None else ():
            # A candidate that is imported is inspected by itself, and its suites would run twice.
            if each not in self.candidates and each != file and self.modules.mentions_sdk(each):
                yield each

    def _locate_object(self, file: str, path: str) -> ModuleLocation | None:
        """An object in a module of the project that may lead to an SDK."""
        located = self.modules.locate(file, path)
        is_object = located is not None and located.rest and self.modules.mentions_sdk(located.files[-1])
        return located if is_object else None

    def _starts_suite(self, located: ModuleLocation, file: str, path: str) -> EntryPoint | None:
        key = located.files[-1], located.rest
        if key not in self._found:
            self._found[key] = self._search(_Search(objects=[(file, path)]))
        return self._found[key]

    def _search(self, search: _Search) -> EntryPoint | None:
        closed: EntryPoint | None = None
        while search.objects or search.modules:
            search.steps += 1
            if search.steps > _MOST_STEPS:
                self.modules.is_incomplete = True
                break
            for entry in self._take_step(search):
                # An entry point that can't report is only named if no other one is found.
                if not entry.closed:
                    return entry
                closed = entry
        return closed

    def _take_step(self, search: _Search) -> Iterator[EntryPoint]:
        if search.modules:
            located: ModuleLocation | None = ModuleLocation((search.modules.pop(),), ())
        else:
            module, path = search.objects.pop()
            if (entry_point := find_entry_point(path)) is not None:
                yield entry_point
            located = self._locate_object(module, path)
        if located is None:
            return
        file, rest = located.files[-1], located.rest
        key = file, ".".join(rest)
        if key in search.visited or (scopes := self._load(file)) is None:  # imports may be circular
            return
        search.visited.add(key)
        if rest:
            search.objects += ((file, path) for path in _find_origins(scopes.names, scopes.objects, rest))
        starts = [each for name in rest for each in _scopes_of(scopes, name)] if rest else [scopes.module]
        for scope in scopes.reached(*starts):
            yield from (use.entry_point for use in scope.uses)
            search.add_scope(self, file, scope)

    def _imported_names(self, file: str) -> dict[str, str]:
        if file not in self._names:
            tree = self._parse(file)
            defined = {} if tree is None else dict.fromkeys(_defined_names(tree.body), "")
            self._names[file] = {} if tree is None else {**defined, **collect_names(tree)}
        return self._names[file]

    def _load(self, file: str) -> Scopes | None:
        if file not in self._scopes:
            tree = self._parse(file)
            try:
                self._scopes[file] = None if tree is None else self.read_scopes(tree, file)
            except (RecursionError, MemoryError):
                self._scopes[file] = None
                self.modules.is_incomplete = True
        return self._scopes[file]

    def _parse(self, file: str) -> ast.Module | None:
        content = self.modules.read_content(file)
        if content is None or self._parsed_bytes + len(content) > _MOST_PARSED_BYTES:
            self.modules.is_incomplete = True
            return None
        self._parsed_bytes += len(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about a project's code are no messages of discovery
                return ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.modules.is_incomplete = True
            return None


def _find_origins(names: Mapping[str, str], objects: Objects, rest: Sequence[str]) -> Iterator[str]:
    """The paths, in a module, from which an object in it may come."""
    first, *others = rest
    # An empty path: the module defines the name itself.
    paths = objects.get(first, ()) if not names.get(first) else [names[first]]
    yield from (join_path(path, others) for path in paths)
    # Any star import may bring the name, too.
    yield from (join_path(path, rest) for name, path in names.items() if name.startswith(STAR))


def _defined_names(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that statements at module level define."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.If | ast.Try):
            yield from _defined_names([*node.body, *node.orelse])


def _scopes_of(scopes: Scopes, name: str) -> Iterator[Scope]:
    yield from scopes.functions.get(name, ())
    yield from scopes.values.get(name, ())


def _shown(path: str) -> str:
    return path.lstrip(".")[:100]
