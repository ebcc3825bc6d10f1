"""Python files that start suites."""

from __future__ import annotations

import ast
import errno
import os
import re
import stat
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from scoregate.ci.discover.ast_scan import Scope, Scopes, SuiteCall, read_scopes
from scoregate.ci.discover.files import DEFAULT_FOLDER, Candidate, ProjectFiles, find_candidates, open_nonblocking
from scoregate.ci.discover.packages import find_relative_level, locate_import_folders, locate_module
from scoregate.ci.discover.pytest_marks import MarkedTest, find_marked_tests
from scoregate.ci.plan import DiscoveredSuites, SkippedSource, SourceKind, SuiteSource
from scoregate.ci.settings import Settings
from scoregate.core.records import record
from scoregate.errors import UsageError

MAX_BYTES = 5 * 1024 * 1024
# A file that starts a suite has one of these words: a package, or the attribute of a client.
_WORDS = (b"scoregate", b"autoblocks", b"offline_tests")
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t][^\n]*\b(?:scoregate|autoblocks)", re.MULTILINE)
# As Jinja and Cookiecutter mark statements, and names in code.
_TEMPLATE = re.compile(
    rb"\{%-?[ \t]*\w[^\n]*%\}|\{\{-?[ \t]*cookiecutter\b|^[ \t]*(?:from|import|class|def)[ \t]+\S*\{\{", re.MULTILINE
)
_NO_SUITE = "starts no suite of scoregate"
_NOT_REGULAR = "not a regular file"
# A file that doesn't exist, a link to nothing or to itself, a folder, a socket.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO)


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
    relative_level: int = 0


async def find_scripts(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """The files that start suites, under the paths of the settings or in the default places.

    Nothing is found if commands or test configs were named to be run.

    Raises:
        UsageError: a path does not exist, or a file that was named holds no suite.
    """
    if settings.skip_reason("paths"):
        return DiscoveredSuites()
    candidates = await find_candidates(files, settings.paths, origin=settings.origin("paths"))
    sources, skipped, links = await anyio.to_thread.run_sync(_inspect_files, files.root, candidates)
    _check_named_files(skipped, {file.path for file in candidates if file.named})
    notices = (f"{each.path} was skipped: {each.why}" for each in skipped if each.notable)
    skipped = sorted((*skipped, *links), key=lambda each: each.path)
    return DiscoveredSuites(tuple(sources), tuple(skipped), tuple(notices))


def _inspect_files(
    root: Path, files: Iterable[Candidate]
) -> tuple[list[SuiteSource], list[SkippedSource], list[SkippedSource]]:
    """The files that start suites, the skipped ones, and the links to others."""
    results = list[SkippedSource | SuiteSource]()
    likely = list[Candidate]()
    for file in files:
        content = _read_content(root, file)
        if not isinstance(content, bytes):
            results.append(content)
        # Most files of a large project start no suite. They are not parsed, which takes a hundred times as long.
        elif file.named or any(word in content for word in _WORDS):
            likely.append(file)
        else:
            results.append(SkippedSource(file.path, _NO_SUITE))
    originals, links = _separate_links(root, likely)
    results += [_inspect_file(root, file) for file in originals]
    results.sort(key=lambda each: each.path)
    sources = [each for each in results if isinstance(each, SuiteSource)]
    return sources, [each for each in results if isinstance(each, SkippedSource)], links


def _read_content(root: Path, file: Candidate) -> bytes | SkippedSource | SuiteSource:
    if (name := os.fsencode(file.path).decode("utf-8", "replace")) != file.path:
        return SkippedSource(name, "its name is not UTF-8", notable=True)
    try:
        with open(root / file.path, "rb", opener=open_nonblocking) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                return SkippedSource(file.path, _NOT_REGULAR)
            if (size := status.st_size) > MAX_BYTES:
                return SkippedSource(file.path, f"too large to be a suite ({size / 1e6:.1f} MB)", notable=True)
            return opened.read(MAX_BYTES)
    except OSError as error:
        if error.errno in _NO_FILE:
            return SkippedSource(file.path, _NOT_REGULAR)
        problem = f"{file.path} can't be read: {error.strerror}"
        return SuiteSource(file.path, SourceKind.PYTHON, why=file.why, error=problem)


def _separate_links(root: Path, files: Iterable[Candidate]) -> tuple[list[Candidate], list[SkippedSource]]:
    """The files, each once, and the links to them."""
    originals: dict[str, Candidate] = {}
    links = []
    for file in sorted(files, key=lambda file: ((root / file.path).is_symlink(), file.path)):
        first = originals.setdefault(os.path.realpath(root / file.path), file)
        if first is not file:
            links.append(SkippedSource(file.path, f"the same file as {first.path}"))
    return list(originals.values()), links


def _inspect_file(root: Path, file: Candidate) -> SuiteSource | SkippedSource:
    content = _read_content(root, file)
    if not isinstance(content, bytes):
        return content
    script = read_script(content, file.path)
    if script.error:
        if not file.named and _is_no_script(file.path, content):
            why = f"{script.why} (line {script.line})"
            return SkippedSource(file.path, why, notable=True)
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
        module=locate_module(root, file.path, script.relative_level),
        import_folders=locate_import_folders(root, file.path),
    )


