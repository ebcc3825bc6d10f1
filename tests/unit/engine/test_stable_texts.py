"""Texts and digests of arguments: the same in each process, and different for different values."""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scoregate.engine.fingerprint import (
    clear_source_cache,
    digest,
    fingerprint_function,
    fingerprint_object,
    sources_by_name,
    stable_text,
)


class Opaque:
    """An object without a JSON form."""


class Broken(dict[str, int]):
    """A foreign object that fails when it is read."""

    def items(self) -> Any:
        raise OSError("closed")


class Settings:
    """An evaluator with public and private attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def test_a_value_is_json_with_names_in_the_place_of_objects() -> None:
    for value, text in (
        ({"b": 1, "a": [1, None, True]}, '{"b":1,"a":[1,null,true]}'),
        ({"c", "a", "b"}, '["a","b","c"]'),
        (digest, "<digest>"),
        (Opaque, "<Opaque>"),
        (Opaque.__init__, "<object.__init__>"),
        (iter([1]), "<list_iterator>"),
        ([Opaque()], '["<Opaque>"]'),
        (Broken(), "<Broken>"),
    ):
        assert stable_text(value) == text


def test_a_digest_has_sixteen_digits_and_depends_on_each_part() -> None:
    assert digest("a") == digest("a")
    assert len(digest("a")) == len(digest()) == 16
    assert len({digest("a"), digest("a", "b"), digest("ab"), digest("\ud800")}) == 4


MODULE = """
def task(first: int, /, *others, key=None) -> str:
    \"\"\"A task.\"\"\"
    return task(first) + nothing() + u'a' + f'{key:>{first}} of {key}'


async def nothing():
    \"\"\"Nothing.\"\"\"


