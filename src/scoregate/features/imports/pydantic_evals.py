"""Reports of pydantic-evals, as `EvaluationReportAdapter.dump_json(report)` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    Grade,
    Scales,
    Trial,
    defined_fields,
    error,
    flag,
    list_rows,
    milliseconds,
    name_suite,
    no_verdict,
    pass_fail_grade,
    read_scales,
    read_table,
    read_tables,
    show_position,
    table,
    text,
    to_unit_scale,
    usage,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.event_values import Setup, SetupPart
from scoregate.kernel.types.events import Errored, Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import split_position
from scoregate.kernel.types.text import parse_number

_NEEDED = ("name", "cases", "failures")
_RUN = re.compile(r" \[(\d{1,9})/\d{1,9}\]$")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of one report: one suite, its runs of a case as repeats.

    Raises:
        ImportFailed: it is not such a report.
        ValueError: it is damaged.
    """
    document = parse_document(result.read()).members()
    if any(name not in document for name in _NEEDED):
        raise ImportFailed(f"it lacks one of {', '.join(_NEEDED)}")
    # The name of the dataset; with several reports, also that of the experiment.
    dataset, experiment = text(_read_value(document, "dataset_name")), text(_read_value(document, "name"))
    names = [dataset or experiment] if result.alone else dict.fromkeys([dataset, experiment])
    scales = read_scales(_read_value(document, "experiment_metadata"))
    keys = CaseKeys.of(_read_trials(document, scales))
    suite = Suite(result.suite_id(name_suite(" / ".join(filter(None, names))) or result.stem), keys)
    setup = Setup(dataset or experiment, result.stable_name, prompt=SetupPart(experiment))
    yield SuiteStarted(suite=suite.id, sdk="pydantic-evals", setup=setup)
    for trial in _read_trials(document, scales):
        yield from suite.events_of(trial)
    for failure in read_tables(_read_value(document, "report_evaluator_failures"), "report_evaluator_failures"):
        suite_error = error(_error_type(failure), failure.get("error_message"), failure.get("error_stacktrace"))
        yield Errored(suite=suite.id, stage="suite", error=suite_error)
    yield SuiteFinished(suite=suite.id)


def _read_trials(document: Mapping[str, Part], scales: Scales) -> Iterator[Trial]:
    for name, fails in (("cases", False), ("failures", True)):
        for case in list_rows(document[name], name):
            yield _make_trial(case, scales, fails=fails)


def _read_value(document: Mapping[str, Part], name: str) -> Any:
    return document[name].value if name in document else None


def _make_trial(case: Mapping[str, Any], scales: Scales, *, fails: bool) -> Trial:
    inputs, name = case.get("inputs"), text(case.get("name"))
    source = text(case.get("source_case_name"))
    run = _RUN.search(name) if source else None
    own = source or name
    metrics = table(case.get("metrics"))
    return Trial(
        own,
        name=show_position(own, inputs) if not own or split_position(own) else own,
        repeat=max(0, int(run[1]) - 1) if run else 0,
        input=inputs,
        definition=[inputs, case.get("expected_output")],
        output=case.get("output"),
        duration_ms=milliseconds(case.get("task_duration")),
        usage=usage(metrics.get("input_tokens"), metrics.get("output_tokens"), cost=metrics.get("cost")),
        grades=tuple(_make_grades(case, scales)),
        metadata=table(case.get("metadata")),
        error=error("TaskFailed", case.get("error_message"), case.get("error_stacktrace")) if fails else None,
    )


def _make_grades(case: Mapping[str, Any], scales: Scales) -> Iterator[Grade]:
    """Assertions as verdicts, scores as scores, failures as errors; the rest is metadata of the first of them."""
    labels = {name: table(label).get("value") for name, label in table(case.get("labels")).items()}
    context = defined_fields(
        labels=labels, metrics=table(case.get("metrics")), attributes=table(case.get("attributes"))
    )
    for name, result in read_table(case.get("assertions"), "assertions").items():
        met = flag(table(result).get("value"))
        if met is not None:
            yield pass_fail_grade(name, met, _read_reason(result) | context)
        else:
            yield no_verdict(name, "its value is neither true nor false")
        context = {}
    for name, result in read_table(case.get("scores"), "scores").items():
        metadata = _read_reason(result) | context
        yield to_unit_scale(Grade(name, parse_number(table(result).get("value")), metadata=metadata), scales)
        context = {}
    for failure in read_tables(case.get("evaluator_failures"), "evaluator_failures"):
        problem = error(_error_type(failure), failure.get("error_message"), failure.get("error_stacktrace"))
        yield Grade(text(failure.get("name")), error=problem)


def _read_reason(result: object) -> dict[str, Any]:
    return defined_fields(reason=table(result).get("reason"))


def _error_type(failure: Mapping[str, Any]) -> str:
    return text(failure.get("error_type")) or "EvaluatorFailed"
