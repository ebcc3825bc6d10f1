"""Evals in Python: DeepEval, Inspect, Braintrust, pydantic-evals, pytest, and suites of scoregate in other places."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from scoregate.ci.discover.files import DEFAULT_FOLDER, PYTHON
from scoregate.ci.discover.framework_files import (
    SourceFiles,
    as_arguments,
    by_folder,
    command_name,
    folder_of,
    relative,
)
from scoregate.ci.discover.scripts import read_script
from scoregate.ci.frameworks import FoundFramework
from scoregate.ci.settings import Command

_PROJECT = ("pyproject.toml", "setup.py", "requirements.txt")
# Git finds the files that contain one of them ten times as fast as Python can read all.
PYTHON_WORDS = (
    *("deepeval", "inspect_ai", "braintrust", "pydantic_evals", "mark.eval"),
    *("scoregate", "autoblocks", "mark.langsmith"),
)
_WORDS = tuple(word.encode() for word in PYTHON_WORDS)
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(deepeval|inspect_ai|braintrust|pydantic_evals)\b", re.MULTILINE)
_INSPECT_TASK = re.compile(rb"^@(?:inspect_ai\.)?task\b", re.MULTILINE)
_BRAINTRUST_EVAL = re.compile(rb"\bEval(?:Async)?\(")
_DEEPEVAL_CALL = re.compile(rb"\b(?:evaluate|evals_iterator)\(")
_PYDANTIC_CALL = re.compile(rb"\.evaluate(?:_sync)?\(")
_PYTEST_EVALS = re.compile(rb"\bmark\.eval\b")


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
    if not any(word in content for word in _WORDS):
        if f"/{DEFAULT_FOLDER}/" in f"/{name}" and _is_test(name):
            yield "pytest"
        return
    is_test = _is_test(name)
    imported = set(_IMPORT.findall(content))
    if b"deepeval" in imported and (is_test or _DEEPEVAL_CALL.search(content)):
        yield "deepeval test" if is_test else "deepeval script"
    if b"inspect_ai" in imported and _INSPECT_TASK.search(content):
        yield "inspect"
    if b"braintrust" in imported and _BRAINTRUST_EVAL.search(content):
        yield "braintrust"
    if b"pydantic_evals" in imported and _PYDANTIC_CALL.search(content):
        yield "pydantic-evals"
    if not imported and is_test and _PYTEST_EVALS.search(content):
        yield "pytest-evals"
    is_own = not imported and any(word in content for word in _WORDS[-3:])
    if is_own and read_script(content).kind is not None:
        yield "scoregate"


def _is_test(name: str) -> bool:
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


def _describe_pytest(
    files: SourceFiles, names: Sequence[str], kind: str, program: tuple[str, ...]
) -> Iterator[FoundFramework]:
    for project, inner in by_folder(files, names, *_PROJECT).items():
        results = f"{kind}-results.xml"
        run = (*program, "--junitxml", results, *as_arguments(inner))
        command = Command(name=command_name(kind, project), run=run, cwd=project, junit=(results,))
        yield FoundFramework(kind, _in(project, inner), command)


def _describe_suites(_files: SourceFiles, names: Sequence[str]) -> Iterator[FoundFramework]:
    places = tuple(dict.fromkeys(map(_suite_place, names)))
    yield FoundFramework("calls that start suites", tuple(names), suite_paths=places, guide="guides/first_suite")


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
    "pytest": _describe_tests,
}


def _in(folder: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(PurePosixPath(folder, name)) for name in names)
