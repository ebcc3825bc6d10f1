"""Find the calls that start suites in a Python file, by its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from scoregate.core.records import record


@record
class EntryPoint:
    """Functions that start a suite.

    Args:
        module: they can be imported from it.
        names: their names, each with the name of its parameter for the suite's id.
        foreign: they belong to another SDK, which reports over HTTP.
        closed: the reason why such suites can't be run; empty if they can.
        deep: they can be imported from modules below it, too.
    """

    module: str
    names: Mapping[str, str]
    foreign: bool = False
    closed: str = ""
    deep: bool = True

    def has(self, path: str) -> bool:
        """Whether one of the functions is at a dotted path."""
        module, _, name = path.rpartition(".")
        return name in self.names and (module == self.module or (self.deep and module.startswith(f"{self.module}.")))


PARTIAL = "functools.partial"
_NAMES = {"run_test_suite": "id", "RunManager": "test_id"}
_V2 = "it uses version 2 of Autoblocks' SDK, which reports only to its own platform"
ENTRY_POINTS = (
    EntryPoint("scoregate", {"evaluate": "name"}, deep=False),
    EntryPoint("scoregate.evals", {"evaluate": "name"}, deep=False),
    EntryPoint("scoregate.testing", _NAMES),
    EntryPoint("autoblocks.testing.v2", _NAMES, foreign=True, closed=_V2),
    EntryPoint("autoblocks.testing", _NAMES, foreign=True),
)


# Methods of a client that start a suite, as `client.offline_tests.run(…)`, whatever the client's name is.
_OFFLINE, _EVALUATION = "offline_tests", "evaluation"
_CLIENT_METHODS = {
    _OFFLINE: EntryPoint(_OFFLINE, {"run": "test_config"}),
    _EVALUATION: EntryPoint(_EVALUATION, {"run": "eval_run_name"}),
}
_CREATE = "create"
# Methods of tests and test sets that start a suite, as `test_set.execute(endpoint)`; its id is not in the call.
_ENTITY_METHODS = EntryPoint("scoregate.entities", {"execute": "", "rescore": ""})


def collect_names(tree: ast.AST) -> dict[str, str]:
    """The dotted path of every name that an import binds, or that is an alias of an entry point, anywhere in the file.

    `run = run_test_suite` and `run = partial(run_test_suite, …)` make such aliases.
    """
    names = {name: path for node in ast.walk(tree) for name, path in _imported_names(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            function = node.value
            if isinstance(function, ast.Call) and function.args and dotted_path(function.func, names) == PARTIAL:
                function = function.args[0]
            path = dotted_path(function, names)
            if path is not None and find_entry_point(path) is not None:
                names |= {target.id: path for target in node.targets if isinstance(target, ast.Name)}
    return names


def _imported_names(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            if alias.name == "*":
                yield from (
                    (name, f"{node.module}.{name}") for entry_point in ENTRY_POINTS for name in entry_point.names
                )
            else:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted_path(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """The dotted path of an expression; None if it does not begin with an imported name."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute) and (left := dotted_path(node.value, names)) is not None:
        return f"{left}.{node.attr}"
    return None


def find_entry_point(path: str | None) -> EntryPoint | None:
    """The entry point at a dotted path."""
    return None if path is None else next((each for each in ENTRY_POINTS if each.has(path)), None)


def find_member_entry_point(call: ast.Call, names: Mapping[str, str]) -> EntryPoint | None:
    """The entry point if a call is one, as a method of a client, a test or a test set."""
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _ENTITY_METHODS.names:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        # The first argument of these methods is an endpoint. A text is not one: `cursor.execute("SELECT 1")`.
        takes_endpoint = bool(arguments) and not isinstance(arguments[0], ast.Constant | ast.JoinedStr)
        return _ENTITY_METHODS if takes_endpoint and _imports_package(names, _ENTITY_METHODS.module) else None
    owner = call.func.value
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == _CREATE:
        owner = owner.func.value
    entry_point = _CLIENT_METHODS.get(owner.attr) if isinstance(owner, ast.Attribute) else None
    # In files that import judgeval, a client belongs to that SDK, which can't report to scoregate.
    if entry_point is None or call.func.attr not in entry_point.names or _imports_package(names, "judgeval"):
        return None
    return entry_point if entry_point.module == _OFFLINE or _imports_package(names, "scoregate") else None