def _is_no_script(path: str, content: bytes) -> bool:
    """Whether a file that can't be parsed is a template, or text that only mentions scoregate.

    Files in the folder `evals/` of the root always count as scripts.
    """
    if path.startswith(f"{DEFAULT_FOLDER}/"):
        return False
    return _TEMPLATE.search(content) is not None or _IMPORT.search(content) is None


def read_script(source: bytes, path: str = "") -> ScriptInfo:
    """Classify a file.

    Args:
        source: its bytes, in the encoding that they declare.
        path: its path, relative to the root of the project. Suites of tests are named after it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            script = _classify(read_scopes(tree), find_marked_tests(tree, path))
            return replace(script, relative_level=find_relative_level(tree))
    except SyntaxError as error:
        return _syntax_problem(error.msg, error.lineno or 1)
    except ValueError as error:
        return _syntax_problem(str(error), 1)
    except (RecursionError, MemoryError):
        return _syntax_problem("too deeply nested", 1)


def _classify(scopes: Scopes, marked: Sequence[MarkedTest]) -> ScriptInfo:
    if uses := _suite_calls(scopes.reached(scopes.module)):
        return _describe_suites(SourceKind.PYTHON, "starts", uses, scopes.certain(scopes.module))
    if uses := _suite_calls(scopes.reached(*scopes.tests)):
        tests = () if "pytestmark" in scopes.module.mentions else scopes.plain_tests
        found = _describe_suites(SourceKind.PYTEST, "a test starts", uses, scopes.certain(*tests))
        return _add_marked_tests(found, marked) if marked and found.kind is not None else found
    if marked:
        first = min(each.line for each in marked)
        return _add_marked_tests(
            ScriptInfo(SourceKind.PYTEST, f"has cases as tests at line {first}", first, ()), marked
        )
    if uses := _suite_calls(scopes.everywhere()):
        return ScriptInfo(None, f"starts a suite at line {uses[0].line}, but in a function that the file never calls")
    return ScriptInfo(None, _NO_SUITE)


def _add_marked_tests(script: ScriptInfo, marked: Sequence[MarkedTest]) -> ScriptInfo:
    """Add the suites of tests that the plug-in of pytest records."""
    suites = [each.suite for each in marked]
    if script.suite_ids is None or None in suites:
        return replace(script, suite_ids=None)
    known = (suite for suite in suites if suite is not None)
    return replace(script, suite_ids=tuple(dict.fromkeys((*script.suite_ids, *known))))


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


def _check_named_files(skipped: Iterable[SkippedSource], named: set[str]) -> None:
    if bad := [f"{each.path}: {each.why}" for each in skipped if each.path in named]:
        raise UsageError(
            "\n".join(["these files hold no suite:", *(f"  {line}" for line in bad)]),
            advice="A suite is a call of evaluate or run_test_suite, or a test with the mark or fixture scoregate. "
            "For other ways, add [[commands]] to the settings.",
        )
