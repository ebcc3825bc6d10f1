"""Evals in Python: DeepEval, Inspect, Braintrust, pydantic-evals, pytest, and suites of scoregate in other places."""

from __future__ import annotations

import ast
import os
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from scoregate.kernel.judge.settings import Command
from scoregate.kernel.run.discover.ast_scan import Scope, read_scopes
from scoregate.kernel.run.discover.files import DEFAULT_FOLDER, PYTHON
from scoregate.kernel.run.discover.framework_files import (
    SourceFiles,
    as_arguments,
    by_folder,
    command_name,
    folder_of,
    relative,
)
from scoregate.kernel.run.discover.scripts import read_script
from scoregate.kernel.run.frameworks import FoundFramework
from scoregate.kernel.types.records import record

_PROJECT = ("pyproject.toml", "setup.py", "requirements.txt")
# Git finds the files that contain one of them ten times as fast as Python can read all.
PYTHON_WORDS = (
    *("deepeval", "inspect_ai", "braintrust", "pydantic_evals", "mark.eval", "langsmith"),
    *("scoregate", "autoblocks", "mark.langsmith"),
)
_WORDS = tuple(word.encode() for word in PYTHON_WORDS)
_INSPECT_TASK = re.compile(rb"^@(?:inspect_ai\.)?task\b", re.MULTILINE)
_PYTEST_EVALS = re.compile(rb"\bmark\.eval\b")
_IMPORTED = ("deepeval", "inspect_ai", "braintrust", "pydantic_evals")
# LangSmith's decorators of tests before its mark of pytest.
_LANGSMITH = frozenset({"langsmith.unit", "langsmith.test", "langsmith.testing.unit", "langsmith.testing.test"})
_RUNS_OF_DEEPEVAL = frozenset({"deepeval.assert_test", "deepeval.evaluate"})
_TELLING_NAMES = ("evals_iterator", "evaluate_sync")
_UNKNOWN = "?"
_SCRIPT_TABLES = (("project", "scripts"), ("tool", "poetry", "scripts"))


def find_python_frameworks(files: SourceFiles) -> Iterator[FoundFramework]:
    """What the Python files of a project hold."""
    names_by_kind: dict[str, list[str]] = {}
    for name in files.names:
        if name.endswith(PYTHON):
            may_have_words = files.python_with_words is None or name in files.python_with_words
            for kind in _classify(name, files.read(name) if may_have_words else b""):
                names_by_kind.setdefault(kind, []).append(name)
    for kind, describe in _KINDS.items():
        if kind in names_by_kind:
            yield from describe(files, names_by_kind[kind])


def _classify(name: str, content: bytes) -> Iterator[str]:
    """The kinds of evals in a file."""
    is_test = _is_test(name)
    code = _Code.parse(content)
    kinds = [] if code is None else list(_list_kinds(code, content, is_test=is_test))
    yield from kinds
    # A test may mention a framework, or import it for something else.
    if not kinds and code is not None and is_test and f"/{DEFAULT_FOLDER}/" in f"/{name}":
        yield "pytest"


def _list_kinds(code: _Code, content: bytes, *, is_test: bool) -> Iterator[str]:
    # One kind each, so that a test with the decorators of both isn't listed twice.
    if "deepeval" in code.imported and (kind := _find_deepeval_kind(code, is_test=is_test)):
        yield kind
    elif is_test and code.in_tests & _LANGSMITH:
        yield "langsmith"
    if "inspect_ai" in code.imported and _INSPECT_TASK.search(content):
        yield "inspect"
    if code.at_start & {"braintrust.Eval", "braintrust.EvalAsync"}:
        yield "braintrust"
    if "pydantic_evals" in code.imported and _calls(code.at_start, "pydantic_evals", "evaluate", "evaluate_sync"):
        yield "pydantic-evals"
    if not code.imported and is_test and _PYTEST_EVALS.search(content):
        yield "pytest-evals"
    # Parsed a second time only if one of scoregate's own words is there.
    if not code.imported and any(word in content for word in _WORDS[-3:]):
        if read_script(content).kind is not None:
            yield "scoregate"
        elif code.starts_autoblocks:
            yield "autoblocks"


def _calls(paths: Iterable[str], package: str, *names: str) -> bool:
    """Whether a function or method of these names is called: of a package, or of an object from elsewhere."""
    return any(
        # Names that only these packages have.
        name in names and (name in _TELLING_NAMES or path.partition(".")[0] in (package, _UNKNOWN))
        for path in paths
        if (name := path.rpartition(".")[2])
    )


