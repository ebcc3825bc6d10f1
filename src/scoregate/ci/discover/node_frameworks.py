"""Evals for Node.js: promptfoo, Evalite, vitest-evals and Braintrust."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from scoregate.ci.discover.framework_files import SourceFiles, as_arguments, command_name, relative
from scoregate.ci.frameworks import FoundFramework
from scoregate.ci.settings import Command

_PACKAGE = "package.json"
_PROMPTFOO = re.compile(r"promptfooconfig([.-].+)?\.(ya?ml|json|[cm]?[jt]s)|.+\.promptfoo\.ya?ml")
_EVAL_FILE = re.compile(r".+\.eval\.[cm]?[jt]sx?")
_VITEST_CONFIG = re.compile(r"vitest[.-](evals?[.-]config|config[.-]evals?)\.[cm]?[jt]s")
_IMPORT = re.compile(rb"""["'](evalite|vitest-evals|braintrust)["'/]""")


def find_node_frameworks(files: SourceFiles) -> Iterator[FoundFramework]:
    """What the files of a project hold."""
    names_by_framework: dict[tuple[str, str], list[str]] = {}
    for name in files.names:
        base = name.rpartition("/")[2]
        if _PROMPTFOO.fullmatch(base):
            yield _describe_promptfoo(name)
        elif _EVAL_FILE.fullmatch(base):
            for imported in set(_IMPORT.findall(files.read(name))):
                names_by_framework.setdefault((imported.decode(), files.nearest(name, _PACKAGE)), []).append(name)
        elif base == _PACKAGE:
            for dependency in sorted(_dependencies(_read_package(files, name)) & {"evalite", "vitest-evals"}):
                names_by_framework.setdefault((dependency, str(PurePosixPath(name).parent)), []).insert(0, name)
    for (framework, folder), names in sorted(names_by_framework.items()):
        evals = tuple(name for name in names if not name.endswith(_PACKAGE)) or tuple(names)
        if framework == "evalite":
            yield _describe_evalite(folder, evals)
        elif framework == "vitest-evals":
            yield _describe_vitest(files, folder, evals)
        else:
            yield _describe_braintrust(folder, evals)


def _describe_promptfoo(name: str) -> FoundFramework:
    path = PurePosixPath(name)
    folder, results = str(path.parent), f"promptfoo-results{_suffix(path)}.json"
    # A failed test is no failed command: scoregate judges it.
    words = ("npx", "--yes", "promptfoo", "eval")
    # Its cache keeps answers for 14 days, also those of the application.
    chosen = ("-c", path.name, "-o", results, "--no-cache")
    command = Command(
        name=command_name(f"promptfoo{_suffix(path)}", folder),
        run=(*words, *chosen),
        cwd=folder,
        imports=(f"promptfoo:{results}",),
    )
    return FoundFramework("promptfoo", (name,), command, guide="migrate/promptfoo")


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


def _describe_vitest(files: SourceFiles, folder: str, evals: tuple[str, ...]) -> FoundFramework:
    results = "vitest-results.xml"
    report = ("--reporter=default", "--reporter=junit", f"--outputFile.junit={results}")
    scripts = _read_package(files, str(PurePosixPath(folder, _PACKAGE))).get("scripts")
    script = _eval_script(scripts if isinstance(scripts, Mapping) else {})
    config = next((name for name in files.names if _is_eval_config(name, folder)), None)
    if script is not None:
        run: tuple[str, ...] = ("npm", "run", script, "--", *report)
    elif config is not None:
        run = ("npx", "vitest", "run", "--config", relative(config, folder), *report)
    else:
        run = ("npx", "vitest", "run", *report)
    command = Command(name=command_name("vitest-evals", folder), run=run, cwd=folder, junit=(results,))
    return FoundFramework("vitest-evals", evals, command)


def _is_eval_config(name: str, folder: str) -> bool:
    path = PurePosixPath(name)
    return str(path.parent) == folder and _VITEST_CONFIG.fullmatch(path.name) is not None


def _eval_script(scripts: Mapping[str, Any]) -> str | None:
    """The script of a package that runs its evals once."""
    for name, line in scripts.items():
        words = line.split() if isinstance(line, str) else []
        if "eval" in name and name.isprintable() and "vitest" in words and not {"run", "--run"}.isdisjoint(words):
            return name
    return None


def _read_package(files: SourceFiles, name: str) -> Mapping[str, Any]:
    try:
        package = json.loads(files.read(name))
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def _dependencies(package: Mapping[str, Any]) -> set[str]:
    tables = (package.get(key) for key in ("dependencies", "devDependencies"))
    return {name for table in tables if isinstance(table, dict) for name in table}
