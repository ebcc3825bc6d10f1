"""Tests that scoregate's plug-in of pytest records: those with its mark or LangSmith's, and those with its fixture."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scoregate.kernel.run.discover.names import collect_names, dotted_path
from scoregate.kernel.types.identity import bounded_name

# The marks, and their argument for the suite.
_MARKS = {"pytest.mark.scoregate": "suite", "pytest.mark.langsmith": "test_suite_name"}
_FIXTURE = "scoregate"
_MODULE_MARKS = "pytestmark"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class MarkedTest(NamedTuple):
    """A test that is recorded: its line, from 1, and its suite; None if only collecting the test shows it."""

    line: int
    suite: str | None


class _Mark(NamedTuple):
    """A mark; `names_suite`: it has the argument for the suite, whose literal is `suite`."""

    names_suite: bool = False
    suite: str | None = None


def default_suite(path: str) -> str:
    """The suite of tests whose marks name none: the dotted path of the file from the root of the project."""
    return bounded_name(path.removesuffix(".py").replace("/", "."))


def find_marked_tests(tree: ast.Module, path: str) -> list[MarkedTest]:
    """The tests of a file that are recorded.

    Args:
        tree: the syntax tree of the file.
        path: the path of the file, relative to the root of the project.
    """
    finder = _Finder(collect_names(tree), default_suite(path))
    finder.aliases = dict(finder.find_aliases(tree))
    return list(finder.find(tree.body, finder.read_module_marks(tree)))


class _Finder:
    def __init__(self, names: Mapping[str, str], default: str) -> None:
        self.names = names
        self.default = default
        self.aliases: dict[str, _Mark] = {}

    def find(self, body: Sequence[ast.stmt], outer: Sequence[_Mark]) -> Iterator[MarkedTest]:
        """The recorded tests among statements.

        Args:
            body: the statements.
            outer: the marks of everything in them, the nearest first.
        """
        for node in body:
            if isinstance(node, ast.ClassDef):
                if node.name.startswith("Test"):
                    yield from self.find(node.body, [*self._read_marks(node.decorator_list), *outer])
            elif isinstance(node, _Function):
                if node.name.startswith("test"):
                    yield from self._read_test(node, outer)
            elif isinstance(node, ast.If | ast.Try | ast.With):
                for part in ("body", "orelse", "finalbody"):
                    yield from self.find(getattr(node, part, ()), outer)

    def _read_test(self, node: _Function, outer: Sequence[_Mark]) -> Iterator[MarkedTest]:
        # The nearest mark that names a suite wins, as in pytest.
        marks = [*self._read_marks(node.decorator_list), *outer]
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if not marks and not any(each.arg == _FIXTURE for each in arguments):
            return
        naming = next((mark for mark in marks if mark.names_suite), None)
        yield MarkedTest(node.lineno, self.default if naming is None else naming.suite)

    def read_module_marks(self, tree: ast.Module) -> list[_Mark]:
        """The marks of all tests of a file."""
        values = (
            node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == _MODULE_MARKS for target in node.targets)
        )
        return [mark for value in values for mark in self._read_marks(_list_elements(value))]

    def find_aliases(self, tree: ast.Module) -> Iterator[tuple[str, _Mark]]:
        """The marks that have a name, as in `hours = pytest.mark.scoregate(suite="hours")`."""
        for node in tree.body:
            if isinstance(node, ast.Assign):
                for mark in self._read_marks([node.value]):
                    yield from ((target.id, mark) for target in node.targets if isinstance(target, ast.Name))

    def _read_marks(self, nodes: Sequence[ast.expr]) -> list[_Mark]:
        return [mark for node in nodes if (mark := self._read_mark(node)) is not None]

    def _read_mark(self, node: ast.expr) -> _Mark | None:
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return self.aliases[node.id]
        function = node.func if isinstance(node, ast.Call) else node
        argument = _MARKS.get(dotted_path(function, self.names) or "")
        if argument is None:
            return None
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg in (argument, None):  # `**options` may name the suite
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                return _Mark(True, value if keyword.arg and isinstance(value, str) else None)
        return _Mark()


def _list_elements(node: ast.expr) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
