"""Results of tools for Agent Skills: benchmark.json, and grading.json of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    Grade,
    Trial,
    defined_fields,
    excerpt,
    flag,
    list_rows,
    milliseconds,
    name_suite,
    no_verdict,
    pass_fail_grade,
    read_tables,
    table,
    text,
    usage,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.event_values import Setup
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.text import parse_number

_PASS_RATE = "pass_rate"
_EXPECTATION = "expectation"


def read(result: ResultFile) -> Iterator[Event]:
    """The events of a file: a suite for each configuration of a benchmark, or one for a single run.

    Raises:
        ImportFailed: it is neither form.
        ValueError: it is damaged.
    """
    document = parse_document(result.read()).members()
    if "runs" in document:
        trials = list(_read_benchmark(document, result))
    elif "expectations" in document:
        trials = [(result.stem, _read_grading(document, result))]
    else:
        raise ImportFailed("it has neither `runs` (benchmark.json) nor `expectations` (grading.json)")
    for name in dict.fromkeys(name for name, _ in trials):
        own = [trial for suite, trial in trials if suite == name]
        suite = Suite(result.suite_id(name_suite(name)), CaseKeys.of(own))
        yield SuiteStarted(suite=suite.id, sdk="skill-benchmark", setup=Setup(name, result.stable_name))
        for trial in own:
            yield from suite.events_of(trial)
        yield SuiteFinished(suite=suite.id)


def _read_benchmark(document: Mapping[str, Part], result: ResultFile) -> Iterator[tuple[str, Trial]]:
    """Every run with its suite: the skill and the configuration, such as `pdf [with_skill]`."""
    metadata = table(document["metadata"].value) if "metadata" in document else {}
    skill = text(metadata.get("skill_name")) or result.stem
    repeats = Counter[tuple[str, str]]()
    for run in list_rows(document["runs"], "runs"):
        configuration, case = text(run.get("configuration")), text(run.get("eval_id"))
        if not configuration or not (case or text(run.get("eval_name"))):
            raise ImportFailed(f"a run has no `configuration` or no `eval_id`: {excerpt(run, 80)}")
        suite = f"{skill} [{configuration}]"
        trial = _read_run(run, case)
        yield suite, replace(trial, repeat=repeats[suite, trial.key])
        repeats[suite, trial.key] += 1


def _read_run(run: Mapping[str, Any], case: str) -> Trial:
    outcome, name = table(run.get("result")), text(run.get("eval_name"))
    errors = parse_number(outcome.get("errors")) or 0
    metadata = defined_fields(notes=run.get("notes"), tool_calls=outcome.get("tool_calls"), errors=errors)
    return Trial(
        name or f"eval {case}",
        own=case,
        duration_ms=milliseconds(outcome.get("time_seconds")),
        usage=usage(0, outcome.get("tokens"), cost=None),  # the file doesn't divide them into input and output
        grades=(
            Grade(_PASS_RATE, parse_number(outcome.get(_PASS_RATE)), metadata=metadata),
            *_read_expectations(run, outcome),
        ),
    )


def _read_grading(document: Mapping[str, Part], result: ResultFile) -> Trial:
    grading = {name: part.value for name, part in document.items()}
    summary, timing = table(grading.get("summary")), table(grading.get("timing"))
    # The folders differ between runs: `eval-1/with_skill/grading.json`.
    folders = PurePath(result.name).parent.parts[-3:]
    rate = Grade(_PASS_RATE, parse_number(summary.get(_PASS_RATE)))
    return Trial(
        "/".join(folders) or result.stem,
        duration_ms=milliseconds(timing.get("total_duration_seconds")),
        grades=(rate, *_read_expectations(grading, summary)),
    )


def _read_expectations(run: Mapping[str, Any], counts: Mapping[str, Any]) -> Iterator[Grade]:
    """One verdict for each expectation, named by its text.

    Raises:
        ImportFailed: fewer expectations are listed than counted.
    """
    expectations = read_tables(run.get("expectations"), "expectations")
    counted = parse_number(counts.get("total")) or 0
    if counted > len(expectations):
        raise ImportFailed(f"expectations are missing: {counted:,.0f} are counted, {len(expectations):,} listed")
    for each in expectations:
        name = f"{_EXPECTATION}: {excerpt(text(each.get('text')), 100)}"
        met = flag(each.get("passed"))
        if met is None:
            yield no_verdict(name, "`passed` is neither true nor false")
        else:
            yield pass_fail_grade(name, met, defined_fields(reason=each.get("evidence")))
