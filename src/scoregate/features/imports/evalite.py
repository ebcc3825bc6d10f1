"""Evalite's results, as `evalite run --outputPath FILE` writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    Grade,
    Trial,
    count,
    defined_fields,
    error,
    excerpt,
    list_rows,
    name_suite,
    read_tables,
    table,
    tables,
    text,
    usage,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo, Origin, Setup
from scoregate.kernel.types.events import Errored, Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import digest
from scoregate.kernel.types.text import parse_amount, parse_number

_SUCCESS, _FAIL = "success", "fail"
_NEEDED = ("run", "evals")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of every eval; a variant of `evalite.each` is an eval of its own.

    Raises:
        ImportFailed: it is no such file.
        ValueError: it is damaged.
    """
    document = parse_document(result.read()).members()
    if any(name not in document for name in _NEEDED):
        raise ImportFailed(f"it lacks one of {', '.join(_NEEDED)}")
    seen = set[str]()
    for number, element in enumerate(document["evals"].elements(), 1):
        members = element.members()
        name = text(members["name"].value) if "name" in members else ""
        if not name or "results" not in members:
            raise ImportFailed(f"eval {number} lacks its name or its results")
        if name in seen:
            raise ImportFailed(f"two evals have the name {name!r:.100}", advice="Give them different names.")
        seen.add(name)
        yield from _read_eval(name, members, result)


def _read_eval(name: str, members: Mapping[str, Part], result: ResultFile) -> Iterator[Event]:
    suite = Suite(result.suite_id(name_suite(name)), CaseKeys.of(_read_trials(members["results"])))
    origin = Origin(text(members["filepath"].value)) if "filepath" in members else None
    yield SuiteStarted(suite=suite.id, origin=origin, sdk="evalite", setup=Setup(name, result.stable_name))
    has_errors = False
    for trial in _read_trials(members["results"]):
        has_errors |= trial.error is not None
        yield from suite.events_of(trial)
    status = text(members["status"].value) if "status" in members else _SUCCESS
    # An eval fails with any of its results, which then has the error.
    if status != _SUCCESS and not (status == _FAIL and has_errors):
        problem = ErrorInfo("Incomplete", f"the status of the eval is {status!r:.60}, not {_SUCCESS!r}")
        yield Errored(suite=suite.id, stage="suite", error=problem)
    yield SuiteFinished(suite=suite.id)


def _read_trials(results: Part) -> Iterator[Trial]:
    """The results. Those of one input and one expected output are repeats, as with `trialCount`."""
    repeats = Counter[str]()
    is_scored = any(each.get("scores") for each in list_rows(results, "results"))
    for each in list_rows(results, "results"):
        trial = _read_trial(each)
        if is_scored and not trial.grades and trial.error is None:
            trial = replace(trial, output=None, error=error("Incomplete", "it has no scores, other results have", None))
        definition = digest(trial.definition)
        yield replace(trial, repeat=repeats[definition])
        repeats[definition] += 1


def _read_trial(each: Mapping[str, Any]) -> Trial:
    problem = _find_problem(each)
    case_input = each.get("input")
    return Trial(
        "",
        name=excerpt(case_input),
        own=None,
        input=case_input,
        definition=[case_input, each.get("expected")],
        output=each.get("output") if problem is None else None,
        duration_ms=parse_amount(each.get("duration")),
        usage=_sum_usage(each),
        grades=tuple(map(_read_score, read_tables(each.get("scores"), "scores"))),
        error=problem,
    )


def _find_problem(each: Mapping[str, Any]) -> ErrorInfo | None:
    """Why a result has no output: the task or a scorer raised, and the output is the exception."""
    state = text(each.get("status"))
    if state == _SUCCESS:
        return None
    raised = table(each.get("output"))
    message = text(raised.get("message")) or f"its status is {state!r:.100}"
    return error(text(raised.get("name")) or "EvaliteError", message, raised.get("stack"))


def _read_score(each: Mapping[str, Any]) -> Grade:
    metadata = defined_fields(description=each.get("description"), metadata=each.get("metadata"))
    return Grade(text(each.get("name")) or "score", parse_number(each.get("score")), metadata=metadata)


def _sum_usage(each: Mapping[str, Any]) -> Usage | None:
    traces = list(tables(each.get("traces")))
    tokens = [sum(count(trace.get(name)) for trace in traces) for name in ("inputTokens", "outputTokens")]
    return usage(*tokens, cost=None)
