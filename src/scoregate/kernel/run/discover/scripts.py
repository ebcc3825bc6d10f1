"""How a Python file is run and which suites it has, by its syntax tree."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scoregate.kernel.run.discover.ast_scan import Scope, Scopes, SuiteCall, read_scopes
from scoregate.kernel.run.discover.packages import find_relative_level
from scoregate.kernel.run.discover.project_calls import ProjectCalls
from scoregate.kernel.run.discover.pytest_marks import MarkedTest, find_marked_tests
from scoregate.kernel.run.plan import SourceKind
from scoregate.kernel.types.records import record

NO_SUITE = "starts no suite of scoregate"
_IN_DOUBT = "call evaluate in this file, or give it a name that is not a suite's if it starts none"


@record
class ScriptInfo:
    """How a file is run, and its suites.

    Args:
        kind: how it is run; None if it holds no suite that can be run.
        why: the reason for `kind`, for reports.
        line: the line of the first suite or error, from 1.
        suite_ids: None if one is unknown.
        expected: the ids of suites that report in every run that ends normally.
        error: it can't be parsed.
        foreign: it has a suite of another SDK.
        notable: reports show the reason without `--verbose`, too.
        in_doubt: it may start a suite all the same: it calls what only a run knows.
        relative_level: the number of packages that its relative imports need around it; 0 without any.
    """

    kind: SourceKind | None
    why: str
    line: int = 1
    suite_ids: tuple[str, ...] | None = None
    expected: tuple[str, ...] = ()
    error: bool = False
    foreign: bool = False
    notable: bool = False
    in_doubt: bool = False
    relative_level: int = 0


def read_script(source: bytes, path: str = "", project: ProjectCalls | None = None) -> ScriptInfo:
    """Classify a file.

    Args:
        source: its bytes, in the encoding that they declare.
        path: its path, relative to the root of the project. Suites of tests are named after it.
        project: follows its imports of the project's modules; None if only the file itself counts.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            scopes = read_scopes(tree) if project is None else project.read_scopes(tree, path)
            script = _classify(_Script(path, scopes, project), find_marked_tests(tree, path))
            return replace(script, relative_level=find_relative_level(tree))
    except SyntaxError as error:
        return _syntax_problem(error.msg, error.lineno or 1)
    except ValueError as error:
        return _syntax_problem(str(error), 1)
    except (RecursionError, MemoryError):
        return _syntax_problem("too deeply nested", 1)  # bombs of brackets, which must not end discovery


@record
class _Script:
    """A file and its scopes; `project` follows its imports."""

    path: str
    scopes: Scopes
    project: ProjectCalls | None

    def find_calls(self, *starts: Scope) -> list[SuiteCall]:
        """The calls that start suites if these scopes are run, sorted by line."""
        reached = list(self.scopes.reached(*starts))
        uses = list(_suite_calls(reached))
        if self.project is not None:
            # An unknown call may call any function that the file mentions.
            in_doubt = self.find_unknown_call(*starts) is not None
            uses += self.project.suite_calls(self.path, reached, in_doubt=in_doubt)
        return sorted(
            {(use.line, use.suite_id, use.entry_point.module): use for use in reversed(uses)}.values(), key=_line_of
        )

    def find_unknown_call(self, *starts: Scope) -> tuple[int, str] | None:
        """The line and the name of the first call of what is defined neither in the project nor in Python or an SDK."""
        for scope in self.scopes.reached(*starts):
            for line, name, path in scope.opaque:
                is_own = name in self.scopes.functions if path is None else self._is_project_path(path)
                if not is_own:
                    return line, path or name
        return None

    def _is_project_path(self, path: str) -> bool:
        return self.project is not None and self.project.modules.locate(self.path, path) is not None