def _imports_package(names: Mapping[str, str], package: str) -> bool:
    return any(path == package or path.startswith(f"{package}.") for path in names.values())


def id_parameter(entry_point: EntryPoint, path: str) -> str:
    """The parameter of an entry point for the id of its suite."""
    return entry_point.names[path.rpartition(".")[2]]


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

    `conditional`: only the run decides whether it is reached.
    """

    line: int
    entry_point: EntryPoint
    suite_id: str | None = None
    conditional: bool = False


@dataclass(slots=True)
class Scope:
    """The body of a function, or all that is at module level.

    `mentions` are the names in it, `calls` the names that it calls in every run to its end.
    """

    uses: list[SuiteCall] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Scopes:
    """The scopes of a file: module level, functions by name, and the tests that pytest calls.

    `plain_tests` are the tests without decorators and fixtures, which are never skipped.
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
        for scopes in self.functions.values():
            yield from scopes


def read_scopes(tree: ast.Module) -> Scopes:
    """Read a syntax tree."""
    reader = _Reader(collect_names(tree))
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
        """Visit a node, and keep track of whether its code depends on a condition."""
        before = self.conditional
        self.conditional = before or isinstance(node, _CONDITIONAL)
        test = node.test if isinstance(node, ast.If) else None
        is_main = isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
        if isinstance(node, ast.If) and not before and is_main:
            self.conditional = False
            self._visit_all(*node.body)
            self.conditional = True
            self._visit_all(*node.orelse)
        else:
            super().visit(node)
        self.conditional = before

    def visit_Call(self, node: ast.Call) -> None:
        called = dotted_path(node.func, self.names)
        if not self.conditional:
            function = node.func
            if isinstance(function, ast.Name):
                self.scope.calls.add(function.id)
            elif isinstance(function, ast.Attribute):
                self.scope.calls.add(function.attr)
                # `asyncio.run(main())` and the like call their argument.
                if function.attr == "run" and node.args and isinstance(node.args[0], ast.Name):
                    self.scope.calls.add(node.args[0].id)
        if (entry_point := find_entry_point(called) or find_member_entry_point(node, self.names)) is not None:
            parameter = id_parameter(entry_point, called or ast.unparse(node.func))
            arguments = [each.value for each in node.keywords if each.arg == parameter] or node.args[:1]
            value = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else None
            suite_id = value if isinstance(value, str) else None
            self.scope.uses.append(SuiteCall(node.lineno, entry_point, suite_id, self.conditional))
        elif called != PARTIAL:
            callbacks = (find_entry_point(dotted_path(each, self.names)) for each in node.args)
            self.scope.uses.extend(SuiteCall(node.lineno, each) for each in callbacks if each is not None)
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
        is_test = node.name.startswith("test") and self.scope is self.scopes.module
        if node.name.startswith("test") and self.owner is not None:
            bases = (dotted_path(base, self.names) or "" for base in self.owner.bases)
            is_test = self.owner.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)
        decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
        is_pytests = any((dotted_path(each, self.names) or "").startswith("pytest") for each in decorators)
        if node.decorator_list and self.owner is None and not is_test and not is_pytests:
            self.scope.mentions.add(node.name)
        scope = Scope(mentions={each.arg for each in (*arguments.args, *arguments.kwonlyargs)})
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

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all(*node.decorator_list, *node.bases, *node.keywords)
        owner, self.owner = self.owner, node
        self._visit_all(*node.body)
        self.owner = owner

    def _visit_all(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)
