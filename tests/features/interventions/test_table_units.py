"""Units of files that hold data."""

from __future__ import annotations

import csv
import io
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.features.interventions.units import apply, mutate

from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.units import explain_skipped, find_units

TRIES = settings(max_examples=80, deadline=None)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def without_each(rows: list[Any]) -> list[list[Any]]:
    return [[*rows[:at], *rows[at + 1 :]] for at in range(len(rows))]


def delete_each(path: str, text: str) -> list[str]:
    """The file after the deletion of each unit."""
    return [apply(text, unit) for unit in find_units(path, text.encode())]


@TRIES
@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 2]), st.booleans())
def test_a_deleted_element_of_json_leaves_all_others(rows: list[Any], indent: int | None, is_ascii: bool) -> None:
    text = json.dumps(rows, indent=indent, ensure_ascii=is_ascii)
    assert [json.loads(each) for each in delete_each("a.json", text)] == without_each(rows)


@TRIES
@given(st.lists(VALUES, max_size=5))
def test_a_deleted_line_of_json_lines_leaves_all_others(rows: list[Any]) -> None:
    lines = [json.dumps(row) for row in rows]
    mutants = delete_each("a.jsonl", "\n".join(lines))
    assert [each.split("\n") if each else [] for each in map(str.rstrip, mutants)] == without_each(lines)


@TRIES
@given(VALUES)
def test_each_unit_of_json_changes_what_is_read(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for unit in find_units("a.json", text.encode(), [*Operator]):
        assert json.loads(apply(text, unit)) != json.loads(text)


@TRIES
@given(st.lists(st.lists(TEXTS.map(lambda text: text + "x"), min_size=2, max_size=3), min_size=1, max_size=6))
def test_a_deleted_row_of_csv_leaves_the_header_and_all_others(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["question", "answer"], *rows])
    mutants = delete_each("a.csv", file.getvalue())
    left = [list(csv.reader(io.StringIO(each, newline=""))) for each in mutants]
    assert left == [[["question", "answer"], *each] for each in without_each(rows)]


def write_toml(value: Any) -> str:
    return f"[{', '.join(map(write_toml, value))}]" if isinstance(value, list) else json.dumps(value)


CELLS = st.integers(-99, 99) | st.booleans() | st.text("ab é\"'#]},=\n", max_size=30)


@TRIES
@given(st.lists(st.dictionaries(st.sampled_from("abc"), CELLS | st.lists(CELLS, max_size=3)), max_size=5), st.data())
def test_a_deleted_table_of_toml_leaves_all_others(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    text = "# comment\n"
    for row in rows:
        text += "[[entry]]\n" + "".join(f"{key} = {write_toml(value)} # why\n" for key, value in row.items())
        text += "\n" * data.draw(st.integers(0, 2))
    mutants = delete_each("a.toml", text)
    # Without its only table, the file has no list.
    assert [tomllib.loads(each)["entry"] for each in mutants] == (without_each(rows) if len(rows) > 1 else [])
    for unit in find_units("a.toml", text.encode(), [*Operator]):
        assert tomllib.loads(apply(text, unit)) != tomllib.loads(text)


def test_each_entry_of_the_support_bot_is_a_unit() -> None:
    content = (Path(__file__).parents[3] / "examples" / "support_bot" / "faq.toml").read_bytes()
    rows = find_units("faq.toml", content)
    assert len(rows) == 31
    assert all(unit.text.startswith("[[entry]]") for unit in rows)


def test_what_is_left_of_a_file_stays_as_it_is() -> None:
    json_text = '{\n  "temperature": 0,\n  "tools": [\n    {"name": "a"},\n    {"name": "b"}\n  ]\n}\n'
    assert mutate("a.json", json_text) == {
        '"temperature": 0': json_text.replace('"temperature": 0,\n  ', ""),
        '{"name": "a"}': json_text.replace('{"name": "a"},\n    ', ""),
        '{"name": "b"}': json_text.replace(',\n    {"name": "b"}', ""),
    }
    toml_text = '# top\n[model]\nname = "x" # why\n\n[model.limits]\nat = 12:30:00\ntokens = 5\n'
    assert mutate("a.toml", toml_text) == {
        'name = "x"': toml_text.replace('name = "x" # why\n', ""),
        "tokens = 5": toml_text.replace("tokens = 5\n", ""),
    }


def test_of_rows_long_texts_are_units_and_numbers_can_change() -> None:
    tools = [{"type": "function", "strict": True, "limit": 5, "description": "Looks up an order by its number."}]
    text = json.dumps(tools)
    description = '"description": "Looks up an order by its number."'
    assert list(mutate("tools.json", text)) == [text[1:-1], description]
    assert mutate("tools.json", text, Operator.EMPTY) == {
        description: text.replace("Looks up an order by its number.", "")
    }
    assert mutate("tools.json", text, Operator.NUMBER) == {'"limit": 5': text.replace("5", "10")}


def test_parts_of_a_prompt_in_yaml_are_units() -> None:
    text = """\
# of the bot
system: |
  You are a bot.

  - Always greet.
  - Never guess.
model: gpt-4  # pinned
examples:
  - input: hello
    output: "Good morning, how can I help?"

  - input: bye
    output: Bye!
tags: [a, b]
"""
    mutants = mutate("config.yaml", text)
    assert mutants["Always greet."] == text.replace("  - Always greet.\n", "")
    assert mutants["Never guess."] == text.replace("  - Never guess.\n", "")
    assert mutants["model: gpt-4"] == text.replace("model: gpt-4  # pinned\n", "")
    assert mutants["input: bye\n    output: Bye!"] == text.replace("  - input: bye\n    output: Bye!\n", "")
    assert mutants["b"] == text.replace(", b", "")
    assert "tags: [a, b]" not in mutants


def test_parts_of_a_prompt_in_toml_are_units() -> None:
    text = 'system = """\nYou are a bot.\n\nNever guess.\n"""\n'
    assert mutate("config.toml", text) == {
        "You are a bot.": text.replace("You are a bot.\n\n", ""),
        "Never guess.": text.replace("\nNever guess.\n", ""),
    }


def test_yaml_with_aliases_has_no_units() -> None:
    assert "is an alias" in explain_skipped("a.yaml", b"a: &x text\nb: *x\n")
    assert find_units("a.yaml", b"a: &x text\nb: *x\n") == []


def test_without_its_package_yaml_has_no_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert "YAML needs the package PyYAML" in explain_skipped("a.yaml", b"- a\n- b\n")
    assert find_units("a.yaml", b"- a\n- b\n") == []


def test_units_that_a_file_cannot_lose_are_left_out() -> None:
    """Without its only key, a mapping of YAML is null, and no longer a mapping."""
    assert list(mutate("a.yaml", "a:\n  b: text\nc: more\n")) == ["c: more"]
    # Without the last [[a]], [a.sub] belongs to the one before.
    assert list(mutate("a.toml", "[[a]]\n[[a]]\n[b]\n[a.sub]\nx = 1\n")) == ["[[a]]"]
