"""A file as scopes: in each the suites that it starts and the names that it mentions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from scoregate.ci.discover.doors import PARTIAL, Door, door_to, dotted, id_parameter, known_names, member_door

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# What is in these may not run, or may run with other values; the condition itself is not told apart.
_CONDITIONAL = (
    ast.If,
    ast.IfExp,
    ast.BoolOp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Match,
    ast.ExceptHandler,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a suite is started, its line from 1; `suite_id` is None where it is no literal.

    `conditional`: whether it is reached depends on what happens at run time.
    """

    line: int
    door: Door
    suite_id: str | None = None
    conditional: bool = False


@dataclass(slots=True)
class Scope:
    """The body of a function, or all that is at module level.

    `mentions` are the names in it, `calls` those that it calls whenever it runs to its end.
    """

    uses: list[Use] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Scopes:
    """The scopes of a file: module level, functions by name, and those of them that pytest would call.

    `plain_tests` are the tests without decorators and fixtures, which nothing skips.
    """

    module: Scope = field(default_factory=Scope)
    functions: dict[str, list[Scope]] = field(default_factory=dict)
    tests: list[Scope] = field(default_factory=list)
    plain_tests: list[Scope] = field(default_factory=list)

    def reached(self, *starts: Scope) -> Iterator[Scope]:
        """These scopes and every function that they mention, directly or through others."""
        return self._closure(starts, lambda scope: (self.functions.get(name, []) for name in scope.mentions))

    def certain(self, *starts: Scope) -> Iterator[Scope]:
        """These scopes and every function that they call without a condition, directly or through others.

        A name that several functions have may be that of another one.
        """
        found = self.functions
        return self._closure(
            starts, lambda scope: (found[name] for name in scope.calls if len(found.get(name, [])) == 1)
        )

    def _closure(self, starts: Iterable[Scope], follow: Callable[[Scope], Iterable[list[Scope]]]) -> Iterator[Scope]:
        waiting, seen = list(starts), set()
        while waiting:
            scope = waiting.pop()
            if id(scope) not in seen:
                seen.add(id(scope))
                waiting.extend(inner for scopes in follow(scope) for inner in scopes)
                yield scope

    def everywhere(self) -> Iterator[Scope]:
        """All scopes."""
        yield self.module
        for scopes in self.functions.values():
            yield from scopes


def scopes_of(tree: ast.Module) -> Scopes:
    """Read a syntax tree."""
    reader = _Reader(known_names(tree))
    reader.visit(tree)
    return reader.scopes


class _Reader(ast.NodeVisitor):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.scopes = Scopes()
        self.scope = self.scopes.module
        self.owner: ast.ClassDef | None = None
        self.conditional = False

    def visit(self, node: ast.AST) -> None:
        """Visit a node, noting what depends on a condition."""
        before = self.conditional
        self.conditional = before or isinstance(node, _CONDITIONAL)
        if isinstance(node, ast.If) and not before and _is_main(node.test):
            self.conditional = False
            self._visit_all(*node.body)
            self.conditional = True
            self._visit_all(*node.orelse)
        else:
            super().visit(node)
        self.conditional = before

    def visit_Call(self, node: ast.Call) -> None:
        called = dotted(node.func, self.names)
        if not self.conditional:
            self.scope.calls |= set(_called(node))
        if (door := door_to(called) or member_door(node, self.names)) is not None:
            parameter = id_parameter(door, called or ast.unparse(node.func))
            self.scope.uses.append(Use(node.lineno, door, _literal_id(node, parameter), self.conditional))
        elif called != PARTIAL:
            given = (door_to(dotted(each, self.names)) for each in node.args)
            self.scope.uses.extend(Use(node.lineno, door) for door in given if door is not None)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.scope.mentions.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.scope.mentions.add(node.attr)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all(node.target, node.value)

    def visit_FunctionDef(self, node: _Function) -> None:
        arguments = node.args
        self._visit_all(*node.decorator_list, *arguments.defaults, *arguments.kw_defaults)
        is_test = self._is_test(node)
        if node.decorator_list and self.owner is None and not is_test and not self._is_pytests(node):
            self.scope.mentions.add(node.name)
        self._visit_body(
            node, Scope(mentions={each.arg for each in (*arguments.args, *arguments.kwonlyargs)}), is_test=is_test
        )

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _visit_body(self, node: _Function, scope: Scope, *, is_test: bool) -> None:
        self.scopes.functions.setdefault(node.name, []).append(scope)
        if self.owner is not None and node.name.startswith("__"):
            self.scopes.functions.setdefault(self.owner.name, []).append(scope)
        if is_test:
            self.scopes.tests.append(scope)
            if not node.decorator_list and scope.mentions <= {"self"}:
                self.scopes.plain_tests.append(scope)
        outer, self.scope, owner, self.owner = self.scope, scope, self.owner, None
        conditional, self.conditional = self.conditional, False
        self._visit_all(*node.body)
        self.scope, self.owner, self.conditional = outer, owner, conditional

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all(*node.decorator_list, *node.bases, *node.keywords)
        owner, self.owner = self.owner, node
        self._visit_all(*node.body)
        self.owner = owner

    def _is_test(self, node: _Function) -> bool:
        if not node.name.startswith("test") or self.owner is None:
            return node.name.startswith("test") and self.scope is self.scopes.module
        bases = (dotted(base, self.names) or "" for base in self.owner.bases)
        return self.owner.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)

    def _is_pytests(self, node: _Function) -> bool:
        called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
        return any((dotted(each, self.names) or "").startswith("pytest") for each in called)

    def _visit_all(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)


def _is_main(test: ast.expr) -> bool:
    """Whether a condition is `__name__ == "__main__"`."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _called(node: ast.Call) -> Iterator[str]:
    """The names of the functions that a call runs: the one called, or given to `asyncio.run` and the like."""
    function = node.func
    if isinstance(function, ast.Name):
        yield function.id
    elif isinstance(function, ast.Attribute):
        yield function.attr
        if function.attr == "run" and node.args and isinstance(node.args[0], ast.Name):
            yield node.args[0].id


def _literal_id(call: ast.Call, parameter: str) -> str | None:
    given = [keyword.value for keyword in call.keywords if keyword.arg == parameter] or call.args[:1]
    value = given[0].value if given and isinstance(given[0], ast.Constant) else None
    return value if isinstance(value, str) else None
