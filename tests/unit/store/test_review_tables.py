"""Import and export: they round-trip, no cell is a formula, and errors have row and column."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.store import builders

from scoregate.errors import StoreError
from scoregate.store import OVERRIDES, VERDICTS, Kind, Override
from scoregate.store.review_tables import export_items, import_items

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
HEADER = "original_score,override_score,input,output\n"


def round_trip(items: list[Any], kind: Kind[Any], table: bool) -> list[Any]:
    items = [item.model_copy(update={"created_at": NOON}) for item in items]
    assert import_items(export_items(items, kind, table=table), kind, origin="file", table=table) == items
    return items


@given(st.lists(builders.OVERRIDES, max_size=4, unique_by=lambda item: item.id), st.booleans())
def test_overrides_import(items: list[Override], table: bool) -> None:
    round_trip(items, OVERRIDES, table)


@given(st.lists(builders.VERDICTS, max_size=4, unique_by=lambda item: item.id), st.booleans())
def test_verdicts_import(items: list[Any], table: bool) -> None:
    round_trip(items, VERDICTS, table)


@given(st.lists(builders.OVERRIDES, min_size=1, max_size=3, unique_by=lambda item: item.id))
def test_no_cell_is_a_formula(items: list[Override]) -> None:
    text = export_items(items, OVERRIDES, table=True).decode()
    cells = [cell for row in csv.reader(StringIO(text, newline=""), strict=True) for cell in row]
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t\r") - {""}]


def read(text: str | bytes) -> list[Override]:
    data = text if isinstance(text, bytes) else text.encode()
    return import_items(data, OVERRIDES, origin="a.csv", table=True)


def test_a_plain_table_is_enough() -> None:
    (item,) = read(HEADER + '0,1,Hi,"Hello, you"\n')
    assert [vars(field) for field in item.output_fields] == [{"id": "output", "name": "output", "value": "Hello, you"}]
    assert item.created_at is not None
    assert item.id


def test_plain_columns_are_written_if_enough() -> None:
    items = read(HEADER + "0,1,Hi,Hello\n")
    header = export_items(items, OVERRIDES, table=True).decode().splitlines()[0]
    assert header == (
        "id,by,created_at,original_score,override_score,fingerprint,sampled,threshold,failing_share,input,output,comment"
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_all_delimiters_are_read(delimiter: str) -> None:
    text = (HEADER + "0,1,Hi,Hello\n").replace(",", delimiter).replace("\n", "\r\n")
    assert len(read(b"\xef\xbb\xbf" + text.encode())) == 1


def test_the_same_row_twice_is_one() -> None:
    assert len(read(HEADER + "0,1,Hi,Hello\n\n0,1,Hi,Hello\n")) == 1


def test_a_large_cell_is_read() -> None:
    (item,) = read(HEADER + f"0,1,Hi,{'x' * 1_000_000}\n")
    assert len(item.output_fields[0].value) == 1_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "0,1,a,b\n0,high,a,c\n", "a.csv, row 3: column override_score: must be a valid number"),
        (HEADER + '0,1,"a\nb",b\n0,2,a,c\n', "a.csv, row 3: column override_score: must be less than or equal to 1"),
        (HEADER + "0,,a,b\n", "a.csv, row 2: column override_score: is missing"),
        (HEADER + "0,1,,\n", "a.csv, row 2: an override needs the input or the output"),
        (HEADER + "0,1,a\n", "a.csv, row 2: has 3 cells, but the header has 4"),
        (HEADER + "0,1,a,b\n0,0,a,b\n", "a.csv, row 3: differs from a.csv, row 2"),
        (HEADER + '0,1,a,"b\n', "a.csv, line 2: is not CSV: unexpected end of data"),
        ("original_score,overide_score,input\n", "column 2: 'overide_score' is unknown; did you mean override_score?"),
        ("original_score,override_score,input,input\n", "column 4: 'input' comes twice"),
        ("original_score,input\n", "a.csv, row 1: missing columns: override_score"),
        ("", "a.csv, row 1: missing columns: original_score, override_score"),
        ("original_score,override_score,output_fields\n0,1,hello\n", "row 2: column output_fields: must be JSON, not"),
        ('original_score,override_score,output_fields\n0,1,"[{}]"\n', "row 2: column output_fields (0.id): is missing"),
        ("original_score,override_score,output,output_fields\n0,1,a,[]\n", "only one of them may be filled"),
        (HEADER.replace("input", "threshold") + '0,1,"{""ge"": 1}",b\n', "row 2: column threshold: is no threshold"),
        (HEADER.replace("input", "created_at") + "0,1,noon,b\n", "row 2: column created_at: must be a valid datetime"),
    ],
)
def test_errors_have_row_and_column(text: str, message: str) -> None:
    with pytest.raises(StoreError) as exc_info:
        read(text)
    assert message in exc_info.value.message
    assert "Nothing was imported" in exc_info.value.advice


def test_other_encodings_fail() -> None:
    with pytest.raises(StoreError, match=r"a\.csv is not UTF-8: byte 50"):
        read(HEADER.encode() + b"0,1,a,\xe9\n")


def test_errors_have_file_and_line() -> None:
    good = {"original_score": 0, "override_score": 1, "output_fields": [{"id": "o", "name": "o", "value": "x"}]}
    lines = [json.dumps(good), json.dumps(good | {"override_score": 2})]
    with pytest.raises(StoreError, match=r"a\.jsonl:2: override_score: must be less"):
        import_items("\n".join(lines).encode(), OVERRIDES, origin="a.jsonl", table=False)
