"""Which lambda of a file a function is, and how long its text is."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scoregate.engine.signatures import find_lambda_text, read_parameters

_numbers = itertools.count()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Imports a module with this source."""
    names: list[str] = []

    def import_source(source: str) -> Any:
        path = tmp_path / f"lambdas_{next(_numbers)}.py"
        path.write_text(source, encoding="utf-8")
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        names.append(path.stem)
        module = sys.modules[path.stem] = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield import_source
    for name in names:
        del sys.modules[name]


def test_a_text_has_at_most_sixty_characters(load: Any) -> None:
    for text, shown in (
        (f'output == "{"x" * 48}"', f'output == "{"x" * 48}"'),
        (f'output == "{"x" * 49}"', f'output == "{"x" * 48}…'),
    ):
        assert find_lambda_text(load(f"check = lambda output: {text}\n").check) == shown


def test_each_lambda_of_a_line_has_its_own_text(load: Any) -> None:
    module = load("checks = [lambda output: output > 1, lambda output: output > 2, lambda text: text > 1]\n")
    assert [find_lambda_text(check) for check in module.checks] == ["output > 1", "output > 2", "text > 1"]
    nested = load("make = lambda limit: lambda output: output > limit\nmade = make(1)\n")
    assert (find_lambda_text(nested.make), find_lambda_text(nested.made)) == (
        "lambda output: output > limit",
        "output > limit",
    )


def test_a_lambda_over_several_lines_is_found(load: Any) -> None:
    module = load("check = lambda output: (\n    output > 1\n    and output < 9\n)\nother = lambda output: output\n")
    assert (find_lambda_text(module.check), find_lambda_text(module.other)) == ("output > 1 and output < 9", "output")


def test_what_is_no_lambda_or_has_no_source_has_no_text(load: Any) -> None:
    module = load("def task(output): return 1\nbroken = lambda output: output\n")
    assert find_lambda_text(module.task) == "lambda"
    assert find_lambda_text(object()) == "lambda"
    assert find_lambda_text(len) == "lambda"
    module.broken.__module__ = "gone"
    assert find_lambda_text(module.broken) == "lambda"


def test_the_parameters_of_a_lambda_tell_it_from_others(load: Any) -> None:
    module = load("checks = [lambda a, /, b: a, lambda a, *, b: a]\n")
    assert [find_lambda_text(check) for check in module.checks] == ["a", "a"]


def test_a_function_in_c_may_have_no_signature() -> None:
    assert [each.name for each in read_parameters(len)] == ["obj"]
    with pytest.raises(ValueError, match="no signature found"):
        read_parameters(dict)


def test_lambdas_that_return_constants_are_told_apart(load: Any) -> None:
    module = load("checks = [lambda output: 1, lambda output: 1.0, lambda output: 'a', lambda output: None]\n")
    assert [find_lambda_text(check) for check in module.checks] == ["1", "1.0", '"a"', "None"]
    for text in ("-1", "(1, 2)"):  # Python computes these
        assert find_lambda_text(load(f"check = lambda output: {text}\n").check) == text
    lines = load("first = lambda output: 1\nlast = lambda output: 1\n")
    assert [find_lambda_text(check) for check in (lines.first, lines.last)] == ["1", "1"]


def test_a_lambda_that_is_like_the_one_around_it_has_no_text(load: Any) -> None:
    module = load("make = lambda output: lambda output: output\nmade = make(1)\n")
    assert (find_lambda_text(module.make), find_lambda_text(module.made)) == ("lambda output: output", "lambda")


def test_a_lambda_in_a_zip_file_has_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "evals.zip", "w") as file:
        file.writestr("lambdas_in_zip.py", "check = lambda output: output > 1\n")
    monkeypatch.syspath_prepend(tmp_path / "evals.zip")
    module = importlib.import_module("lambdas_in_zip")
    try:
        assert find_lambda_text(module.check) == "output > 1"
    finally:
        del sys.modules["lambdas_in_zip"]
