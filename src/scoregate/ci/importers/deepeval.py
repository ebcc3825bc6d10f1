"""What deepeval keeps of a test run, as `test_run_*.json` or `.deepeval/.latest_run_full.json`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.ci.importers.fields import error, flag, milliseconds, table, tables, text, told, usage
from scoregate.ci.importers.judgement import kept, verdict
from scoregate.ci.importers.parts import Part, whole
from scoregate.ci.importers.result_file import ResultFile
from scoregate.ci.importers.trials import PASSED, Grade, Suite, Trial, excerpt, numbered
from scoregate.core.evaluation import Threshold
from scoregate.core.events import EvaluatorInfo, Event, Fingerprint, SuiteFinished, SuiteStarted
from scoregate.core.figures import number
from scoregate.errors import ImportFailed

_LISTS = ("testCases", "conversationalTestCases")
# Names that deepeval makes of a place in the list.
_NO_NAME = re.compile(r"(conversational_)?test_case_\d+")
_ABOUT = ("identifier", "testFile", "datasetAlias")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of one test run, which is one suite.

    Raises:
        ImportFailed: it is no such file. ValueError: it is damaged.
    """
    document = whole(result.read()).members()
    if not any(name in document for name in _LISTS):
        raise ImportFailed("it has no `testCases`")
    about = [text(document[name].value) for name in _ABOUT if name in document]
    suite = Suite(result.named(excerpt(next(filter(None, about), "deepeval"))))
    yield SuiteStarted(suite=suite.id, sdk="deepeval", evaluators=tuple(_evaluators(document)))
    for case in _cases(document):
        yield from suite.tell(_trial(case))
    yield SuiteFinished(suite=suite.id)


def _cases(document: Mapping[str, Part]) -> Iterator[Mapping[str, Any]]:
    for name in _LISTS:
        if name in document:
            yield from (table(case.value) for case in document[name].elements())


def _evaluators(document: Mapping[str, Part]) -> Iterator[EvaluatorInfo]:
    """Every metric, with the direction that most of its verdicts show, and the model that judged."""
    lower: Counter[str] = Counter()
    models: dict[str, str] = {}
    for case in _cases(document):
        metrics = tuple(tables(case.get("metricsData")))
        for metric, grade in zip(metrics, numbered(map(_grade, metrics)), strict=True):
            lower[grade.evaluator] += _direction(grade.threshold)
            models.setdefault(grade.evaluator, text(metric.get("evaluationModel")))
    for name, model in models.items():
        yield EvaluatorInfo(name, Fingerprint(model=model or None), higher_is_better=lower[name] <= 0)


def _direction(threshold: Threshold | None) -> int:
    if threshold is None:
        return 0
    return 1 if threshold.lte is not None else -1


def _trial(case: Mapping[str, Any]) -> Trial:
    asked, name = _asked(case), text(case.get("name"))
    metrics = [_grade(metric) for metric in tables(case.get("metricsData"))]
    own = "" if _NO_NAME.fullmatch(name) else name
    success = flag(case.get("success"))
    if not metrics and success is not None:
        metrics = [verdict(PASSED, success)]
    return Trial(
        own,
        name=own or excerpt(asked),
        input=asked,
        definition=[asked, case.get("expectedOutput"), case.get("expectedOutcome"), case.get("context")],
        output=case.get("turns") or case.get("actualOutput"),
        duration_ms=milliseconds(case.get("completionTime")),
        usage=usage(case.get("inputTokenCount"), case.get("outputTokenCount"), cost=case.get("tokenCost")),
        grades=tuple(metrics),
    )


def _asked(case: Mapping[str, Any]) -> Any:
    """What the case gives: of a conversation its scenario, or what the user says."""
    said = [turn.get("content") for turn in tables(case.get("turns")) if turn.get("role") == "user"]
    return case.get("input") or case.get("scenario") or said


def _grade(metric: Mapping[str, Any]) -> Grade:
    """One metric. A flaky one decides nothing there, and has no threshold here."""
    score, success = number(metric.get("score")), flag(metric.get("success"))
    flaky, failure = metric.get("flaky") is True, text(metric.get("error"))
    limit = number(metric.get("threshold"))
    spent = usage(
        metric.get("inputTokenCount"),
        metric.get("outputTokenCount"),
        cost=metric.get("evaluationCost"),
        model=text(metric.get("evaluationModel")),
    )
    if score is None and success is not None and not failure:
        score, limit = float(success), None
    threshold = None if score is None or flaky else kept(score, success, limit)
    metadata = told(reason=text(metric.get("reason")), passed=success if threshold is None else None)
    broken = error("MetricError", failure) if failure else None
    return Grade(text(metric.get("name")), score, threshold, metadata, spent, broken)
