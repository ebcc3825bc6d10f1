"""The data of a suite: files, datasets of the store, iterables."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scoregate import Client, evaluate
from scoregate.datasets import Example

ROWS = [{"input": "When?", "expected": "9", "id": "a"}, {"input": "Where?", "expected": "Bern", "id": "b"}]


def outputs(data: Any) -> dict[str, Any]:
    result = evaluate("demo", data=data, task=lambda input, expected: [input, expected])  # noqa: A006
    assert [error.message for error in result.errors] == []
    return {case.hash: case.output for case in result.cases}


EXPECTED = {"a": ["When?", "9"], "b": ["Where?", "Bern"]}


def test_files_of_each_format_give_the_same_cases(project: Path) -> None:
    files = {
        "rows.csv": "id,input,expected\na,When?,9\nb,Where?,Bern\n",
        "rows.tsv": "id\tinput\texpected\na\tWhen?\t9\nb\tWhere?\tBern\n",
        "rows.json": json.dumps(ROWS),
        "rows.jsonl": "\n".join(map(json.dumps, ROWS)),
        "rows.yaml": "- {id: a, input: 'When?', expected: '9'}\n- {id: b, input: 'Where?', expected: Bern}\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
        assert outputs(name) == EXPECTED, name
        assert outputs(project / name) == EXPECTED, name


def test_iterables_and_datasets_give_the_same_cases() -> None:
    def generate() -> Iterator[Any]:
        yield from ROWS

    async def generate_later() -> AsyncIterator[Any]:
        for row in ROWS:
            yield row

    dataset = Client().datasets.create("golden", examples=ROWS)
    for data in (ROWS, tuple(ROWS), generate(), generate_later(), "golden", dataset, iter(dataset)):
        assert outputs(data) == EXPECTED


def test_a_case_from_a_dataset_keeps_the_id_of_its_item() -> None:
    Client().datasets.create("golden", examples=ROWS)
    result = evaluate("demo", data="golden", task=lambda input: input)  # noqa: A006
    assert {case.hash: case.dataset_item_id for case in result.cases} == {"a": "1", "b": "2"}


def test_a_generated_id_of_an_example_is_no_id_of_an_item() -> None:
    data = [Example.create(**row) for row in ROWS]
    result = evaluate("demo", data=data, task=lambda input: input)  # noqa: A006
    assert {case.hash: case.dataset_item_id for case in result.cases} == {"a": None, "b": None}


class DataFrame(dict[str, Any]):
    """Like in pandas, an iterable of the names of its columns."""

    def to_dict(self, orient: str) -> Any:
        raise AssertionError(orient)


def test_a_data_frame_and_an_open_file_are_no_lists_of_cases(project: Path) -> None:
    (project / "rows.jsonl").write_text('{"input": "a"}\n')
    with (project / "rows.jsonl").open() as file:
        for data, advice in (
            (
                DataFrame(input=["a"], expected=["b"]),
                'columns and not its rows. Give its rows: data=frame.to_dict("records")',
            ),
            (file, "lists lines and not cases. Give the path of the file"),
        ):
            result = evaluate("demo", data=data, task=lambda input: input)  # noqa: A006
            (error,) = result.errors
            assert error.message.endswith(advice)
            assert not len(result.cases)


def test_a_file_without_cases_is_named(project: Path) -> None:
    (project / "rows.csv").write_text("input,expected\n")
    result = evaluate("demo", data="rows.csv", task=lambda input: input, scorers=bool)  # noqa: A006
    assert [error.message for error in result.errors] == ["suite 'demo': the data 'rows.csv' has no cases"]


def test_an_empty_cell_is_no_value_and_tags_are_separated_by_commas(project: Path) -> None:
    (project / "rows.csv").write_text('input,expected,tags\nWhen?,,"hours, critical"\n')
    result = evaluate("demo", data="rows.csv", task=lambda input: input, scorers=lambda expected: expected is None)  # noqa: A006
    assert result.passed
    (case,) = result.cases
    assert (case.tags, case.input) == (("hours", "critical"), {"input": "When?"})


def test_invalid_rows_and_duplicates_are_reported_with_their_place(project: Path) -> None:
    (project / "rows.jsonl").write_text('{"input": "a"}\n[1]\n{"input": "a"}\n')
    result = evaluate("demo", data="rows.jsonl", task=lambda input: input)  # noqa: A006
    invalid, duplicate = (error.message for error in result.errors)
    assert "rows.jsonl:2" in invalid
    assert "rows.jsonl:3 is left out: it has the input of rows.jsonl:1" in duplicate


def test_a_row_without_the_input_of_the_others_is_reported_and_an_empty_cell_is_an_empty_input(project: Path) -> None:
    rows = [{"input": "a"}, {"inpt": "b", "id": "2"}]
    result = evaluate("demo", data=rows, task=lambda input: input)  # noqa: A006
    (error,) = result.errors
    assert error.message.endswith("case 2 has no field 'input', which other cases have; it has 'inpt', 'id'")
    assert [case.output for case in result.cases] == ["a"]
    (project / "rows.csv").write_text("id,input,note\n1,a,x\n2,,y\n")
    assert sorted(outputs_of("rows.csv")) == ["", "a"]


def outputs_of(data: Any) -> list[Any]:
    return [case.output for case in evaluate("demo", data=data, task=lambda input: input).cases]  # noqa: A006


def test_a_dataset_object_and_cases_with_their_own_evaluators_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("pydantic_evals.dataset")
    source = """
from dataclasses import dataclass, field
@dataclass
class Case:
    inputs: object
    evaluators: tuple = ()
@dataclass
class Dataset:
    cases: list
"""
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(source, vars(module))
    cases = [module.Case("a"), module.Case("b", evaluators=(print,))]
    for data, message in (
        (cases, "case 2: it has evaluators of its own, which are not run: give them as scorers of all cases"),
        (module.Dataset(cases), "the data can't be read: data is a Dataset of pydantic_evals, not its cases"),
    ):
        result = evaluate("demo", data=data, task=lambda inputs: inputs)
        assert message in result.errors[0].message
        assert not result.passed


def test_cases_are_named_by_input_and_never_by_expected_values() -> None:
    rows = {
        "When?": {"expected": "Yes", "input": "When?"},
        '{"q":"When?"}': {"expected": "Yes", "input": {"q": "When?"}},
        "question": {"expected": "Yes", "topic": "question"},
        'find_hours {"day":"Monday"}': {"tool": "find_hours", "arguments": {"day": "Monday"}, "expected": "9"},
        "a": {"id": "a", "input": "When?"},
    }
    for name, row in rows.items():
        (case,) = evaluate("demo", data=[row], task=lambda **fields: str(fields)).cases
        assert case.name == name
