"""Mistakes in the data of suites."""

from __future__ import annotations

from tools.mistakes.mistake import FILE, Mistake, edit

_DATA = 'data=[{"input": "When do you open?", "expected": "9"}]'


def _read(data: str, **files: str) -> dict[str, str]:
    """A suite that reads its data in another way, and the files that it reads."""
    return {**edit(_DATA, f"data={data}"), **{name.replace("_", "."): text for name, text in files.items()}}


_ROWS = """

async def rows():
    yield {"input": "When do you open?", "expected": "9"}
    raise ConnectionError("the database closed the connection")

"""

MISTAKES = (
    Mistake("The file of the data doesn't exist.", _read('"case.csv"')),
    Mistake("The path of the data has no suffix.", _read('"cases"', cases_csv="input\na\n")),
    Mistake("The list of cases is empty.", _read("[]")),
    Mistake("A CSV file has only a header.", _read('"cases.csv"', cases_csv="input,expected\n")),
    Mistake("The data are one case instead of a list.", _read('{"input": "When do you open?"}')),
    Mistake(
        "Two cases have the same `id`.",
        _read('[{"id": 1, "input": "a", "expected": "9"}, {"id": 1, "input": "b", "expected": "9"}]'),
    ),
    Mistake(
        "Two cases have the same input.", _read('[{"input": "a", "expected": "9"}, {"input": "a", "expected": "17"}]')
    ),
    Mistake(
        "A row of a CSV file has too few cells.",
        _read('"cases.csv"', cases_csv='input,expected\n"When?",9\nAnd close?\n'),
    ),
    Mistake("Two columns of a CSV file have the same name.", _read('"cases.csv"', cases_csv="input,input\na,9\n")),
    Mistake("A JSON file has the cases below a key.", _read('"cases.json"', cases_json='{"cases": [{"input": "a"}]}')),
    Mistake("A JSON file isn't valid.", _read('"cases.json"', cases_json='[{"input": "a", "expected": "9"}\n')),
    Mistake(
        "A line of a JSON lines file isn't valid.",
        _read('"cases.jsonl"', cases_jsonl='{"input": "a", "expected": "9"}\n{"input": "b"\n'),
    ),
    Mistake("A YAML file isn't valid.", _read('"cases.yaml"', cases_yaml="- input: a\n  expected: [9\n")),
    Mistake(
        "An async generator raises.",
        {FILE: edit(_DATA, "data=rows()")[FILE].replace("\n\nevaluate(", f"{_ROWS}\nevaluate(")},
    ),
    Mistake(
        "The generator isn't called.",
        {FILE: edit(_DATA, "data=rows")[FILE].replace("\n\nevaluate(", f"{_ROWS}\nevaluate(")},
    ),
    Mistake("A field is misspelled.", edit('"expected"', '"expcted"')),
    Mistake("Tags aren't texts.", _read('[{"input": "a", "expected": "9", "tags": [1]}]')),
    Mistake("`cluster` names no field.", edit("task=answer", 'task=answer,\n    cluster="family"')),
)