def _classify(script: _Script, marked: Sequence[MarkedTest]) -> ScriptInfo:
    scopes = script.scopes
    if uses := script.find_calls(scopes.module, scopes.main):  # a script that starts suites is not run by pytest
        return _describe_suites(SourceKind.PYTHON, "starts", uses, scopes.certain(scopes.module, scopes.main))
    if uses := script.find_calls(*scopes.tests):
        # A module's marks may skip all of its tests.
        tests = () if "pytestmark" in scopes.module.mentions else scopes.plain_tests
        described = _describe_suites(SourceKind.PYTEST, "a test starts", uses, scopes.certain(*tests))
        return _add_marked_tests(described, marked) if marked and described.kind is not None else described
    if marked:
        first = min(each.line for each in marked)
        return _add_marked_tests(
            ScriptInfo(SourceKind.PYTEST, f"has cases as tests at line {first}", first, ()), marked
        )
    return _describe_other(script)


def _describe_other(script: _Script) -> ScriptInfo:
    """A file in which no suite is found."""
    # In doubt it is reported: a file that is left out without a word makes a run green that measured less.
    unknown = script.find_unknown_call(script.scopes.module, script.scopes.main)
    is_incomplete = script.project is not None and script.project.modules.is_incomplete
    if unknown is not None:
        line, name = unknown
        called = f"{name.lstrip('.'):.100}" if name else "an object"
        why = f"no suite is found in it, but line {line} calls {called}, which may start one; {_IN_DOUBT}"
        return ScriptInfo(None, why, line, in_doubt=True)
    if uses := _suite_calls(script.scopes.everywhere()):
        return ScriptInfo(None, f"starts a suite at line {uses[0].line}, but in a function that the file never calls")
    if is_incomplete and any(scope.invoked for scope in script.scopes.everywhere()):
        return ScriptInfo(
            None,
            f"no suite is found in it, but not all modules that it imports can be read; {_IN_DOUBT}",
            in_doubt=True,
        )
    return ScriptInfo(None, NO_SUITE)


def _add_marked_tests(script: ScriptInfo, marked: Sequence[MarkedTest]) -> ScriptInfo:
    """Add the suites of tests that the plug-in of pytest records."""
    suites = [each.suite for each in marked]
    if script.suite_ids is None or None in suites:  # the names of a file are known only if all are
        return replace(script, suite_ids=None)
    known = (suite for suite in suites if suite is not None)
    return replace(script, suite_ids=tuple(dict.fromkeys((*script.suite_ids, *known))))


def _describe_suites(kind: SourceKind, starts: str, uses: list[SuiteCall], certain: Iterable[Scope]) -> ScriptInfo:
    line, closed = uses[0].line, {use.entry_point.closed for use in uses}
    if "" not in closed:  # one that can report is enough
        return ScriptInfo(None, f"{starts} a suite at line {line}, but {closed.pop()}", line, notable=True)
    foreign = any(use.entry_point.foreign for use in uses)
    through = f" through {uses[0].through}" if uses[0].through else ""
    why = f"{starts} a suite{' of Autoblocks' if foreign else ''} at line {line}{through}"
    suite_ids = tuple(dict.fromkeys(use.suite_id for use in uses if use.suite_id is not None))
    has_unknown_id = any(use.suite_id is None for use in uses)
    # Suites that are started without a condition.
    expected = tuple(
        use.suite_id
        for use in _suite_calls(certain)
        if use.suite_id and not use.conditional and not use.entry_point.closed
    )
    return ScriptInfo(kind, why, line, None if has_unknown_id else suite_ids, expected, foreign=foreign)


def _suite_calls(scopes: Iterable[Scope]) -> list[SuiteCall]:
    uses = {(use.line, use.suite_id, use.entry_point.module): use for scope in scopes for use in scope.uses}
    return sorted(uses.values(), key=_line_of)


def _line_of(use: SuiteCall) -> int:
    return use.line


def _syntax_problem(why: str, line: int) -> ScriptInfo:
    return ScriptInfo(
        None, f"Python {sys.version_info[0]}.{sys.version_info[1]} can't parse it: {why}", line, error=True
    )