def _find_deepeval_kind(code: _Code, *, is_test: bool) -> str:
    """How deepeval runs a file; empty if the file runs none of its evals, as a library of helpers."""
    paths = code.in_tests if is_test else code.at_start
    runs = _calls(paths, "deepeval", "evals_iterator") or not _RUNS_OF_DEEPEVAL.isdisjoint(paths)
    if not is_test:
        return "deepeval script" if runs else ""
    # Tests that only measure leave no results of deepeval.
    return "deepeval test" if runs else "pytest" if _calls(paths, "deepeval", "measure", "a_measure") else ""


@record
class _Code:
    """What a file calls, as dotted paths of what it imports.

    `imported`: the frameworks; `paths`: what it imports; `at_start`: what it calls if it is run; `in_tests`: what it
    calls if pytest runs its tests; `starts_autoblocks`: a function of it starts a suite of Autoblocks.
    """

    imported: frozenset[str]
    paths: frozenset[str]
    at_start: frozenset[str]
    in_tests: frozenset[str]
    starts_autoblocks: bool

    @classmethod
    def parse(cls, content: bytes) -> _Code | None:
        """Read a file; None if this Python can't parse it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scopes = read_scopes(ast.parse(content))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        everywhere = list(scopes.everywhere())
        at_start = _list_calls(scopes.reached(scopes.module, scopes.main))
        in_tests = _list_calls(scopes.reached(*scopes.tests))
        paths = frozenset(path for scope in everywhere for path in scope.imports)
        modules = {path.partition(".")[0] for path in paths}
        return cls(
            frozenset(modules & set(_IMPORTED)),
            paths,
            at_start,
            in_tests | at_start,
            any(use.entry_point.foreign and not use.entry_point.closed for scope in everywhere for use in scope.uses),
        )


def _list_calls(scopes: Iterable[Scope]) -> frozenset[str]:
    """The dotted paths that scopes call."""
    calls = set[str]()
    for scope in scopes:
        calls |= scope.invoked.keys()
        # A method of an object whose type isn't known.
        calls |= {f"{_UNKNOWN}.{name}" for _, name, path in scope.opaque if path is None}
    return frozenset(calls)


def _is_test(name: str) -> bool:  # as pytest finds them by default
    stem = PurePosixPath(name).stem
    return stem.startswith("test_") or stem.endswith("_test")


def _describe_deepeval_tests(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    """One command for each folder, as `deepeval test run` takes one file or folder."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(folder_of(name), []).append(name)
    tests = Counter(folder_of(name) for name in files.names if name.endswith(PYTHON) and _is_test(name))
    for folder, inner in folders.items():
        project = files.nearest(inner[0], *_PROJECT)
        # A folder with other tests would be run with them.
        for place in inner if len(inner) == 1 or tests[folder] > len(inner) else [folder]:
            results = _results_folder(place)
            run = ("env", f"DEEPEVAL_RESULTS_FOLDER={results}", "deepeval", "test", "run", relative(place, project))
            yield _deepeval(place, inner if place == folder else [place], project, run, results)


