"""Whether a Python file holds suites, and how it is to be run, from its source alone."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.ci.discover.scopes import Scope, Scopes, Use, scopes_of
from scoregate.ci.plan import Kind


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file is.

    `kind` is None where it holds no suite that can be run, `notable` where that may surprise; `line`, from 1, is that
    of the first suite or error. `expected` are the ids that report whenever it runs to its end. `foreign`: a suite in
    it is another SDK's.
    """

    kind: Kind | None
    why: str
    line: int = 1
    suite_ids: tuple[str, ...] | None = None
    expected: tuple[str, ...] = ()
    error: bool = False
    foreign: bool = False
    notable: bool = False


def read_source(source: bytes) -> Reading:
    """Read a file's bytes, with whatever encoding they declare."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _reading(scopes_of(ast.parse(source)))
    except SyntaxError as error:
        return _unparsable(error.msg, error.lineno or 1)
    except ValueError as error:
        return _unparsable(str(error), 1)
    except (RecursionError, MemoryError):
        return _unparsable("too deeply nested", 1)


def _unparsable(why: str, line: int) -> Reading:
    return Reading(None, f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot read it: {why}", line, error=True)


def _reading(scopes: Scopes) -> Reading:
    if uses := _uses(scopes.reached(scopes.module)):
        return _found(Kind.PYTHON, "starts", uses, scopes.certain(scopes.module))
    if uses := _uses(scopes.reached(*scopes.tests)):
        tests = () if "pytestmark" in scopes.module.mentions else scopes.plain_tests
        return _found(Kind.PYTEST, "a test starts", uses, scopes.certain(*tests))
    if uses := _uses(scopes.everywhere()):
        return Reading(None, f"starts a suite at line {uses[0].line}, but in a function that nothing in it calls")
    return Reading(None, "starts no suite of scoregate")


def _found(kind: Kind, starts: str, uses: list[Use], certain: Iterable[Scope]) -> Reading:
    line, closed = uses[0].line, {use.door.closed for use in uses}
    if "" not in closed:
        return Reading(None, f"{starts} a suite at line {line}, but {closed.pop()}", line, notable=True)
    foreign = any(use.door.foreign for use in uses)
    why = f"{starts} a suite{' of Autoblocks' if foreign else ''} at line {line}"
    return Reading(kind, why, line, _ids(uses), tuple(_expected(certain)), foreign=foreign)


def _expected(certain: Iterable[Scope]) -> Iterator[str]:
    """The ids of suites that are started without a condition."""
    for use in _uses(certain):
        if not use.conditional and not use.door.closed and use.suite_id is not None:
            yield use.suite_id


def _uses(scopes: Iterable[Scope]) -> list[Use]:
    found = {(use.line, use.suite_id, use.door.module): use for scope in scopes for use in scope.uses}
    return sorted(found.values(), key=lambda use: use.line)


def _ids(uses: Iterable[Use]) -> tuple[str, ...] | None:
    ids = tuple(dict.fromkeys(use.suite_id for use in uses))
    known = tuple(each for each in ids if each is not None)
    return known if len(known) == len(ids) else None
