"""Judge worlds with a copy of the package that lacks features: their folders and their lines in the table.

The test calls it as a program, since the package is imported once in a process.
"""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

SOURCE = Path(__file__).parents[2] / "src"
TABLE = "scoregate/features/table.py"


def copy_without(features: Iterable[str], target: Path) -> None:
    """Copy the package without some features.

    Args:
        features: their names.
        target: the folder of the copy, which must not exist.
    """
    shutil.copytree(SOURCE, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
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


def main(packages: list[str], worlds: list[str]) -> None:
    """Import packages as a whole, and print how the outputs of worlds differ from what is expected."""
    from tests.golden.archive import ARCHIVES, list_worlds, read_expected, read_worlds
    from tests.golden.harness import describe_differences, judge_world

    print(Path(import_module("scoregate").__file__ or "").parents[1])
    for name in packages:
        package = import_module(name)
        for module in walk_packages(package.__path__, f"{name}."):
            import_module(module.name)
    archives = {world: archive for archive in ARCHIVES for world in list_worlds(archive)}
    for world in worlds:
        expected = read_expected(archives[world], world)
        if differences := describe_differences(expected, judge_world(read_worlds()[world])):
            print(f"{world}:\n{differences}")


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2].split(","))
