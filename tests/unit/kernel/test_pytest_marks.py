"""Tests of a file that the pytest plug-in records, read from the syntax tree."""

from __future__ import annotations

import ast

from scoregate.kernel.run.discover.pytest_marks import default_suite, find_marked_tests
from scoregate.kernel.run.discover.python_files import read_script
from scoregate.kernel.run.plan import SourceKind

PATH = "evals/hours/test_bot.py"
DEFAULT = "evals.hours.test_bot"


def suites(source: str) -> list[str | None]:
    return [each.suite for each in find_marked_tests(ast.parse(source), PATH)]


def test_marks_and_fixtures_are_found() -> None:
    found = {
        "import pytest\n@pytest.mark.scoregate\ndef test_it(): ...": [DEFAULT],
        "import pytest\n@pytest.mark.scoregate(suite='s', repeats=3)\nasync def test_it(): ...": ["s"],
        "from pytest import mark\n@mark.scoregate(repeats=3)\ndef test_it(): ...": [DEFAULT],
        "import pytest as p\n@p.mark.scoregate(suite=NAME)\ndef test_it(): ...": [None],
        "import pytest\n@pytest.mark.scoregate(**options)\ndef test_it(): ...": [None],
        "def test_it(scoregate): ...": [DEFAULT],
        "def test_it(*, scoregate): ...": [DEFAULT],
        "class TestIt:\n    def test_it(self, scoregate): ...": [DEFAULT],
        "import pytest\npytestmark = pytest.mark.scoregate(suite='s')\ndef test_a(): ...\ndef test_b(): ...": [
            "s",
            "s",
        ],
        "import pytest\npytestmark = [pytest.mark.slow, pytest.mark.scoregate]\ndef test_a(): ...": [DEFAULT],
        "import pytest\n@pytest.mark.scoregate(suite='s')\nclass TestIt:\n    def test_it(self): ...": ["s"],
        "import pytest\npytestmark = pytest.mark.scoregate(suite='s')\n"
        "@pytest.mark.scoregate(suite='own')\ndef test_a(): ...": ["own"],
        "import pytest\npytestmark = pytest.mark.scoregate(suite='s')\n"
        "@pytest.mark.scoregate(repeats=2)\ndef test_a(): ...": ["s"],
        "import pytest\nhours = pytest.mark.scoregate(suite='hours')\n@hours\ndef test_a(): ...": ["hours"],
        "if True:\n    def test_it(scoregate): ...": [DEFAULT],
        "import pytest\n@pytest.mark.langsmith\ndef test_it(): ...": [DEFAULT],
        "import pytest\n@pytest.mark.langsmith(test_suite_name='s')\ndef test_it(): ...": ["s"],
        "import pytest\n@pytest.mark.langsmith(suite='s')\ndef test_it(): ...": [DEFAULT],
    }
    for source, expected in found.items():
        assert suites(source) == expected, source
        script = read_script(source.encode(), PATH)
        assert script.kind is SourceKind.PYTEST, source
        assert script.suite_ids == (None if None in expected else tuple(dict.fromkeys(expected))), source


def test_other_files_hold_no_such_test() -> None:
    for source in (
        "import pytest\n@pytest.mark.scoregate\ndef helper(): ...",
        "import pytest\n@pytest.mark.slow\ndef test_it(): ...",
        "def test_it(scoregate_client): ...",
        "class Helper:\n    def test_it(self, scoregate): ...",
        "@mark.scoregate\ndef test_it(): ...",
        "# pytest.mark.scoregate\ndef test_it(): ...",
    ):
        assert suites(source) == [], source
        assert read_script(source.encode(), PATH).kind is None, source


def test_a_file_with_both_kinds_of_suites_lists_both() -> None:
    source = (
        "from scoregate import evaluate\n"
        "def test_suite():\n    evaluate('short', data=[1], task=str)\n"
        "def test_case(scoregate): ...\n"
    )
    script = read_script(source.encode(), PATH)
    assert (script.kind, script.suite_ids, script.expected) == (SourceKind.PYTEST, ("short", DEFAULT), ("short",))


def test_the_default_suite_has_a_limited_name() -> None:
    assert default_suite("test_bot.py") == "test_bot"
    assert len(default_suite(f"{'x' * 5000}.py")) < 200
