"""The fingerprint of a function changes exactly when its results can change."""

from __future__ import annotations

import functools
import importlib
import itertools
import linecache
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine.fingerprint import fingerprint_function
from scoregate.kernel.types.event_values import Fingerprint

BASE = '''
import functools

LIMIT = 0.5


def enough(score):
    return score >= LIMIT


def passes(fields, scorers):
    """All of them."""
    return all(enough(each) for each in scorers)  # none below


def at_least(limit):
    return lambda fields, scorers: min(scorers) >= limit


def through(function):
    def inner(fields, scorers):
        return function(scorers)

    return inner


class Judge:
    def __init__(self, limit=1):
        self.limit = limit

    def passes(self, fields, scorers):
        return len(scorers) > self.limit

    __call__ = passes


def kept(call, name=None):
    @functools.wraps(call)
    def inner(*args):
        return call(*args)

    return inner


@kept
def wrapped(fields, scorers):
    return True


def call(agent, check):
    return check


FOUND = call(lambda text: text, check=lambda fields, scorers: scorers[0] > 0.5)
'''
KINDS = ["passes", "at_least(0.5)", "through(enough)", "Judge().passes", "Judge()", "wrapped", "FOUND",
         "functools.partial(passes, {})"]  # fmt: skip
SAME = {
    "a comment": ("  # none below", ""),
    "a docstring": ('"""All of them."""', '"""Every one."""'),
    "its place in the file": ("LIMIT = 0.5\n", "LIMIT = 0.5\n\n\n\n"),
    "another function of the same line": ("lambda text: text", "lambda text: text.lower()"),
}
SOURCE = {
    "its code": ("passes", "return all(", "return any("),
    "a function that it calls": ("passes", ">= LIMIT", "> LIMIT"),
    "a constant": ("passes", "LIMIT = 0.5", "LIMIT = 0.4"),
    "a lambda": ("FOUND", "scorers[0] > 0.5", "scorers[0] > 0.4"),
    "what a function inside of one calls": ("through(enough)", "score >= LIMIT", "score > LIMIT"),
    "a function inside of one": ("at_least(0.5)", "min(scorers)", "max(scorers)"),
    "a method": ("Judge().passes", "len(scorers)", "sum(scorers)"),
    "an object": ("Judge()", "len(scorers)", "sum(scorers)"),
    "what a decorator wraps": ("wrapped", "return True", "return False"),
    "a decorator": ("wrapped", "return call(*args)", "return not call(*args)"),
    "the function of a partial": ("functools.partial(passes, {})", "return all(", "return any("),
}
PARAMETERS = [
    ("at_least(0.5)", "at_least(0.4)"),
    ("through(enough)", "through(passes)"),
    ("Judge().passes", "Judge(2).passes"),
    ("Judge()", "Judge(2)"),
    ("functools.partial(passes, {})", "functools.partial(passes, {'a': 1})"),
    ("functools.partial(passes)", "functools.partial(passes, scorers=[])"),
]
_numbers = itertools.count()


@pytest.fixture
def fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Fingerprint]]:
    """Fingerprints the value of an expression in a module with this source."""
    monkeypatch.syspath_prepend(tmp_path)
    parameters: list[str] = []

    def load(what: str, source: str = BASE) -> Fingerprint:
        parameters.append(name := f"conditions_{next(_numbers)}")
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        linecache.clearcache()
        return fingerprint_function(eval(what, vars(importlib.import_module(name))))

    yield load
    for name in parameters:
        del sys.modules[name]


def change_source(old: str, new: str) -> str:
    assert old in BASE
    return BASE.replace(old, new)


@pytest.mark.parametrize("what", KINDS)
def test_every_kind_has_one_and_equal_code_keeps_it(fingerprint: Any, what: str) -> None:
    assert None not in (fingerprint(what).source, fingerprint(what).parameters)
    for old, new in SAME.values():
        assert fingerprint(what, change_source(old, new)) == fingerprint(what)


@pytest.mark.parametrize(("what", "old", "new"), SOURCE.values(), ids=SOURCE)
def test_dependencies_change_its_source(fingerprint: Any, what: str, old: str, new: str) -> None:
    assert fingerprint(what, change_source(old, new)).source != fingerprint(what).source


@pytest.mark.parametrize(("one", "other"), PARAMETERS)
def test_arguments_change_its_parameters(fingerprint: Any, one: str, other: str) -> None:
    assert fingerprint(one).parameters != fingerprint(other).parameters


class ModelScorer:
    """A scorer of a user, or of autoevals: it calls the model that it names."""

    def __init__(self, model: str) -> None:
        self.model = model

    def __call__(self, output: str) -> float:
        return float(self.model in output)

    def score(self, output: str) -> float:
        return float(self.model in output)


def test_the_model_of_an_object_is_part_of_its_fingerprint() -> None:
    scorers: list[Callable[[ModelScorer], Callable[[str], float]]] = [lambda each: each, lambda each: each.score]
    for choose in scorers:
        small, large = (fingerprint_function(choose(ModelScorer(model))) for model in ("small", "large"))
        assert (small.model, large.model) == ("small", "large")
        assert small != large


def test_missing_source_is_unknown() -> None:
    scope: dict[str, Any] = {"__name__": "nowhere"}
    exec("def passes(fields, scorers): return True", scope)
    assert fingerprint_function(scope["passes"]).source is None
    assert fingerprint_function(functools.partial(scope["passes"], 1)).source is None