class Outer:
    class Inner:
        pass
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """A module with this source."""
    (tmp_path / "module_of_tests.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("module_of_tests")
    del sys.modules["module_of_tests"]
    clear_source_cache()
    linecache.clearcache()


def test_the_text_of_a_source_is_the_same_in_all_versions(module: ModuleType) -> None:
    """Digests of it are in the records of earlier runs."""
    task, nothing = sources_by_name(module.__name__, "task")
    assert nothing == "AsyncFunctionDef(name='nothing',args=arguments(),body=[Pass()])"
    assert task == (
        "FunctionDef(name='task',args=arguments(posonlyargs=[arg(arg='first')],vararg=arg(arg='others'),"
        "kwonlyargs=[arg(arg='key')],kw_defaults=[Constant()]),body=[Return(value=BinOp(left=BinOp(left=BinOp("
        "left=Call(func=Name(id='task',ctx=Load()),args=[Name(id='first',ctx=Load())]),op=Add(),"
        "right=Call(func=Name(id='nothing',ctx=Load()))),op=Add(),right=Constant(value='a')),op=Add(),"
        "right=JoinedStr(values=[FormattedValue(value=Name(id='key',ctx=Load()),conversion=-1,"
        "format_spec=JoinedStr(values=[Constant(value='>'),FormattedValue(value=Name(id='first',ctx=Load()),"
        "conversion=-1)])),Constant(value=' of '),FormattedValue(value=Name(id='key',ctx=Load()),conversion=-1)])))])"
    )


def test_an_empty_part_of_a_text_is_left_out(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some Python versions have one at the end of a format."""
    expected = list(sources_by_name(module.__name__, "task"))
    parse = ast.parse

    def parse_with_empty_parts(source: str) -> ast.Module:
        tree = parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                node.values.append(ast.Constant(""))
        return tree

    monkeypatch.setattr(ast, "parse", parse_with_empty_parts)
    clear_source_cache()
    assert list(sources_by_name(module.__name__, "task")) == expected


def test_a_changed_module_has_its_new_source_after_the_cache_is_cleared(module: ModuleType) -> None:
    known = list(sources_by_name(module.__name__, "nothing"))
    assert module.__file__ is not None
    Path(module.__file__).write_text("def nothing(): return 5\n", encoding="utf-8")
    linecache.clearcache()
    assert list(sources_by_name(module.__name__, "nothing")) == known
    clear_source_cache()
    (text,) = sources_by_name(module.__name__, "nothing")
    assert "Constant(value=5)" in text


def test_a_class_in_a_class_has_the_source_of_the_outer_one(module: ModuleType) -> None:
    assert list(sources_by_name(module.__name__, "Outer.Inner")) == list(sources_by_name(module.__name__, "Outer"))
    assert fingerprint_object(module.Outer.Inner()).source is not None


@pytest.mark.parametrize("name", ["builtins", "abc", "typing", "typing_extensions"])
def test_bases_of_python_are_no_part_of_a_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    base = type("Base", (), {"__module__": name})

    class Own(base):  # type: ignore[misc, valid-type]
        pass

    assert fingerprint_object(Own()).source is None, "it is made up, so no module has its source"
    monkeypatch.setattr(importlib.import_module(name), "Base", base, raising=False)
    assert fingerprint_object(Own()).source == digest(*sources_by_name(__name__, Own.__qualname__))


def test_a_function_that_calls_itself_has_a_source() -> None:
    def make() -> Any:
        def inner(number: int) -> int:
            return inner(number - 1) if number else 0

        return inner

    assert fingerprint_function(make()).source is not None


def parameters(evaluator: object, **options: Any) -> str | None:
    return fingerprint_object(evaluator, **options).parameters


def test_attributes_count_unless_they_are_private_objects() -> None:
    base = parameters(Settings(limit=1))
    for values, counts in (
        ({"limit": 2}, True),
        ({"limit": 1, "words": ["a"]}, True),
        ({"limit": 1, "_mode": "strict"}, True),  # as a constructor keeps an argument
        ({"limit": 1, "_none": None}, True),
        ({"limit": 1, "_cache": {"a": 1}}, False),
        ({"limit": 1, "_client": Opaque()}, False),
        ({"limit": 1, "__hidden": "x"}, False),
    ):
        assert (parameters(Settings(**values)) != base) is counts, values
    assert parameters(Settings(limit=1, name="x"), ignore=["name"]) == base
    assert parameters(Settings(b=2, a=1)) == parameters(Settings(a=1, b=2))


def test_one_slot_and_an_empty_slot_are_attributes_too() -> None:
    class One:
        __slots__ = "power"  # noqa: PLC0205

    class Two(One):
        __slots__ = ("mode", "unset")

    def make(power: int, mode: str) -> Two:
        two = Two()
        two.power, two.mode = power, mode
        return two

    assert parameters(make(1, "a")) == parameters(make(1, "a"))
    assert len({parameters(make(1, "a")), parameters(make(2, "a")), parameters(make(1, "b"))}) == 3


def test_a_model_is_named_by_the_evaluator_or_by_its_caller() -> None:
    own = fingerprint_object(Settings(model="small"))
    given = fingerprint_object(Settings(model="small"), model="large", prompt="p")
    assert (own.model, own.prompt, given.model, given.prompt) == ("small", None, "large", "p")
    assert own.parameters == given.parameters == parameters(Settings())
    assert fingerprint_object(Settings(model=5)).model is None
    assert parameters(Settings(model=5)) != parameters(Settings())


def test_our_own_functions_have_their_name_as_source() -> None:
    assert fingerprint_function(digest).source == digest("digest")


def test_a_module_without_source_has_no_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nowhere", ModuleType("nowhere"))
    for module in ("nowhere", "never imported"):
        with pytest.raises(LookupError, match=f"{module}.task"):
            list(sources_by_name(module, "task.<locals>.inner"))
    clear_source_cache()


def test_definitions_under_conditions_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    code = """
import contextlib
try:
    import nothing
except ImportError:
    low = 1
else:
    low = 2
finally:
    high = 3
if low:
    mid = 4
else:
    mid = 5
with contextlib.suppress(ValueError):
    text: str = "a"
    bare: int
def task(): return low, high, mid, text, bare, unknown
"""
    (tmp_path / "conditions_of_tests.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import conditions_of_tests  # type: ignore[import-not-found]

    sources = list(sources_by_name(conditions_of_tests.__name__, "task"))
    values = {number for number in range(10) if any(f"Constant(value={number})" in text for text in sources)}
    assert values == {1, 2, 3, 4, 5}
    assert sum("value='a'" in text for text in sources) == 1
    del sys.modules[conditions_of_tests.__name__]
    clear_source_cache()
