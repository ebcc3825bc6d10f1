"""What `promptfoo eval -o results.json` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.ci.importers.fields import count, table, text
from scoregate.ci.importers.judgement import scales_of
from scoregate.ci.importers.parts import Part, whole
from scoregate.ci.importers.promptfoo_rows import trial
from scoregate.ci.importers.promptfoo_survey import Survey
from scoregate.ci.importers.result_file import ResultFile
from scoregate.ci.importers.trials import Suite, excerpt
from scoregate.core.events import Event, SuiteFinished, SuiteStarted
from scoregate.errors import ImportFailed


def read(result: ResultFile) -> Iterator[Event]:
    """The events of all rows, a suite for each combination of provider and prompt.

    Raises:
        ImportFailed: it is no such file. ValueError: it is damaged.
    """
    document = whole(result.read()).members()
    summary = document["results"].members() if "results" in document else {}
    if "results" not in summary or "config" not in document:
        raise ImportFailed("it has no `results.results` beside a `config`")
    config, rows = table(document["config"].value), summary["results"]
    survey = Survey()
    for row in _rows(rows):
        survey.see(row)
    for places in survey.places.values():
        places.sort()
    repeats = _repeats(config, document)
    name = result.named(excerpt(text(config.get("description")) or result.stem))
    yield from _told(rows, survey, name=name, repeats=repeats, config=config, sdk=_sdk(document))


def _told(
    rows: Part, survey: Survey, *, name: str, repeats: int, config: Mapping[str, Any], sdk: str
) -> Iterator[Event]:
    suites: dict[str, Suite] = {}
    scales = scales_of(config.get("metadata"))
    for row in _rows(rows):
        suite = survey.suite(row, name)
        if suite not in suites:
            suites[suite] = Suite(suite)
            yield SuiteStarted(suite=suite, sdk=sdk)
        yield from suites[suite].tell(trial(row, survey, repeats=repeats, scales=scales))
    for suite in suites:
        yield SuiteFinished(suite=suite)


def _rows(rows: Part) -> Iterator[Mapping[str, Any]]:
    return (table(row.value) for row in rows.elements())


def _repeats(config: Mapping[str, Any], document: Mapping[str, Part]) -> int:
    ran = table(document["runtimeOptions"].value) if "runtimeOptions" in document else {}
    return count(ran.get("repeat")) or count(table(config.get("evaluateOptions")).get("repeat")) or 1


def _sdk(document: Mapping[str, Part]) -> str:
    about = table(document["metadata"].value) if "metadata" in document else {}
    return f"promptfoo {text(about.get('promptfooVersion'))}".strip()
