"""Stored runs are judged as the version judged them that this is compared with.

After a change that is meant, `python -m tests.golden.write_expected` writes what is expected again.
"""

from __future__ import annotations

import ast

import pytest
from tests.golden.archive import ARCHIVES, FOLDER, list_worlds, read_expected, read_worlds
from tests.golden.harness import describe_differences, judge_world


@pytest.mark.parametrize(
    ("archive", "name"), [(archive, name) for archive in ARCHIVES for name in list_worlds(archive)]
)
def test_a_world_is_judged_as_before(archive: str, name: str) -> None:
    differences = describe_differences(read_expected(archive, name), judge_world(read_worlds()[name]))
    assert not differences, f"{name}:\n{differences}"


def test_only_the_command_line_is_called() -> None:
    """Every other module may move."""
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.partition(".")[0] == "scoregate"], path
