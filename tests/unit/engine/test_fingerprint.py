"""A fingerprint changes when a score may change, and then only."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine.fingerprint import fingerprint_object
from scoregate.kernel.types.event_values import Fingerprint

BASE = '''
import re
from dataclasses import dataclass
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold

LIMIT = 0.5
WORDS: list[str] = ["a", "b"]
LOW, HIGH = 0, 1
UNUSED = 1


@dataclass
class TestCase(BaseTestCase):
    text: str

    def hash(self):
        return self.text


def normalised(text: str) -> str:
    """Lower case."""
    return stripped(text).lower()


def stripped(text: str) -> str:
    return text.strip()


def unrelated():
    return 1


try:
    from fastwords import count
except ImportError:

    def count(text: str) -> int:
        return len(text.split())


class Parent(BaseTestEvaluator[TestCase, str]):
    def weight(self) -> float:
        return 1.0


class Words(Parent):
    """Counts words."""

    id = "words"

    def __init__(self, case_sensitive=False, tags=("x",), pattern=None, model="gpt-x", client=None):
        self.case_sensitive = case_sensitive
        self.tags = tags
        self.pattern = pattern
        self.model = model
        self.client = client

    def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation:
        """Score it."""
        # by words
        found = sum(word in normalised(output) for word in WORDS) * self.weight() + count(output) * LOW
        return Evaluation(min(HIGH, found / 2), Threshold(gte=LIMIT))


EVALUATOR = Words()
'''
_numbers = itertools.count()


@pytest.fixture
def fingerprint(tmp_path: Path) -> Iterator[Any]:
    """Fingerprints the `EVALUATOR` of a module with this source."""
    parameters: list[str] = []

    def load(source: str, **ignore: Any) -> Fingerprint:
        name = f"evaluators_{next(_numbers)}"
        path = tmp_path / f"{name}.py"  # two of one name and size in one second would share their bytecode
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec
        assert spec.loader
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        parameters.append(name)
        spec.loader.exec_module(module)
        mark = fingerprint_object(module.EVALUATOR, **ignore)
        path.unlink()
        __import__("linecache").clearcache()
        return mark

    yield load
    for name in parameters:
        del sys.modules[name]


def change_source(old: str, new: str) -> str:
    assert BASE.count(old) == 1, old
    return BASE.replace(old, new)


SAME = {
    "a comment": ("# by words", "# by words, in any case"),
    "a comment less": ("        # by words\n", ""),
    "the format": ("min(HIGH, found / 2)", "min(\n            HIGH,\n            (found / 2),\n        )"),
    "quotes": ('id = "words"', "id = 'words'"),
    "a docstring": ('"""Score it."""', '"""Score it well."""'),
    "a docstring less": ('        """Score it."""\n', ""),
    "the docstring of the class": ('"""Counts words."""', '"""Counts."""'),
    "the docstring of a helper": ('"""Lower case."""', '"""In lower case."""'),
    "annotations": ("def normalised(text: str) -> str:", "def normalised(text):"),
    "a type parameter": ("BaseTestEvaluator[TestCase, str]", "BaseTestEvaluator"),
    "a constant that is not used": ("UNUSED = 1", "UNUSED = 2"),
    "a function that is not used": ("def unrelated():\n    return 1", "def unrelated():\n    return 2"),
    "another function": ("def unrelated():", "def more():\n    pass\n\n\ndef unrelated():"),
    "the class of the cases": ("    text: str\n\n    def hash", "    text: str\n    tags: tuple = ()\n\n    def hash"),
    "its place in the file": ("\nLIMIT = 0.5", "\n\n\n\n\n\nLIMIT = 0.5"),
}
SOURCE = {
    "its code": ("found / 2", "found / 3"),
    "an operator": ("found / 2", "found * 2"),
    "a base class": ("return 1.0", "return 0.5"),
    "a helper": (".lower()", ".upper()"),
    "a helper of a helper": ("text.strip()", "text.lstrip()"),
    "a helper under try": ("len(text.split())", "len(text)"),
    "a constant": ("LIMIT = 0.5", "LIMIT = 0.6"),
    "an annotated constant": ('["a", "b"]', '["a", "c"]'),
    "one constant of two": ("LOW, HIGH = 0, 1", "LOW, HIGH = 0, 2"),
    "a constant that is added to": ('WORDS: list[str] = ["a", "b"]', 'WORDS = ["a", "b"]\nWORDS += ["c"]'),
    "a class attribute": ('id = "words"', 'id = "words"\n    power = 2'),
    "a default": ("case_sensitive=False,", "case_sensitive=True,"),
}
ARGUMENTS = {
    "a flag": "Words(case_sensitive=True)",
    "a tuple": 'Words(tags=("x", "y"))',
    "a pattern": 'Words(pattern=re.compile("a+"))',
    "a function": "Words(pattern=stripped)",
    "what a list holds": "Words(tags=[object()])",
}


def test_equal_source_in_any_module_is_the_same(fingerprint: Any) -> None:
    assert fingerprint(BASE) == fingerprint(BASE)
    assert None not in (fingerprint(BASE).source, fingerprint(BASE).parameters)


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_irrelevant_changes_keep_it(fingerprint: Any, old: str, new: str) -> None:
    assert fingerprint(change_source(old, new)) == fingerprint(BASE)


@pytest.mark.parametrize(("old", "new"), SOURCE.values(), ids=SOURCE)
def test_relevant_changes_change_its_source(fingerprint: Any, old: str, new: str) -> None:
    assert fingerprint(change_source(old, new)).source != fingerprint(BASE).source


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_change_its_parameters(fingerprint: Any, arguments: str) -> None:
    found, base = fingerprint(change_source("EVALUATOR = Words()", f"EVALUATOR = {arguments}")), fingerprint(BASE)
    assert found.parameters != base.parameters
    assert (found.source, found.model) == (base.source, base.model)


def test_two_functions_as_argument_differ(fingerprint: Any) -> None:
    one, two = (
        change_source("EVALUATOR = Words()", f"EVALUATOR = Words(pattern={f})") for f in ("stripped", "normalised")
    )
    assert fingerprint(one).parameters != fingerprint(two).parameters


def test_its_model_is_readable(fingerprint: Any) -> None:
    found, base = fingerprint(change_source('model="gpt-x"', 'model="gpt-y"')), fingerprint(BASE)
    assert (base.model, found.model) == ("gpt-x", "gpt-y")
    assert found.parameters == base.parameters


def test_a_model_object_is_a_parameter(fingerprint: Any) -> None:
    one, two = (change_source("EVALUATOR = Words()", f"EVALUATOR = Words(model={{'name': {name!r}}})") for name in "xy")
    assert fingerprint(one).model is None
    assert fingerprint(one).parameters != fingerprint(two).parameters


def test_ignored_fields_change_nothing(fingerprint: Any) -> None:
    other = change_source("EVALUATOR = Words()", "EVALUATOR = Words(tags=())")
    assert fingerprint(other, ignore=["tags"]).parameters == fingerprint(BASE, ignore=["tags"]).parameters


def test_an_object_counts_by_its_type_and_not_by_its_address(fingerprint: Any) -> None:
    source = change_source("EVALUATOR = Words()", "EVALUATOR = Words(client=object())")
    assert fingerprint(source) == fingerprint(source)


def test_slots_are_parameters_too(fingerprint: Any) -> None:
    slotted = change_source(
        "EVALUATOR = Words()",
        "@dataclass(slots=True)\nclass Slotted(Parent):\n    power: int = 1\n    id = 's'\n"
        "    evaluate_test_case = None\n\n\nEVALUATOR = Slotted(power=1)",
    )
    assert fingerprint(slotted).parameters != fingerprint(slotted.replace("(power=1)", "(power=2)")).parameters


def test_an_iterator_as_argument_is_not_consumed(fingerprint: Any, tmp_path: Path) -> None:
    del tmp_path
    mark = fingerprint(
        change_source("EVALUATOR = Words()", "EVALUATOR = Words(tags=iter([1]))\nITERATOR = EVALUATOR.tags")
    )
    assert mark.parameters
    assert list(sys.modules[f"evaluators_{next(_numbers) - 1}"].ITERATOR) == [1]


def test_a_class_in_a_function_has_a_source(fingerprint: Any) -> None:
    local = BASE.replace(
        "EVALUATOR = Words()",
        "def make():\n    class Local(Parent):\n        id = 'l'\n        evaluate_test_case = None\n\n"
        "    return Local()\n\n\nEVALUATOR = make()",
    )
    assert fingerprint(local).source not in (None, fingerprint(local.replace("id = 'l'", "id = 'm'")).source)


def test_an_unreadable_source_is_unknown() -> None:
    from scoregate.testing.models import BaseTestEvaluator

    evaluator_class = type("Made", (BaseTestEvaluator,), {"id": "made", "evaluate_test_case": lambda *_: None})
    assert fingerprint_object(evaluator_class()).source is None


def test_our_own_classes_have_a_version(monkeypatch: pytest.MonkeyPatch, fingerprint: Any) -> None:
    from scoregate.testing.models import BaseTestEvaluator

    before = fingerprint(BASE)
    monkeypatch.setattr(BaseTestEvaluator, "version", 2, raising=False)
    assert fingerprint(BASE).source != before.source
