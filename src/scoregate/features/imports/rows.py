"""Rows of any tool: each is a case, and the settings name the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    Grade,
    Trial,
    defined_fields,
    error,
    excerpt,
    name_suite,
    pass_fail_grade,
    show_position,
    text,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import ResultFile
from scoregate.kernel.run.documents.row_files import FileRow, read_rows
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.event_values import Setup
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import bounded_name, digest, split_position
from scoregate.kernel.types.runs.clusters import may_name_cluster
from scoregate.kernel.types.text import parse_number

_LONGEST_PLACE = 10
_MOST_LISTED = 20
_VERDICTS = {"true": True, "false": False, "pass": True, "fail": False, "passed": True, "failed": False}
# MLflow's columns of a scorer end with this.
_VALUE = "/value"
_MISSING = object()


def read(result: ResultFile) -> Iterator[Event]:
    """The events of a file of rows: one suite, or one for each value of the column `suite`.

    Raises:
        ImportFailed: it holds no such rows, or lacks a column that the settings name.
    """
    columns = result.columns or RowColumns()
    survey = _survey(result)
    scores = _find_scores(survey, columns)
    keys: dict[str, CaseKeys] = {}
    for suite, trial in _read_trials(result, columns, scores, survey.rows):
        keys.setdefault(suite, CaseKeys()).add(trial)
    suites: dict[str, Suite] = {}
    for name, trial in _read_trials(result, columns, scores, survey.rows):
        if name not in suites:
            suites[name] = Suite(result.suite_id(name_suite(name)), keys[name])
            yield SuiteStarted(suite=suites[name].id, sdk="rows", setup=Setup(name, result.stable_name))
        yield from suites[name].events_of(trial)
    for open_suite in suites.values():
        yield SuiteFinished(suite=open_suite.id)


class _Survey(NamedTuple):
    """What all rows of a file have: the columns, and whether a row has a number or a verdict in it."""

    rows: int
    first: Mapping[str, Any]
    columns: Mapping[str, bool]


def _survey(result: ResultFile) -> _Survey:
    """Read all rows: a column may have its first number in the last one.

    Raises:
        ImportFailed: it holds no row, or is damaged.
    """
    rows, first, columns = 0, None, dict[str, bool]()
    for row in read_rows(result):
        rows += 1
        first = row.values if first is None else first
        for name, value in _flatten(row.values):
            if not columns.get(name):
                columns[name] = _parse_score(value) is not None
    if not columns or first is None:
        raise ImportFailed("it holds no row")
    return _Survey(rows, first, columns)


def _find_scores(survey: _Survey, columns: RowColumns) -> tuple[str, ...]:
    """The columns with scores: those that the globs match.

    Raises:
        ImportFailed: no column matches a glob, or a column that the settings name doesn't exist.
    """
    first, names = survey.first, survey.columns
    for setting, column in columns.list_required():
        if column not in names and _find(first, column) is _MISSING:
            raise ImportFailed(
                f"the settings name the column {column!r:.100} ({setting}), but it has only {_list(names)}"
            )
    used = {column for _, column in columns.list_required()}
    numbers = [name for name, is_score in names.items() if is_score and name not in used]
    if not columns.scores:
        raise ImportFailed(
            f"the settings don't name the columns with scores; columns of numbers or verdicts: {_list(numbers)}",
            advice='Name them in the command\'s table: rows = { scores = ["NAME"] }, or as --rows scores=NAME.',
        )
    score_columns: dict[str, None] = {}
    for glob in columns.scores:
        # A name may have characters of a glob, so a column of exactly this name comes first.
        matches = [glob] if glob in names else [name for name in numbers if fnmatchcase(name, glob)]
        # A path may be deeper than the survey looks.
        if not matches and _find(first, glob) is not _MISSING:
            matches = [glob]
        if not matches:
            raise ImportFailed(
                f"no column matches the score {glob!r:.100}; columns of numbers or verdicts: {_list(numbers)}"
            )
        score_columns |= dict.fromkeys(matches)
    return tuple(score_columns)


def _flatten(values: Mapping[str, Any], prefix: str = "", depth: int = 3) -> Iterator[tuple[str, Any]]:
    """The columns, and the members of objects in them as paths."""
    for name, value in values.items():
        yield f"{prefix}{name}", value
        if isinstance(value, Mapping) and depth:
            yield from _flatten(value, f"{prefix}{name}.", depth - 1)


def _list(names: Sequence[str] | Mapping[str, Any]) -> str:
    listed = [f"{name:.100}" for name in islice(names, _MOST_LISTED)]
    return ", ".join(listed) + ("" if len(names) <= _MOST_LISTED else ", …") if listed else "none"


def _read_trials(
    result: ResultFile, columns: RowColumns, scores: tuple[str, ...], rows: int
) -> Iterator[tuple[str, Trial]]:
    """Each row with its suite."""
    repeats = Counter[tuple[str, str]]()
    for row in read_rows(result):
        suite = text(_read_value(row, columns.suite)) or result.stem
        case = text(_read_value(row, columns.case))
        trial = _read_trial(row, columns, scores, case, rows)
        if columns.repeats:
            same = case or digest(trial.definition)
            trial = replace(trial, repeat=repeats[suite, same])
            repeats[suite, same] += 1
        yield suite, trial


def _is_position(case: str, rows: int) -> bool:
    """Whether an id may only be the place of its row: a number up to the number of rows, or a name like `row 3`."""
    return (case.isdecimal() and len(case) < _LONGEST_PLACE and int(case) <= rows) or split_position(case) is not None


def _read_trial(row: FileRow, columns: RowColumns, scores: tuple[str, ...], case: str, rows: int) -> Trial:
    used = [column for _, column in columns.list_required()]
    inputs = {column: _read_value(row, column) for column in columns.input}
    case_input: Any = next(iter(inputs.values())) if len(inputs) == 1 else inputs or None
    expected = _read_value(row, columns.expected)
    others = {name: value for name, value in row.values.items() if name not in {*scores, *used}}
    if not case and not inputs:
        # Without an id and an input, what isn't a result identifies the row.
        case_input, others = others or None, {}
    problem = _read_value(row, columns.error)
    if not case and case_input is None:
        raise ImportFailed(f"{row.place} has neither a case nor an input")
    is_position = case_input is not None and _is_position(case, rows)
    return Trial(
        "" if is_position else case,
        name=show_position(case, case_input) if is_position else case or excerpt(case_input),
        own=case or None,
        input=case_input,
        definition=None if case_input is None and expected is None else [case_input, expected],
        output=_read_value(row, columns.output),
        tags=_read_tags(_read_value(row, columns.tags)),
        grades=tuple(_read_grade(row, name, columns, expected) for name in scores),
        metadata={name: value for name, value in others.items() if may_name_cluster(name)},
        cluster=bounded_name(text(_read_value(row, columns.cluster))) or None,
        error=None if problem in (None, "", False) else error("RowError", excerpt(problem, 2000)),
    )


def _read_grade(row: FileRow, name: str, columns: RowColumns, expected: object) -> Grade:
    value = _find(row.values, name)
    name = name.removesuffix(_VALUE)
    reason = _read_value(row, columns.reason.replace("{score}", name)) if columns.reason else None
    metadata = defined_fields(reason=reason, expected=expected)
    number = _parse_score(value)
    if isinstance(number, bool):
        return pass_fail_grade(name, number, metadata)
    if number is not None and isfinite(number):
        return Grade(name, number, metadata=metadata)
    if value is _MISSING or value is None:
        why = f"{row.place} has no {name!r:.100}"
    else:
        # JSON of Python has numbers that aren't JSON's: NaN.
        shown = str(value) if isinstance(value, float) else repr(excerpt(value, 80))
        why = f"{row.place}: {shown} is not a score"
    return Grade(name, error=error("NoScore", why))


def _parse_score(value: object) -> bool | float | None:
    """A bool, a number, or a text of one; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip()
        if word.casefold() in _VERDICTS:
            return _VERDICTS[word.casefold()]
        try:
            return float(word)
        except ValueError:
            return None
    return parse_number(value)


def _read_tags(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(filter(None, map(text, value)))
    return tuple(filter(None, (each.strip() for each in text(value).split(","))))


def _read_value(row: FileRow, column: str) -> Any:
    """The value in a column; None if the row lacks it, or the settings name none."""
    value = _find(row.values, column) if column else None
    return None if value is _MISSING else value


def _find(values: Mapping[str, Any], column: str) -> Any:
    """The value under a name, or under a path such as `doc.question`."""
    if column in values:
        return values[column]
    value: Any = values
    for name in column.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value
