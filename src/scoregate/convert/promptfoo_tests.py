"""The tests of a configuration of promptfoo: lists, files, defaults and combinations of variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from scoregate.convert.conversion import Findings
from scoregate.convert.files import FILE_SCHEME, Source, Unreadable
from scoregate.convert.promptfoo_assertions import parse_assertion
from scoregate.convert.templates import UnsupportedTemplate, fill
from scoregate.kernel.types.records import record

MOST_CASES = 50_000
_MOST_CHARACTERS = 100_000_000
_KEYS = {"description", "vars", "assert", "threshold", "options", "metadata"}
# Options that change how the variables are used, in the place of other values.
_NO_EFFECT = {"tags", "author"}
_TABLES, _DOCUMENTS = (".csv", ".jsonl"), (".json", ".yaml", ".yml")
_ASSERTION_COLUMN = re.compile(r"__expected.*|__metric|__config:__expected\d*:threshold|__(prefix|suffix)")
_TEXT_FILES = (".txt", ".md", ".j2", "")


@record
class Test:
    """A test with one combination of variables.

    Attributes:
        place: where it is.
        description: its description.
        variables: its variables.
        assertions: its assertions, each with its place.
        threshold: the least mean of the assertions' scores; None if each of them must pass.
        grader: the model of its rubrics.
        metadata: metadata of the user.
    """

    __test__ = False  # else pytest takes the class for tests

    place: str
    description: str
    variables: Mapping[str, Any]
    assertions: tuple[tuple[str, Any], ...]
    threshold: float | None
    grader: Any
    metadata: Mapping[str, Any]


def read_tests(config: Mapping[str, Any], source: Source, findings: Findings) -> list[Test]:
    """The tests. Without any, there is one without variables, as in promptfoo.

    Args:
        config: the configuration.
        source: its file.
        findings: receives what is left out.
    """
    default = _read_default(config.get("defaultTest"), source, findings)
    given = config.get("tests")
    items = [{}] if given is None or given == [] else given
    tests: list[Test] = []
    size = 0
    for place, origin, test in _list_tests(items, f"{source.name} tests", source, findings, 0):
        for each in _expand(test, default, place, origin, source, findings):
            size += sum(len(value) for value in each.variables.values() if isinstance(value, str))
            if len(tests) == MOST_CASES or size > _MOST_CHARACTERS:
                limit = f"{MOST_CASES:,} cases" if len(tests) == MOST_CASES else f"{_MOST_CHARACTERS:,} characters"
                findings.leave_out(place, f"there are more than {limit}; the other cases are left out")
                return tests
            tests.append(each)
    return tests


def _read_default(given: Any, source: Source, findings: Findings) -> Mapping[str, Any]:
    place = f"{source.name} defaultTest"
    if isinstance(given, str):
        try:
            given = source.find(given).parse()
        except Unreadable as error:
            findings.leave_out(place, f"{given}: {error}")
            return {}
    if given is not None and not isinstance(given, Mapping):
        findings.leave_out(place, "it is not a mapping")
    return given if isinstance(given, Mapping) else {}


def _list_tests(
    given: Any, place: str, source: Source, findings: Findings, depth: int
) -> Iterator[tuple[str, Source, Mapping[str, Any]]]:
    """The tests with their places and the files that they are in."""
    if isinstance(given, Mapping) and isinstance(given.get("path"), str) and given.keys() <= {"path"}:
        given = given["path"]
    if isinstance(given, str) and depth < 3:
        yield from _read_test_file(given, place, source, findings, depth)
    elif isinstance(given, list) and depth < 3:
        for number, each in enumerate(given):
            item_place = f"{place}[{number}]"
            is_test = isinstance(each, Mapping) and "path" not in each
            yield from (
                [(item_place, source, each)] if is_test else _list_tests(each, item_place, source, findings, depth + 1)
            )
    else:
        findings.leave_out(place, f"tests are mappings or files, not {given!r:.60}")


def _read_test_file(
    reference: str, place: str, source: Source, findings: Findings, depth: int
) -> Iterator[tuple[str, Source, Mapping[str, Any]]]:
    file = source.find(reference)
    try:
        if "*" in reference or "://" in reference.removeprefix(FILE_SCHEME):
            raise Unreadable("only the names of single files are read")
        if file.path.suffix == ".csv":
            for number, row in file.read_rows():
                yield f"{file.name} row {number}", source, _convert_row(row, f"{file.name} row {number}", findings)
        elif file.path.suffix == ".jsonl":
            for number, row in file.read_rows():
                yield f"{file.name}:{number}", source, row
        elif file.path.suffix in _DOCUMENTS:
            content = file.parse()
            yield from _list_tests(
                [content] if isinstance(content, Mapping) else content, file.name, source, findings, depth + 1
            )
        else:
            raise Unreadable("tests are read from .csv, .json, .jsonl and .yaml files, and not made by code")
    except Unreadable as error:
        findings.leave_out(place, f"{reference}: {error}")


def _convert_row(row: Mapping[str, str], place: str, findings: Findings) -> Mapping[str, Any]:
    """The test that a row of a table means."""
    test: dict[str, Any] = {"vars": {}, "metadata": {}, "options": {}}
    for name, cell in row.items():
        if not name.startswith("__"):
            test["vars"][name] = cell
        elif name.startswith("__metadata:"):
            test["metadata"][name.removeprefix("__metadata:")] = cell
        elif name == "__description":
            test["description"] = cell
        elif name in ("__prefix", "__suffix") and cell:
            test["options"][name.removeprefix("__")] = cell
        elif name == "__threshold" and cell.strip():
            test["threshold"] = _read_number(cell, place, findings)
        elif cell.strip() and not _ASSERTION_COLUMN.fullmatch(name):
            findings.leave_out(place, f"the column {name} has no counterpart")
    return {**test, "assert": list(_read_assertions(row, place, findings))}


def _read_assertions(row: Mapping[str, str], place: str, findings: Findings) -> Iterator[Mapping[str, Any]]:
    cells = [cell.strip() for name, cell in row.items() if name.startswith("__expected")]
    for number, cell in enumerate(filter(None, cells), 1):
        assertion = parse_assertion(cell)
        names = (f"__config:__expected{number}:threshold", "__config:__expected:threshold" if number == 1 else "")
        limits = [row[name] for name in names if row.get(name, "").strip()]
        if limits:
            assertion["threshold"] = _read_number(limits[0], place, findings)
        yield {**assertion, "metric": row["__metric"]} if row.get("__metric") else assertion


def _read_number(text: str, place: str, findings: Findings) -> float | None:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not -1e300 < number < 1e300:
        findings.leave_out(place, f"the threshold {text!r:.40} is not a number")
        return None
    return number


def _expand(
    test: Mapping[str, Any],
    default: Mapping[str, Any],
    place: str,
    origin: Source,
    source: Source,
    findings: Findings,
) -> Iterator[Test]:
    """The test with its defaults, once for each combination of its variables."""
    _report_keys(test, place, findings)
    _report_keys(default, f"{source.name} defaultTest", findings)
    variables = {
        **_read_mapping(default, "vars", place, origin, findings),
        **_read_mapping(test, "vars", place, origin, findings),
    }
    own = _list_assertions(test.get("assert"), f"{place}.assert", findings)
    shared = _list_assertions(default.get("assert"), f"{source.name} defaultTest.assert", findings)
    options = {**_read_options(default), **_read_options(test)}
    assertions = own if _read_options(test).get("disableDefaultAsserts") is True else (*shared, *own)
    limit = test.get("threshold") if test.get("threshold") is not None else default.get("threshold")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float)):
        findings.leave_out(place, f"its threshold is {limit!r:.40}, no number")
        limit = None
    metadata = {**_get_mapping(default, "metadata"), **_get_mapping(test, "metadata")}
    for combination in _combine(variables):
        try:
            filled = {name: _resolve(name, combination, origin) for name in combination}
        except (UnsupportedTemplate, Unreadable) as error:
            findings.leave_out(place, f"{error}: the test is left out")
            continue
        yield Test(
            place, str(test.get("description") or ""), filled, assertions, limit, options.get("provider"), metadata
        )


def _report_keys(test: Mapping[str, Any], place: str, findings: Findings) -> None:
    for name in sorted(test.keys() - _KEYS - _NO_EFFECT):
        findings.leave_out(f"{place}.{name}", "this setting of a test has no counterpart")
    for name in sorted(_read_options(test).keys() - {"provider", "disableDefaultAsserts"}):
        findings.leave_out(f"{place}.options.{name}", "this option of a test has no counterpart")


def _read_options(test: Mapping[str, Any]) -> Mapping[str, Any]:
    return _get_mapping(test, "options")


def _get_mapping(test: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    mapping = test.get(name)
    return mapping if isinstance(mapping, Mapping) else {}


def _read_mapping(
    test: Mapping[str, Any], name: str, place: str, source: Source, findings: Findings
) -> Mapping[str, Any]:
    """The variables of a test, which may be in a file."""
    mapping = test.get(name)
    try:
        if isinstance(mapping, str):
            mapping = source.find(mapping).parse()
        if mapping is not None and not isinstance(mapping, Mapping):
            raise Unreadable("it is not a mapping")
    except Unreadable as error:
        findings.leave_out(f"{place}.{name}", str(error))
    return mapping if isinstance(mapping, Mapping) else {}


def _list_assertions(given: Any, place: str, findings: Findings) -> tuple[tuple[str, Any], ...]:
    if given is not None and not isinstance(given, list):
        findings.leave_out(place, "it is not a list")
    return tuple((f"{place}[{number}]", each) for number, each in enumerate(given)) if isinstance(given, list) else ()


def _combine(variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each combination of the values of variables. Only a list that starts with a text has several values."""
    values = [
        each if isinstance(each, list) and each and isinstance(each[0], str) else [each] for each in variables.values()
    ]
    for combination in product(*values):
        yield dict(zip(variables, combination, strict=True))


def _resolve(name: str, variables: Mapping[str, Any], source: Source) -> Any:
    """The value of a variable: the content of a file, or a text with other variables put in."""
    value = variables[name]
    if isinstance(value, str) and value.startswith("package:"):
        raise Unreadable(f"the variable {name} is made by code")
    if not isinstance(value, str) or not value.startswith(FILE_SCHEME):
        return fill(value.removesuffix("\n"), variables) if isinstance(value, str) else value
    file = source.find(value)
    try:
        if file.path.suffix in (".yaml", ".yml"):
            return json.dumps(file.parse(), ensure_ascii=False, separators=(",", ":"))
        if file.path.suffix in _TEXT_FILES or file.path.suffix in (".json", ".csv", ".html", ".xml"):
            return file.read().strip()
        raise Unreadable(f"a file {file.path.suffix} is not text")
    except Unreadable as error:
        raise Unreadable(f"the variable {name}, {value:.80}: {error}") from None
