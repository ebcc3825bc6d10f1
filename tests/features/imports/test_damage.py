"""Whatever is done to a result file, it is read or refused in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.features.imports.files import DATA, FORMATS, Imported, imported, imported_file, raw

from scoregate.errors import ImportFailed
from scoregate.features.imports.reader import IMPORTERS
from scoregate.kernel.types.runs.cases import Status

FILES = st.sampled_from(sorted(FORMATS))
# Parts of JSON and XML, besides any bytes, so that damaged files can have valid syntax.
PIECES = st.sampled_from(
    [b"null", b"[]", b"{}", b'""', b"-1", b"1e999", b"NaN", b"true", b'"x"', b"<a/>", b"&lt;"]
) | st.binary(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TRIES = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def check_import(name: str, data: bytes) -> None:
    """It is read, or refused in words; anything else raises here."""
    with suppress(ImportFailed):
        imported_file(name, data)


# Results that other tools write next to the verdicts, or instead of them. Their absence is no damage.
OPTIONAL = ("flaky", "status", "failureMessages", "reason", "value", "columns")


def find_paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path to each value in a document."""
    if path:
        yield path
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from find_paths(each, (*path, key))


def count_bad(run: Imported) -> int:
    """The number of trials that failed or have an error, and of errors of suites."""
    bad = sum(case.status in (Status.FAILED, Status.ERRORED) for case in run.cases)
    return bad + sum(len(suite.errors) for suite in run.suites.values())


@TRIES
@given(st.sampled_from([name for name in sorted(FORMATS) if name.endswith(".json")]), st.data())
def test_a_value_of_a_wrong_type_hides_no_failure(name: str, data: st.DataObject) -> None:
    document = raw(name)
    bad = count_bad(imported_file(name))
    path = data.draw(st.sampled_from([each for each in find_paths(document) if not {*each} & {*OPTIONAL}]))
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = data.draw(st.sampled_from(["x", 0]))
    with suppress(ImportFailed):
        assert count_bad(imported_file(name, json.dumps(document).encode())) >= bad


@TRIES
@given(FILES, st.data())
def test_a_truncated_file(name: str, data: st.DataObject) -> None:
    content = (DATA / name).read_bytes()
    check_import(name, content[: data.draw(st.integers(0, len(content)))])


@TRIES
@given(FILES, st.data())
def test_a_file_with_changed_bytes(name: str, data: st.DataObject) -> None:
    content = (DATA / name).read_bytes()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = start + data.draw(st.integers(0, 20))
        content = content[:start] + data.draw(PIECES) + content[end:]
    check_import(name, content)


@TRIES
@given(st.sampled_from([name for name in sorted(FORMATS) if name.endswith(".json")]), st.data())
def test_a_file_with_changed_values(name: str, data: st.DataObject) -> None:
    content = (DATA / name).read_text(encoding="utf-8")
    members = list(re.finditer(r'(?<=": )("[^"\\]*"|[\d.]+|true|false|null|\{\}|\[\])(?=,?\n)', content))
    for _ in range(data.draw(st.integers(1, 4))):
        member = data.draw(st.sampled_from(members))
        content = content[: member.start()] + json.dumps(data.draw(JSON)) + content[member.end() :]
        members = members[: members.index(member)] or members[:1]
    check_import(name, content.encode())


@TRIES
@given(st.sampled_from([name for name in sorted(FORMATS) if name.endswith(".json")]), st.data())
def test_a_file_with_changed_types(name: str, data: st.DataObject) -> None:
    content = raw(name)
    at = content
    for _ in range(data.draw(st.integers(1, 6))):
        keys = list(at) if isinstance(at, dict) else range(len(at))
        key = data.draw(st.sampled_from(keys)) if keys else None
        if key is None or not isinstance(at[key], dict | list):
            break
        above, last, at = at, key, at[key]
    else:
        key = None
    if key is None:
        above[last] = data.draw(JSON)
    else:
        at[key] = data.draw(JSON)
    check_import(name, json.dumps(content).encode())


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("format_name", IMPORTERS)
def test_a_file_of_another_format_is_refused(name: str, format_name: str) -> None:
    if FORMATS[name] != format_name:
        with pytest.raises(ImportFailed, match=f"can't be imported as results of {format_name}") as failure:
            imported(format_name, (DATA / name).read_bytes())
        assert "are written by" in failure.value.advice


@pytest.mark.parametrize("format_name", IMPORTERS)
@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"null", b"<testsuites/>", b"PK\x03\x04", b'{"a":' * 100_000, b"\xff\xfe"]
)
def test_an_empty_file_is_refused(format_name: str, data: bytes) -> None:
    with pytest.raises(ImportFailed):
        imported(format_name, data)


def test_an_error_has_its_place_in_the_file() -> None:
    content = (DATA / "ctrf-jest.json").read_bytes()
    lines = content.split(b"\n")
    other = b"\n".join([*lines[:4], b"\xff", *lines[5:]])
    for name, data, message in (
        ("ctrf-jest.json", b"\n".join(lines[:5]), "line 5, column"),
        ("ctrf-jest.json", other, "line 6, column 16: the key of an object is not text"),
        ("deepeval.json", b'{"testCases": [\n{"name": "a",\n "input": nul}]}', "line 3, column 11: Expecting value"),
        ("lm-eval.jsonl", b'{}\n{"a', "line 1 has no 'doc_id'"),
        (
            "rows-mlflow.json",
            b'{"columns": ["a"],\n"data": [[1],\n[2\n]',
            "line 4, column 2: it ends before it is complete",
        ),
    ):
        with pytest.raises(ImportFailed, match=re.escape(message)):
            imported_file(name, data)
