"""Find the calls that start suites in a Python file, by its syntax tree."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from scoregate.kernel.run.discover.entry_points import (
    PARTIAL,
    EntryPoint,
    find_entry_point,
    find_member_entry_point,
    id_parameter,
)
from scoregate.kernel.run.discover.names import (
    ExportedNames,
    Objects,
    Resolve,
    collect_names,
    collect_objects,
    dotted_path,
    find_paths,
    is_sdk_path,
    list_imports,
)
from scoregate.kernel.types.records import record

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Code in these may not run, or may run with other values; the condition itself counts as conditional, too.
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


@record
class SuiteCall:
    """A call that starts a suite, with its line from 1; `suite_id` is None if it is not a literal.

    `conditional`: only the run decides whether it is reached. `through`: the object of the project that starts it.
    """

    line: int
    entry_point: EntryPoint
    suite_id: str | None = None
    conditional: bool = False
    through: str = ""


@dataclass(slots=True)
class Scope:
    """The body of a function, or all that is at module level.

    Args:
        uses: the calls in it that start suites.
        mentions: the names in it.
        calls: the names that it calls in every run to its end.
        references: the dotted paths in it, each with its first line.
        invoked: those of them that it calls, hands to a call, or uses as a decorator.
        imports: the dotted paths that it imports, each with its first line.
        opaque: calls of what is neither defined in the file nor part of Python or of an SDK: line, name, dotted path.
    """

    uses: list[SuiteCall] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    references: dict[str, int] = field(default_factory=dict)
    invoked: dict[str, int] = field(default_factory=dict)
    imports: dict[str, int] = field(default_factory=dict)
    opaque: list[tuple[int, str, str | None]] = field(default_factory=list)


@dataclass(slots=True)
class Scopes:
    """The scopes of a file.

    Args:
        module: module level.
        main: the part of it that is not executed if the file is imported.
        functions: the functions and methods by name; constructors also by the name of their class.
        values: the values of names at module level, for other files; their own calls belong to `module`.
        tests: the tests that pytest calls.
        plain_tests: the tests without decorators and fixtures, which are never skipped.
        names: the dotted paths of imported names.
        objects: the paths that the values of other names come from.
    """

    module: Scope = field(default_factory=Scope)
    main: Scope = field(default_factory=Scope)
    functions: dict[str, list[Scope]] = field(default_factory=dict)
    values: dict[str, list[Scope]] = field(default_factory=dict)
    tests: list[Scope] = field(default_factory=list)
    plain_tests: list[Scope] = field(default_factory=list)
    names: Mapping[str, str] = field(default_factory=dict)
    objects: Objects = field(default_factory=dict)

    def reached(self, *starts: Scope) -> Iterator[Scope]:
        """These scopes and every function that they mention, directly or through others."""
        return self._closure(starts, lambda scope: (self.functions.get(name, []) for name in scope.mentions))

    def certain(self, *starts: Scope) -> Iterator[Scope]:
        """These scopes and every function that they call without a condition, directly or through others.

        A name with several functions does not count.
        """
        functions = self.functions
        return self._closure(
            starts, lambda scope: (functions[name] for name in scope.calls if len(functions.get(name, [])) == 1)
        )

    def _closure(self, starts: Iterable[Scope], follow: Callable[[Scope], Iterable[list[Scope]]]) -> Iterator[Scope]:
        stack, visited = list(starts), set()
        while stack:
            scope = stack.pop()
            if id(scope) not in visited:
                visited.add(id(scope))
                stack.extend(inner for scopes in follow(scope) for inner in scopes)
                yield scope

    def everywhere(self) -> Iterator[Scope]:
        """All scopes."""
        yield self.module
        yield self.main
        for scopes in self.functions.values():
            yield from scopes


def read_scopes(tree: ast.Module, resolve: Resolve | None = None, exported: ExportedNames = lambda _: {}) -> Scopes:
    """Read a syntax tree; `resolve` and `exported` are those of `collect_names`."""
    names = collect_names(tree, resolve, exported)
    reader = _Reader(Scopes(names=names, objects=collect_objects(tree, names)))
    reader.visit(tree)
    return reader.scopes


# These run code that only a run knows; other functions of Python run what is among their arguments, or nothing.
_DYNAMIC = {"exec", "eval", "__import__", "importlib.import_module", "runpy.run_path", "runpy.run_module"}
_PLAIN = set(dir(builtins)) - _DYNAMIC
_PLAIN_METHODS = {name for kind in (list, dict, set, str) for name in dir(kind)}


class _Reader(ast.NodeVisitor):
    def __init__(self, scopes: Scopes) -> None:
        self.names = scopes.names
        self.scopes = scopes
        self.scope = scopes.module
        self.owner: ast.ClassDef | None = None
        self.conditional = False

    def visit(self, node: ast.AST) -> None:
        """Visit a node, and keep track of whether its code depends on a condition."""
        before = self.conditional
        self.conditional = before or isinstance(node, _CONDITIONAL)
        test = node.test if isinstance(node, ast.If) else None
        # `if __name__ == "__main__"` is true if the file is run, so what it holds isn't conditional.
        is_main = isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
        if isinstance(node, ast.If) and not before and is_main:
            outer = self.scope
            self.conditional, self.scope = False, self.scopes.main if outer is self.scopes.module else outer
            self._visit_all(*node.body)
            self.conditional, self.scope = True, outer
            self._visit_all(*node.orelse)
        else:  # an `else` of it never runs
            super().visit(node)
        self.conditional = before

    def visit_Call(self, node: ast.Call) -> None:
        called = dotted_path(node.func, self.names)
        if not self.conditional:
            function = node.func
            if isinstance(function, ast.Name):
                self.scope.calls.add(function.id)
            # Without its owner's type, any function of this name may be meant.
            elif isinstance(function, ast.Attribute):
                self.scope.calls.add(function.attr)
                # `asyncio.run(main())` and the like call their argument.
                if function.attr == "run" and node.args and isinstance(node.args[0], ast.Name):
                    self.scope.calls.add(node.args[0].id)
        if (entry_point := find_entry_point(called) or find_member_entry_point(node, self.names)) is not None:
            parameter = id_parameter(entry_point, called or ast.unparse(node.func))
            # The id may be given by position.
            arguments = [each.value for each in node.keywords if each.arg == parameter] or node.args[:1]
            value = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else None
            suite_id = value if parameter and isinstance(value, str) else None
            self.scope.uses.append(SuiteCall(node.lineno, entry_point, suite_id, self.conditional))
        # `partial(run_test_suite, …)` only makes an alias; the call of the alias counts.
        elif called != PARTIAL:
            callbacks = (find_entry_point(dotted_path(each, self.names)) for each in node.args)
            self.scope.uses.extend(SuiteCall(node.lineno, each) for each in callbacks if each is not None)
            self._note_opaque_call(node, called)
            self._note_invoked(node.func, *node.args, *(each.value for each in node.keywords))
        self.generic_visit(node)

    def _note_invoked(self, *nodes: ast.expr) -> None:
        for node in nodes:
            for path in find_paths(node, self.names, self.scopes.objects):
                self.scope.invoked.setdefault(path, node.lineno)

    def _note_opaque_call(self, node: ast.Call, path: str | None) -> None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if path is None:
            path = next(iter(find_paths(function, self.names, self.scopes.objects)), None)
            is_plain = name in (_PLAIN_METHODS if isinstance(function, ast.Attribute) else _PLAIN)
        else:
            is_plain = path not in _DYNAMIC and path.partition(".")[0] in sys.stdlib_module_names
        # A constructor is part of nearly every module; only what is done with its object starts something.
        # What an SDK does is known.
        if not is_plain and not name[:1].isupper() and not (path is not None and is_sdk_path(path)):
            self.scope.opaque.append((node.lineno, name, path))

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for path in list_imports(node):
            self.scope.imports.setdefault(path, node.lineno)

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Name(self, node: ast.Name) -> None:
        self.scope.mentions.add(node.id)
        self._add_references(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        # `subprocess.run` is not the function `run` of this file.
        if not (isinstance(node.value, ast.Name) and self.names.get(node.value.id, "") in sys.stdlib_module_names):
            self.scope.mentions.add(node.attr)
        self._add_references(node)
        self.visit(node.value)

    def _add_references(self, node: ast.Name | ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            for path in find_paths(node, self.names, self.scopes.objects):
                if not is_sdk_path(path):
                    self.scope.references.setdefault(path, node.lineno)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self.scope is not self.scopes.module or self.owner is not None:
            self.generic_visit(node)
            return
        value = self.scope = Scope()
        self.generic_visit(node)
        module = self.scope = self.scopes.module
        # A value is evaluated with its module; as a value alone, it must not count twice.
        module.uses += value.uses
        module.opaque += value.opaque
        module.mentions |= value.mentions
        module.calls |= value.calls
        module.references = {**value.references, **module.references}
        module.invoked = {**value.invoked, **module.invoked}
        value.uses, value.opaque = [], []
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scopes.values.setdefault(target.id, []).append(value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all(node.target, node.value)  # the annotation runs nothing

    def visit_FunctionDef(self, node: _Function) -> None:
        arguments = node.args
        self._visit_decorators(node)
        # They run with the module, the body only in a call.
        self._visit_all(*arguments.defaults, *arguments.kw_defaults)
        is_test = node.name.startswith("test") and self.scope is self.scopes.module
        if node.name.startswith("test") and self.owner is not None:
            bases = (dotted_path(base, self.names) or "" for base in self.owner.bases)
            is_test = self.owner.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)
        decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
        is_pytests = any((dotted_path(each, self.names) or "").startswith("pytest") for each in decorators)
        # A decorator may call the function, as those of click do; pytest calls its fixtures by name.
        if node.decorator_list and self.owner is None and not is_test and not is_pytests:
            self.scope.mentions.add(node.name)
        scope = Scope(mentions={each.arg for each in (*arguments.args, *arguments.kwonlyargs)})
        self.scopes.functions.setdefault(node.name, []).append(scope)
        # Python calls these methods of a class by itself.
        if self.owner is not None and node.name.startswith("__"):
            self.scopes.functions.setdefault(self.owner.name, []).append(scope)
        if is_test:
            self.scopes.tests.append(scope)
            # A decorator or a fixture may skip a test, so its suites are not expected for certain.
            if not node.decorator_list and scope.mentions <= {"self"}:
                self.scopes.plain_tests.append(scope)
        outer, self.scope, owner, self.owner = self.scope, scope, self.owner, None
        # A body runs as a whole once it is called, wherever it is defined.
        conditional, self.conditional = self.conditional, False
        self._visit_all(*node.body)
        self.scope, self.owner, self.conditional = outer, owner, conditional

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_decorators(node)
        self._visit_all(*node.bases, *node.keywords)
        owner, self.owner = self.owner, node
        self._visit_all(*node.body)
        self.owner = owner

    def _visit_decorators(self, node: _Function | ast.ClassDef) -> None:
        known = len(self.scope.opaque)
        self._visit_all(*node.decorator_list)
        self._note_invoked(*node.decorator_list)
        del self.scope.opaque[known:]  # decorators of other packages don't call what they decorate

    def _visit_all(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)