def _describe_deepeval_scripts(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    for name in names:
        project = files.nearest(name, *_PROJECT)
        results = _results_folder(name)
        run = ("env", f"DEEPEVAL_RESULTS_FOLDER={results}", "python", relative(name, project))
        yield _deepeval(name, [name], project, run, results)


def _results_folder(place: str) -> str:
    """A folder for each command: what is new in it is the command's."""
    return f"deepeval-results/{PurePosixPath(place).with_suffix('')}" if place != os.curdir else "deepeval-results"


def _deepeval(place: str, names: Sequence[str], project: str, run: Sequence[str], results: str) -> FoundFramework:
    command = Command(
        name=command_name("deepeval", place),
        run=tuple(run),
        cwd=project,
        imports=(f"deepeval:{results}/test_run_*.json",),
    )
    return FoundFramework("DeepEval", tuple(names), command, guide="migrate/deepeval")


def _describe_inspect(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    for project, inner in by_folder(files, names, *_PROJECT).items():
        run = ("inspect", "eval", *as_arguments(inner), "--log-dir", "inspect-logs", "--display", "plain")
        name = command_name("inspect", project)
        command = Command(name=name, run=run, cwd=project, imports=("inspect:inspect-logs/*.eval",))
        yield FoundFramework("Inspect", _in(project, inner), command)


def _describe_braintrust(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    for project, inner in by_folder(files, names, *_PROJECT).items():
        helper = "scoregate_reporter.py"
        run = ("braintrust", "eval", "--no-send-logs", "--terminate-on-failure", *as_arguments(inner), helper)
        command = Command(name=command_name("braintrust", project), run=run, cwd=project)
        yield FoundFramework("Braintrust", _in(project, inner), command, helper, "migrate/braintrust")


def _describe_pydantic_evals(_files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    yield FoundFramework("pydantic-evals", tuple(names), guide="migrate/pydantic_evals")


def _describe_pytest_evals(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    yield from _describe_pytest(files, names, "pytest-evals", ("pytest", "--run-eval"))


def _describe_tests(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    yield from _describe_pytest(files, names, "pytest", ("pytest",))


def _describe_langsmith(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    # Without its platform: the decorator would upload every run.
    yield from _describe_pytest(files, names, "langsmith", ("env", "LANGSMITH_TEST_TRACKING=false", "pytest"))


def _describe_pytest(
    files: SourceFiles, names: Sequence[str], kind: str, program: tuple[str, ...]
) -> Iterator[FoundFramework]:
    tests = {name for name in files.names if name.endswith(PYTHON) and _is_test(name)} - set(names)
    for project, inner in by_folder(files, names, *_PROJECT).items():
        results = f"{kind}-results.xml"
        places = as_arguments(inner)
        if any(_is_below(test, os.path.normpath(f"{project}/{place}")) for place in places for test in tests):
            places = tuple(inner)  # the folders have other tests, which are no evals
        run = (*program, "--junitxml", results, *places)
        command = Command(name=command_name(kind, project), run=run, cwd=project, junit=(results,))
        yield FoundFramework(kind, _in(project, inner), command)


def _is_below(name: str, folder: str) -> bool:
    return folder == os.curdir or name.startswith(f"{folder}/")


def _describe_autoblocks(files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    """The scripts of a project that call functions with suites of Autoblocks, as `poetry run start` does."""
    for project, inner in by_folder(files, names, *_PROJECT).items():
        suites = {PurePosixPath(name).with_suffix("").as_posix().removesuffix("/__init__") for name in inner}
        for target in _list_script_targets(files, project):
            module, _, function = target.partition(":")
            paths = [f"{module.replace('.', '/')}{end}" for end in ("/__init__.py", ".py")]
            path = next((each for each in paths if str(PurePosixPath(project, each)) in files.names), None)
            if path is None or not function.isidentifier() or not all(map(str.isidentifier, module.split("."))):
                continue
            code = _Code.parse(files.read(str(PurePosixPath(project, path))))
            imported = set() if code is None else {each.replace(".", "/") for each in code.paths}
            if path in inner or imported & suites:
                run = ("python", "-c", f"from {module} import {function}; {function}()")
                command = Command(name=command_name("autoblocks", project), run=run, cwd=project)
                yield FoundFramework("Autoblocks", _in(project, inner), command, guide="migrate/autoblocks")
                break


def _list_script_targets(files: SourceFiles, project: str) -> Iterator[str]:
    """What the scripts of a pyproject.toml call, such as `my_project.run:run`."""
    try:
        content = tomllib.loads(files.read(str(PurePosixPath(project, "pyproject.toml"))).decode())
    except (ValueError, RecursionError):
        return
    for keys in _SCRIPT_TABLES:
        table: object = content
        for key in keys:
            table = table.get(key) if isinstance(table, Mapping) else None
        yield from (each for each in (table.values() if isinstance(table, Mapping) else ()) if isinstance(each, str))


def _describe_suites(_files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    places = tuple(dict.fromkeys(map(_suite_place, names)))
    yield FoundFramework("calls that start suites", tuple(names), suite_paths=places, guide="guides/classes")


def _suite_place(name: str) -> str:
    """The folder of a suite, or the folder around its package; the file itself if that is the root."""
    path = PurePosixPath(name)
    folder = path.parent.parent if path.stem == "__init__" else path.parent
    return name if str(folder) == os.curdir else str(folder)


_KINDS: dict[str, Callable[[SourceFiles, Sequence[str]], Iterator[FoundFramework]]] = {
    "scoregate": _describe_suites,
    "deepeval test": _describe_deepeval_tests,
    "deepeval script": _describe_deepeval_scripts,
    "inspect": _describe_inspect,
    "braintrust": _describe_braintrust,
    "pydantic-evals": _describe_pydantic_evals,
    "pytest-evals": _describe_pytest_evals,
    "langsmith": _describe_langsmith,
    "autoblocks": _describe_autoblocks,
    "pytest": _describe_tests,
}


def _in(folder: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(PurePosixPath(folder, name)) for name in names)
