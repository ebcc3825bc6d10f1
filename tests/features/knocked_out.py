"""Judge worlds with copies of the package that lack features: their folders and their lines in the table.

The test calls it as a program that has not imported the package, and forks itself for each copy.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from tests.golden.archive import ARCHIVES, list_worlds, read_expected, read_worlds

# What the package imports, so that it is not imported for each copy.
LIBRARIES = ("anyio._backends._asyncio", "click", "httpx", "jinja2", "pydantic", "rich.console")
# It reads its standard input when it is imported, and ends.
PROGRAM = "scoregate.kernel.run.launch.warm_child"
SOURCE = Path(__file__).parents[2] / "src"
TABLE = "scoregate/features/table.py"


def copy_without(features: Iterable[str], target: Path) -> None:
    """Copy the package without some features.

    Args:
        features: their names.
        target: the folder of the copy, which must not exist.
    """
    shutil.copytree(SOURCE, target, ignore=shutil.ignore_patterns("*.egg-info"))
    table = target / TABLE
    for feature in features:
        shutil.rmtree(target / "scoregate/features" / feature)
        text = table.read_text(encoding="utf-8")
        left = enumerate(text.splitlines(keepends=True), 1)
        removed = {line for first, last in _find_lines(text, feature) for line in range(first, last + 1)}
        table.write_text("".join(line for number, line in left if number not in removed), encoding="utf-8")


def _find_lines(table: str, feature: str) -> Iterator[tuple[int, int]]:
    """The first and last lines of the import of a feature, and of its entry."""
    nodes = list(ast.walk(ast.parse(table)))
    of_feature = f"scoregate.features.{feature}."
    imports = [each for each in nodes if isinstance(each, ast.ImportFrom) and f"{each.module}.".startswith(of_feature)]
    names = {alias.asname or alias.name for each in imports for alias in each.names}
    yield from ((each.lineno, each.end_lineno or each.lineno) for each in imports)
    for node in nodes:
        is_named = isinstance(node, ast.Name) and node.id in names
        if is_named or (isinstance(node, ast.Call) and ast.unparse(node).startswith(f"Feature({feature!r}")):
            yield node.lineno, node.end_lineno or node.lineno


def judge_without(features: Sequence[str], folder: Path, worlds: Sequence[str]) -> tuple[int, str]:
    """Judge worlds in a forked process that has a copy of the package without some features.

    Returns:
        The exit code of the process and its output, which has how the outputs of worlds differ from what is expected.
    """
    source, output = folder / "src", folder / "output"
    copy_without(features, source)
    if not (pid := os.fork()):
        handle = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        try:
            _judge(source, worlds)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, output.read_text(encoding="utf-8")


def _judge(source: Path, worlds: Sequence[str]) -> None:
    sys.path.insert(0, str(source))
    kernel = import_module("scoregate.kernel")
    assert Path(kernel.__file__ or "").is_relative_to(source)
    for module in walk_packages(kernel.__path__, "scoregate.kernel."):
        if module.name != PROGRAM:
            import_module(module.name)
    from tests.golden.harness import describe_differences, judge_world

    archives = {world: archive for archive in ARCHIVES for world in list_worlds(archive)}
    for world in worlds:
        expected = read_expected(archives[world], world)
        assert expected
        if differences := describe_differences(expected, judge_world(read_worlds()[world])):
            print(f"{world}:\n{differences}")
    print("judged", flush=True)


def main(groups: list[str]) -> None:
    """Print the outcome without each group of features, as JSON: names that `+` joins, `=`, and names of worlds."""
    for name in LIBRARIES:
        import_module(name)
    read_worlds()
    outcomes = []
    for number, group in enumerate(groups):
        features, _, worlds = group.partition("=")
        folder = Path(str(number)).resolve()
        folder.mkdir()
        outcomes.append(judge_without(features.split("+"), folder, worlds.split(",") if worlds else []))
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(sys.argv[1:])
