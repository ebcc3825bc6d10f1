"""Samples of lm-evaluation-harness: `samples_TASK_DATE.jsonl`, a line for each document and filter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import Grade, Trial, defined_fields, error, excerpt, name_suite, table, text
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import ResultFile
from scoregate.kernel.run.documents.row_files import FileRow, read_json_lines
from scoregate.kernel.types.event_values import Setup
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.clusters import may_name_cluster
from scoregate.kernel.types.text import parse_number

_NEEDED = ("doc_id", "doc", "target", "resps", "metrics")
_NAME = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d{2}-\d{2}T[\d.-]+$")
_NO_FILTER = "none"


def read(result: ResultFile) -> Iterator[Event]:
    """The events of one task: a case for each document, a score for each metric and filter.

    Raises:
        ImportFailed: it holds no such samples.
    """
    trials = _read_trials(result)
    keys = CaseKeys.of(trials)
    name = PurePath(result.name).name.removesuffix(".jsonl")
    match = _NAME.fullmatch(name)
    task = match["task"] if match else name.removeprefix("samples_")
    suite = Suite(result.suite_id(name_suite(task)), keys)
    yield SuiteStarted(suite=suite.id, sdk="lm-eval", setup=Setup(task, result.stable_name))
    for trial in trials:
        yield from suite.events_of(trial)
    yield SuiteFinished(suite=suite.id)


def _read_trials(result: ResultFile) -> list[Trial]:
    """One trial for each document, with the rows of all its filters."""
    documents: dict[str, list[FileRow]] = {}
    for row in read_json_lines(result.read()):
        if missing := [name for name in _NEEDED if name not in row.values]:
            raise ImportFailed(f"{row.place} has no {missing[0]!r}")
        documents.setdefault(text(row.values["doc_id"]) or row.place, []).append(row)
    filters = {text(row.values.get("filter")) for rows in documents.values() for row in rows}
    return [_read_trial(number, rows, many=len(filters) > 1) for number, rows in documents.items()]


def _read_trial(number: str, rows: list[FileRow], *, many: bool) -> Trial:
    first = rows[0].values
    prompts = [table(each).get("arg_0") for each in table(first.get("arguments")).values()]
    case_input = prompts[0] if prompts and isinstance(prompts[0], str) else first["doc"]
    target = first["target"]
    return Trial(
        "",  # the number of a document is a position
        name=f"{number}: {excerpt(case_input, 80)}",
        own=number,
        input=case_input,
        definition=[first["doc"], target],
        output=_read_output(rows[-1].values),
        metadata={name: value for name, value in table(first["doc"]).items() if may_name_cluster(name)},
        grades=tuple(grade for row in rows for grade in _read_grades(row.values, target, many=many)),
    )


def _read_output(row: Mapping[str, Any]) -> Any:
    """The response after the last filter; the choices with their log-likelihoods if it is not text."""
    responses = row.get("filtered_resps", row["resps"])
    return responses[0] if isinstance(responses, list) and len(responses) == 1 else responses


def _read_grades(row: Mapping[str, Any], target: object, *, many: bool) -> Iterator[Grade]:
    metrics = row["metrics"]
    if not isinstance(metrics, list):
        raise ValueError(f"`metrics` is not an array: {excerpt(metrics, 40)}")
    used = text(row.get("filter"))
    for metric in map(text, metrics):
        name = f"{metric},{used}" if many and used != _NO_FILTER else metric
        metadata = defined_fields(expected=target, response=row.get("filtered_resps") if many else None)
        score = _read_score(row.get(metric))
        if score is None:
            why = f"{metric:.100} is {excerpt(row.get(metric), 80)}, which is not a number, true or false"
            yield Grade(name, error=error("NoScore", why))
        else:
            yield Grade(name, score, metadata=metadata)


def _read_score(value: object) -> float | None:
    """A number; the share of what is true in a verdict or a list of them, as IFEval writes one for each instruction."""
    verdicts = value if isinstance(value, list) else [value]
    if verdicts and all(isinstance(each, bool) for each in verdicts):
        return sum(verdicts) / len(verdicts)
    return parse_number(value)
