"""Values of YAML in both versions, with their lines and their limits."""

from __future__ import annotations

from math import inf, isnan
from typing import Any

import pytest

from scoregate.kernel.types import yaml_document
from scoregate.kernel.types.yaml_document import Value, YamlProblem, parse_yaml


def read(text: str, version: Any = "1.2") -> Any:
    return parse_yaml(text, "f.yaml", version=version).to_plain()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1.5E-1", 0.15),
        (".inf", inf),
        ("-.INF", -inf),
        ("+.Inf", inf),
        ("!!float 3", 3.0),
        ("!!int '7'", 7),
        ("!!str 7", "7"),
        ("!!null ''", None),
        ("no", "no"),
        ("y", "y"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0o18", "0o18"),
        ("0xG", "0xG"),
        ("0b1", "0b1"),
        ("2026-01-31", "2026-01-31"),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
        ("9" * 400, "9" * 400),
        ("nul", "nul"),
        ("'true'", "true"),
        ("=", "="),
    ],
)
def test_plain_values_are_those_of_the_core_schema(text: str, value: Any) -> None:
    found = read(f"a: {text}")["a"]
    assert (found, type(found)) == (value, type(value))


def test_not_a_number_is_a_float() -> None:
    for text in (".nan", ".NaN", ".NAN"):
        assert isnan(read(text))
    assert [type(read(text)) for text in ("12", "12.0")] == [int, float]


def test_the_older_version_reads_as_pyyaml_does() -> None:
    assert read("[no, on, 012, 1:30, 1_000, .5, '', 2026-01-31]", "1.1") == [
        False, True, 10, 90, 1000, 0.5, "", "2026-01-31",
    ]  # fmt: skip
    assert read("a: 1", "1.1") == {"a": 1}


def test_values_have_their_lines_and_texts() -> None:
    document = parse_yaml("# comment\na:\n- 1.50\n- {b: ~,\n   c: x}\nd:\n  'e'\n", "f.yaml")
    assert document == Value(
        2,
        {
            "a": Value(2, [Value(3, 1.5, "1.50"), Value(4, {"b": Value(4, None), "c": Value(5, "x", "x")})]),
            "d": Value(6, "e", "e"),
        },
    )
    assert document.to_plain() == {"a": [1.5, {"b": None, "c": "x"}], "d": "e"}
    assert parse_yaml("\n\n5", "f.yaml") == Value(3, 5, "5")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "f.yaml:1: it is empty"),
        ("# comment", "f.yaml:1: it is empty"),
        ("a: 1\nb: [", "f.yaml:3: it is not YAML: "),
        ("a: 1\na: 2", "f.yaml:2: the key 'a' occurs twice, first in line 1; keep one"),
        (f"{'k' * 90}: 1\n{'k' * 90}: 2", f"f.yaml:2: the key '{'k' * 80}' occurs twice"),
        ("a: 1\n? [b]\n: 2", "f.yaml:2: a key must be a text"),
        ("a: 1\n<<: {b: 2}", "f.yaml:2: the key << is not read; write out what it adds"),
        ("a: &x 1\nb: *x", "f.yaml:2: *x is an alias; write out what it means"),
        ("a:\n- !!int x", "f.yaml:2: 'x' is not a value of its tag"),
        ("a:\n- !!bool yes", "f.yaml:2: 'yes' is not a value of its tag"),
        ("a:\n- !!null x", "f.yaml:2: 'x' is not a value of its tag"),
        ("a:\n- !!float x", "f.yaml:2: 'x' is not a value of its tag"),
        ("a:\n- !!int 1.5", "f.yaml:2: '1.5' is not a value of its tag"),
        (f"a:\n- !!int {'x' * 90}", f"f.yaml:2: '{'x' * 80}' is not a value of its tag"),
        ("a:\n- !!binary x", "f.yaml:2: the tag tag:yaml.org,2002:binary is not known"),
        ("a:\n- !own x", "f.yaml:2: the tag !own is not known"),
        ("a:\n- !own [x]", "f.yaml:2: the tag !own is not known"),
        ("a:\n- !own {x: y}", "f.yaml:2: the tag !own is not known"),
        (f"a: !{'t' * 90} x", f"f.yaml:1: the tag !{'t' * 79} is not known"),
    ],
)
def test_what_cannot_be_read_is_a_problem_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(YamlProblem) as exc_info:
        parse_yaml(text, "f.yaml")
    assert str(exc_info.value).startswith(problem)


def test_documents_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_yaml("[" * 50 + "]" * 50, "f.yaml").line == 1
    with pytest.raises(YamlProblem, match=r"^f\.yaml:1: it has more than 50 levels"):
        parse_yaml("[" * 51 + "]" * 51, "f.yaml")
    assert read("[[1], [2], {a: [3]}]") == [[1], [2], {"a": [3]}]
    monkeypatch.setattr(yaml_document, "MOST_CHARACTERS", 9)
    assert read("[1, 2, 3]") == [1, 2, 3]
    with pytest.raises(YamlProblem, match=r"^f\.yaml: it has more than 9 characters"):
        read("[1, 2, 34]")
    monkeypatch.setattr(yaml_document, "_MOST_VALUES", 4)
    assert read("[1,2,3]") == [1, 2, 3]
    with pytest.raises(YamlProblem, match=r"^f\.yaml:1: it has more than 4 values"):
        read("[1,2,3,4]")
    assert parse_yaml("[1, 2, 3, 4, 5]", "f.yaml", bounded=False).to_plain() == [1, 2, 3, 4, 5]
