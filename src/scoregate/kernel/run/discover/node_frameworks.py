"""Evals for Node.js: promptfoo, Evalite, vitest-evals and Braintrust."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from scoregate.kernel.judge.settings import Command
from scoregate.kernel.run.discover.framework_files import SourceFiles, as_arguments, command_name, folder_of, relative
from scoregate.kernel.run.frameworks import FoundFramework

_PACKAGE = "package.json"
_PROMPTFOO = re.compile(r"promptfooconfig([.-].+)?\.(ya?ml|json|[cm]?[jt]s)|.+\.promptfoo\.ya?ml")
_EVAL_FILE = re.compile(r".+\.eval\.[cm]?[jt]sx?")
_VITEST_CONFIG = re.compile(r"vitest[.-](evals?[.-]config|config[.-]evals?)\.[cm]?[jt]s")
_IMPORT = re.compile(rb"""["'](evalite|vitest-evals|braintrust)["'/]""")
# What runs files of evals that import no framework by name.
_RUNNERS = {"evalite", "vitest-evals"}
_OPERATORS = ("&&", "||", ";", "|")
# The reporters of vitest that scoregate reads, with the names of their formats.
_REPORTS = {"junit": "junit", "json": "vitest"}
_REPORT = ("--reporter=default", "--reporter=junit")


def find_node_frameworks(files: SourceFiles) -> Iterator[FoundFramework]:
    """What the files of a project hold."""
    packages = {name: _read_package(files, name) for name in files.names if name.rpartition("/")[2] == _PACKAGE}
    scripted = tuple(_find_promptfoo_scripts(files, packages))
    yield from scripted
    in_scripts = {name for each in scripted for name in each.paths}
    evals: dict[tuple[str, str], list[str]] = {}
    for name in files.names:
        base = name.rpartition("/")[2]
        if _PROMPTFOO.fullmatch(base) and name not in in_scripts:  # a script runs it with options of its own
            yield _describe_promptfoo(name)
        elif _EVAL_FILE.fullmatch(base):
            folder = files.nearest(name, _PACKAGE)
            imported = {each.decode() for each in _IMPORT.findall(files.read(name))}
            for framework in (
                imported or _dependencies(packages.get(str(PurePosixPath(folder, _PACKAGE)), {})) & _RUNNERS
            ):
                evals.setdefault((framework, folder), []).append(name)
    for name, package in packages.items():
        # Without a file of evals, the runner of a package would run its unit tests, or nothing.
        folder = folder_of(name)
        if "vitest-evals" in _dependencies(package) and _find_vitest(files, folder, package).is_for_evals:
            evals.setdefault(("vitest-evals", folder), [])
    for (framework, folder), names in sorted(evals.items()):
        package_name = str(PurePosixPath(folder, _PACKAGE))
        if framework == "evalite":
            yield _describe_evalite(folder, tuple(names))
        elif framework == "vitest-evals":
            yield _describe_vitest(files, folder, tuple(names), packages.get(package_name, {}))
        else:
            yield _describe_braintrust(folder, tuple(names))


def _describe_promptfoo(name: str) -> FoundFramework:
    path = PurePosixPath(name)
    folder, results = str(path.parent), f"promptfoo-results{_suffix(path)}.json"
    return _promptfoo(command_name(f"promptfoo{_suffix(path)}", folder), (name,), folder, ("-c", path.name), results)


def _promptfoo(
    name: str, configs: tuple[str, ...], folder: str, options: tuple[str, ...], results: str
) -> FoundFramework:
    # A failed test is no failed command: scoregate judges it.
    words = ("npx", "--yes", "promptfoo", "eval")
    # Its cache keeps answers for 14 days, also those of the application.
    run = (*words, *options, "-o", results, "--no-cache")
    command = Command(name=name, run=run, cwd=folder, imports=(f"promptfoo:{results}",))
    return FoundFramework("promptfoo", configs, command, guide="migrate/promptfoo")


def _find_promptfoo_scripts(files: SourceFiles, packages: Mapping[str, Mapping[str, Any]]) -> Iterator[FoundFramework]:
    """The scripts of packages that name configurations of promptfoo, each with its own."""
    for package_name, package in packages.items():
        folder, seen = folder_of(package_name), set[tuple[str, ...]]()
        for script, line in _scripts(package).items():
            configs = _list_configs(files, folder, _split(line))
            if configs and configs not in seen:
                seen.add(configs)
                suffix = re.sub(r"[^A-Za-z0-9_-]+", "-", script).strip("-")
                names = tuple(relative(each, folder) for each in configs)
                title = command_name(f"promptfoo-{suffix}", folder)
                yield _promptfoo(title, configs, folder, ("-c", *names), f"promptfoo-results-{suffix}.json")


def _list_configs(files: SourceFiles, folder: str, words: Sequence[str]) -> tuple[str, ...]:
    """The existing files, relative to the root, that a command line `promptfoo eval` names after `-c`."""
    starts = [place for place, word in enumerate(words) if word.partition("@")[0] == "promptfoo"]
    start = next((place for place in starts if words[place + 1 : place + 2] in (["eval"], ["evaluate"])), None)
    patterns: list[str] = []
    is_config = False
    for word in () if start is None else words[start + 2 :]:
        if word in _OPERATORS:
            break
        if word.startswith("-"):
            option, _, value = word.partition("=")
            is_config = option in ("-c", "--config")
            patterns += [value] if is_config and value else []
        elif is_config:
            patterns.append(word)
    # The script runs in the folder of its package.
    globs = [str(PurePosixPath(os.path.normpath(f"{folder}/{pattern}"))) for pattern in patterns]
    return tuple(dict.fromkeys(name for each in globs for name in files.names if fnmatchcase(name, each)))


def _suffix(path: PurePosixPath) -> str:
    """What distinguishes configurations in a folder: `-chat` of `promptfooconfig.chat.yaml`, `-js` of those in .js."""
    middle = path.name.removeprefix("promptfooconfig").rpartition(".")[0].removesuffix(".promptfoo").strip(".-")
    kind = "" if path.suffix in (".yaml", ".yml") else path.suffix.removeprefix(".")
    return "".join(f"-{part}" for part in (middle, kind) if part)


def _describe_evalite(folder: str, evals: tuple[str, ...]) -> FoundFramework:
    results = "evalite-results.json"
    run = ("npx", "evalite", "run", "--hideTable", "--outputPath", results)
    command = Command(name=command_name("evalite", folder), run=run, cwd=folder, imports=(f"evalite:{results}",))
    return FoundFramework("Evalite", evals, command, guide="migrate/evalite")


def _describe_braintrust(folder: str, evals: tuple[str, ...]) -> FoundFramework:
    helper = "scoregate_reporter.mjs"
    files = as_arguments([relative(name, folder) for name in evals])
    run = ("npx", "braintrust", "eval", "--no-send-logs", "--terminate-on-failure", *files, helper)
    command = Command(name=command_name("braintrust", folder), run=run, cwd=folder)
    return FoundFramework("Braintrust", evals, command, helper, "migrate/braintrust")


def _describe_vitest(
    files: SourceFiles, folder: str, evals: tuple[str, ...], package: Mapping[str, Any]
) -> FoundFramework:
    runner = _find_vitest(files, folder, package)
    if runner.report is None:
        results = _Report("junit", "vitest-results.xml")
        run = (
            # npm would take the options for its own.
            *runner.run,
            *(("--",) if runner.run[0] == "npm" else ()),
            *_REPORT,
            f"--outputFile.junit={results.file}",
        )
        # Without a configuration of their own, all tests of the package would run.
        run = run if runner.is_for_evals else (*run, *(relative(name, folder) for name in evals))
    else:
        # vitest ends with a TypeError if a file is named twice.
        results, run = runner.report, runner.run
    command = Command(
        name=command_name("vitest-evals", folder),
        run=run,
        cwd=folder,
        junit=(results.file,) if results.format == "junit" else (),
        imports=() if results.format == "junit" else (f"vitest:{results.file}",),
    )
    return FoundFramework("vitest-evals", evals or (str(PurePosixPath(folder, _PACKAGE)),), command)


class _Report(NamedTuple):
    """A file that vitest writes: its format, which scoregate imports, and its path."""

    format: str
    file: str


class _Vitest(NamedTuple):
    """How the evals of a package are run; `report`: the file that the script writes itself."""

    run: tuple[str, ...]
    is_for_evals: bool = True
    report: _Report | None = None


def _find_vitest(files: SourceFiles, folder: str, package: Mapping[str, Any]) -> _Vitest:
    """The package's script for evals, else vitest with its configuration for evals, else vitest."""
    for name, line in _scripts(package).items():
        words = _split(line)
        if "eval" in name and name.isprintable() and "vitest" in words and not {"run", "--run"}.isdisjoint(words):
            report, is_known = _find_report(words)
            if is_known:
                return _Vitest(("npm", "run", name), report=report)
    config = next((name for name in files.names if _is_eval_config(name, folder)), None)
    if config is not None:
        return _Vitest(("npx", "vitest", "run", "--config", relative(config, folder)))
    return _Vitest(("npx", "vitest", "run"), is_for_evals=False)


def _find_report(words: Sequence[str]) -> tuple[_Report | None, bool]:
    """The report that a command line of vitest writes, and whether it is known: JUnit, JSON or none."""
    options: dict[str, list[str]] = {}
    for word, following in zip(words, (*words[1:], ""), strict=True):
        option, has_value, value = word.partition("=")
        if option.startswith("--"):
            options.setdefault(option.lower(), []).append(value if has_value else following)
    files = {option: values[-1] for option, values in options.items() if option.startswith("--outputfile")}
    reporters = [each for each in options.get("--reporter", ()) if each in _REPORTS]
    for option, file in files.items():
        kind = option.removeprefix("--outputfile").removeprefix(".") or (reporters[0] if len(reporters) == 1 else "")
        if kind in _REPORTS and file:
            return _Report(_REPORTS[kind], file), True
    return None, not files  # a file of another reporter is a report that scoregate can't read


def _is_eval_config(name: str, folder: str) -> bool:
    path = PurePosixPath(name)
    return str(path.parent) == folder and _VITEST_CONFIG.fullmatch(path.name) is not None


def _scripts(package: Mapping[str, Any]) -> Mapping[str, str]:
    scripts = package.get("scripts")
    return {} if not isinstance(scripts, dict) else {k: line for k, line in scripts.items() if isinstance(line, str)}


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _read_package(files: SourceFiles, name: str) -> Mapping[str, Any]:
    try:
        package = json.loads(files.read(name))
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def _dependencies(package: Mapping[str, Any]) -> set[str]:
    tables = (package.get(key) for key in ("dependencies", "devDependencies"))
    return {name for table in tables if isinstance(table, dict) for name in table}
