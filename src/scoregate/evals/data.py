"""The data of a suite: items in code, files, datasets of the store, and iterables, async too."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from dataclasses import replace
from io import IOBase
from pathlib import Path
from typing import Any

from scoregate.engine.sync import run_sync
from scoregate.errors import InvalidSuite
from scoregate.evals.media_files import find_root, open_media
from scoregate.evals.rows import INPUTS, Row, is_pydantic_evals_object, make_row

_FILES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")
_TABLES = (".csv", ".tsv")
# How a DataFrame of polars and of pandas lists its rows.
_TABLE_METHODS = {"to_dicts": "", "to_dict": '"records"'}


def read_data(data: Any, folder: Path | None, problems: list[str]) -> list[Row]:
    """The rows of the data. Items that are no case are left out.

    Args:
        data: items, a path, or the name of a dataset.
        folder: the folder of the calling file, where a relative path is looked for after the working directory.
        problems: receives a text for each item that can't be read, and for data that can't be read.
    """
    try:
        if isinstance(data, Path) or (isinstance(data, str) and data.lower().endswith(_FILES)):
            rows = list(_read_file(Path(data), folder, problems))
        elif isinstance(data, str):
            rows = list(_read_dataset(data))
        else:
            rows = list(_make_rows(_list_items(data), problems))
        return list(_require_equal_inputs(rows, problems))
    except Exception as error:  # an iterable of the user may raise anything
        advice = getattr(error, "advice", "")
        message = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
        problems.append(f"the data can't be read: {message}{'. ' if advice else ''}{advice}")
        return []


def _require_equal_inputs(rows: list[Row], problems: list[str]) -> Iterator[Row]:
    """The rows that have an input, if any row has one: a row without it is most likely misspelled."""
    has_inputs = any(row.has_input for row in rows)
    for row in rows:
        if has_inputs and not row.has_input:
            names = ", ".join(repr(name) for name in row.fields)
            problems.append(f"{row.place} has no field 'input', which other cases have; it has {names:.200}")
        else:
            yield row


def _list_items(data: Any) -> list[Any]:
    if isinstance(data, AsyncIterable):

        async def read() -> list[Any]:
            return [item async for item in data]

        return run_sync(read)
    if callable(data) and not isinstance(data, Iterable):
        name = getattr(data, "__name__", type(data).__name__)
        raise InvalidSuite(
            f"data is the function {name:.60}, not what it returns", advice=f"Call it: data={name:.60}()"
        )
    for method, options in _TABLE_METHODS.items():
        if callable(getattr(data, method, None)) and type(data).__name__ == "DataFrame":
            raise InvalidSuite(
                "data is a DataFrame, which lists its columns and not its rows",
                advice=f"Give its rows: data=frame.{method}({options})",
            )
    if isinstance(data, IOBase):
        raise InvalidSuite("data is an open file, which lists lines and not cases", advice="Give the path of the file")
    if is_pydantic_evals_object(data) and hasattr(data, "cases"):
        raise InvalidSuite(
            f"data is a {type(data).__name__} of pydantic_evals, not its cases",
            advice="Give data=dataset.cases, and scorers=dataset.evaluators",
        )
    is_object = isinstance(getattr(type(data), "model_fields", None), Mapping)  # pydantic's models iterate over fields
    if not isinstance(data, Iterable) or isinstance(data, Mapping | bytes) or is_object:
        raise InvalidSuite(
            f"data must be a list of cases, a path, the name of a dataset or an iterable, not {data!r:.100}"
        )
    return list(data)


def _make_rows(items: Iterable[Any], problems: list[str]) -> Iterator[Row]:
    for number, item in enumerate(items, 1):
        place = f"case {number}"
        try:
            yield _stored_row(item, place) or make_row(item, place)
        except Exception as error:  # properties of the user's classes may raise anything
            problems.append(f"{place}: {error}")


def _stored_row(item: Any, place: str) -> Row | None:
    """The row of an example of a dataset; None for any other item."""
    if type(item).__module__ != "scoregate.datasets.schema":
        return None
    row = make_row(item.properties, place)
    # An id that was generated is another one in the next run.
    return replace(row, case=item, item_id=str(item.example_id) if isinstance(item.example_id, int) else None)


def _read_file(path: Path, folder: Path | None, problems: list[str]) -> Iterator[Row]:
    from scoregate.datasets.files import read_rows

    if not path.is_absolute() and not path.exists() and folder is not None and (folder / path).exists():
        path = folder / path
    root = find_root(path.parent)
    for place, row in read_rows(path):
        if isinstance(row, str):
            problems.append(f"{place}: {row}")
            continue
        # An empty cell is not a value, except that of the input.
        is_table = path.suffix.lower() in _TABLES
        fields = {name: cell for name, cell in row.items() if cell != "" or name in INPUTS} if is_table else row
        try:
            yield make_row(_open_fields(fields, path.parent, root), place)
        except ValueError as error:
            problems.append(f"{place}: {getattr(error, 'message', error)}")


def _open_fields(row: Mapping[str, Any], folder: Path, root: Path) -> dict[str, Any]:
    return {name: open_media(value, folder, root) for name, value in row.items()}


def _read_dataset(name: str) -> Iterator[Row]:
    from scoregate.datasets.client import Datasets
    from scoregate.store import current_store

    try:
        dataset = Datasets(current_store()).get(name)
    except Exception as error:
        advice = f"For a file, give a path that ends in {', '.join(_FILES)}. `scoregate dataset ls` lists datasets."
        message = str(getattr(error, "message", error))
        named = message if repr(name)[:100] in message else f"the dataset {name!r:.100}: {message}"
        raise InvalidSuite(named, advice=advice) from None
    root = find_root(Path.cwd())
    for example in dataset:
        row = _stored_row(example, f"example {example.example_id}")
        if row is not None:
            yield replace(row, fields=_open_fields(row.fields, root, root))
