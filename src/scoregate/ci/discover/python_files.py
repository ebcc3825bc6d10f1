"""Python files that start suites."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scoregate.ci.discover.ast_scan import Scope, Scopes, SuiteCall, read_scopes
from scoregate.ci.discover.files import Candidate, find_candidates
from scoregate.ci.plan import DiscoveredSuites, SkippedSource, SourceKind, SuiteSource
from scoregate.ci.settings import Settings
from scoregate.errors import UsageError

MAX_BYTES = 5 * 1024 * 1024
_SDK_PACKAGES = (b"scoregate", b"autoblocks")


@dataclass(frozen=True, slots=True)
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
    """

    kind: SourceKind | None
    why: str
    line: int = 1
    suite_ids: tuple[str, ...] | None = None
    expected: tuple[str, ...] = ()
    error: bool = False
    foreign: bool = False
    notable: bool = False


async def find_scripts(root: Path, settings: Settings) -> DiscoveredSuites:
    """The files that start suites, under the paths of the settings or in the default places.

    Nothing is found if commands or test configs were named to be run.

    Raises:
        UsageError: a path does not exist, or a file that was named holds no suite.
    """
    if settings.skip_reason("paths"):
        return DiscoveredSuites()
    files = await find_candidates(root, settings.paths, origin=settings.origin("paths"))
    originals, links = _separate_links(root, files)
    results = [_inspect_file(root, file) for file in originals]
    _check_named_files(results, {file.path for file in files if file.named})
    sources = tuple(each for each in results if isinstance(each, SuiteSource))
    skipped = sorted(
        (*links, *(each for each in results if isinstance(each, SkippedSource))), key=lambda each: each.path
    )
    notices = (f"{each.path} was skipped: {each.why}" for each in skipped if each.notable)
    return DiscoveredSuites(sources, tuple(skipped), tuple(notices))


def _separate_links(root: Path, files: Iterable[Candidate]) -> tuple[list[Candidate], list[SkippedSource]]:
    """The files, each once, and the links to them."""
    originals: dict[str, Candidate] = {}
    links = []
    for file in sorted(files, key=lambda file: ((root / file.path).is_symlink(), file.path)):
        first = originals.setdefault(os.path.realpath(root / file.path), file)
        if first is not file:
            links.append(SkippedSource(file.path, f"the same file as {first.path}"))
    return sorted(originals.values(), key=lambda file: file.path), links


def _inspect_file(root: Path, file: Candidate) -> SuiteSource | SkippedSource:
    path = root / file.path
    if (name := os.fsencode(file.path).decode("utf-8", "replace")) != file.path:
        return SkippedSource(name, "its name is not UTF-8", notable=True)
    try:
        if not path.is_file():
            return SkippedSource(file.path, "not a regular file")
        if (size := path.stat().st_size) > MAX_BYTES:
            return SkippedSource(file.path, f"too large to be a suite ({size / 1e6:.1f} MB)", notable=True)
        return _inspect_source(file, path.read_bytes())
    except OSError as error:
        return SuiteSource(
            file.path, SourceKind.PYTHON, why=file.why, error=f"{file.path} can't be read: {error.strerror}"
        )


def _inspect_source(file: Candidate, source: bytes) -> SuiteSource | SkippedSource:
    script = read_script(source)
    if script.error and (file.sure or any(package in source for package in _SDK_PACKAGES)):
        problem = f"{file.path}:{script.line}: {script.why}"
        return SuiteSource(file.path, SourceKind.PYTHON, script.line, why=file.why, error=problem)
    if script.kind is None:
        return SkippedSource(file.path, script.why, notable=script.notable)
    return SuiteSource(
        file.path,
        script.kind,
        script.line,
        script.suite_ids,
        expected=script.expected,
        why=f"{file.why}, {script.why}",
        foreign=script.foreign,
    )


def read_script(source: bytes) -> ScriptInfo:
    """Classify a file by its bytes, in the encoding that they declare."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _classify(read_scopes(ast.parse(source)))
    except SyntaxError as error:
        return _syntax_problem(error.msg, error.lineno or 1)
    except ValueError as error:
        return _syntax_problem(str(error), 1)
    except (RecursionError, MemoryError):
        return _syntax_problem("too deeply nested", 1)


def _classify(scopes: Scopes) -> ScriptInfo:
    if uses := _suite_calls(scopes.reached(scopes.module)):
        return _describe_suites(SourceKind.PYTHON, "starts", uses, scopes.certain(scopes.module))
    if uses := _suite_calls(scopes.reached(*scopes.tests)):
        tests = () if "pytestmark" in scopes.module.mentions else scopes.plain_tests
        return _describe_suites(SourceKind.PYTEST, "a test starts", uses, scopes.certain(*tests))
    if uses := _suite_calls(scopes.everywhere()):
        return ScriptInfo(None, f"starts a suite at line {uses[0].line}, but in a function that the file never calls")
    return ScriptInfo(None, "starts no suite of scoregate")


def _describe_suites(kind: SourceKind, starts: str, uses: list[SuiteCall], certain: Iterable[Scope]) -> ScriptInfo:
    line, closed = uses[0].line, {use.entry_point.closed for use in uses}
    if "" not in closed:
        return ScriptInfo(None, f"{starts} a suite at line {line}, but {closed.pop()}", line, notable=True)
    foreign = any(use.entry_point.foreign for use in uses)
    why = f"{starts} a suite{' of Autoblocks' if foreign else ''} at line {line}"
    suite_ids = tuple(dict.fromkeys(use.suite_id for use in uses if use.suite_id is not None))
    has_unknown_id = any(use.suite_id is None for use in uses)
    # Suites that are started without a condition.
    expected = tuple(
        use.suite_id
        for use in _suite_calls(certain)
        if use.suite_id is not None and not use.conditional and not use.entry_point.closed
    )
    return ScriptInfo(kind, why, line, None if has_unknown_id else suite_ids, expected, foreign=foreign)


def _suite_calls(scopes: Iterable[Scope]) -> list[SuiteCall]:
    uses = {(use.line, use.suite_id, use.entry_point.module): use for scope in scopes for use in scope.uses}
    return sorted(uses.values(), key=lambda use: use.line)


def _syntax_problem(why: str, line: int) -> ScriptInfo:
    return ScriptInfo(
        None, f"Python {sys.version_info[0]}.{sys.version_info[1]} can't parse it: {why}", line, error=True
    )


def _check_named_files(results: Iterable[SuiteSource | SkippedSource], named: set[str]) -> None:
    if bad := [
        f"{each.path}: {each.why}" for each in results if isinstance(each, SkippedSource) and each.path in named
    ]:
        raise UsageError(
            "\n".join(["these files hold no suite:", *(f"  {line}" for line in bad)]),
            advice="A suite is a call of run_test_suite. For other ways, add [[commands]] to the settings.",
        )
