"""The lines at which a TOML file sets its keys."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.toml_lines import find_line

FILE = """\
# first
title = "x"
inline = { a = 1, b = [10, 20] }

[tool.evals]
rate = 0.5
long = [
  "one",
  "two",
]
text = '''
[no.table]
rate = 1
'''
"quoted.key" = 1
[tool.evals.empty]

[[suites]]
name = "a"
[[suites]]
name = "b"
[suites.limits]
rate = 1
[[suites.rows]]
x = 1
[[suites.rows]]
x = 2
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("title", 2),
        ("inline", 3),
        ("inline a", 3),
        ("inline b 1", 3),
        ("tool", 5),
        ("tool evals", 5),
        ("tool evals rate", 6),
        ("tool evals long", 7),
        ("tool evals long 1", 7),
        ("tool evals text", 11),
        ("tool evals quoted.key", 15),
        ("tool evals empty", 16),
        ("suites", 18),
        ("suites 0", 18),
        ("suites 0 name", 19),
        ("suites 1", 20),
        ("suites 1 name", 21),
        ("no table", None),
        ("other", None),
        ("tool other", 5),
        ("tool evals rate deeper", 6),
        ("suites 2", 18),
    ],
)
def test_a_key_has_a_line_or_that_of_the_table_around_it(keys: str, line: int | None) -> None:
    assert find_line(FILE, tuple(keys.split(" "))) == line


def test_the_lines_of_long_files_are_known_up_to_a_limit() -> None:
    rows = ["x = ["] + ["1,"] * 298 + ["]", "after = 1"]
    assert find_line("\n".join(rows), ("after",)) == 301
    rows[1:1] = ["1,"] * 10
    assert find_line("\n".join(rows), ("after",)) is None
    many = "\n".join(["# comment"] * 19_999 + ["last = 1", "beyond = 1"])
    assert find_line(many, ("last",)) == 20_000
    assert find_line(many, ("beyond",)) is None


def test_an_empty_path_has_no_line() -> None:
    assert find_line(FILE, ()) is find_line("", ("a",)) is None
