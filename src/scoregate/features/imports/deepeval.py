"""Results of deepeval: the files of test runs, `test_run_*.json` or `.deepeval/.latest_run_full.json`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    PASSED,
    Grade,
    Trial,
    defined_fields,
    error,
    excerpt,
    flag,
    list_rows,
    matching_threshold,
    milliseconds,
    pass_fail_grade,
    read_tables,
    show_position,
    table,
    tables,
    text,
    usage,
    with_unique_names,
)
from scoregate.features.imports.repeats import RepeatNames, Repeats
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint, Setup
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import split_position
from scoregate.kernel.types.test_outcomes import TestOutcome, TestOutcomes
from scoregate.kernel.types.text import parse_number

_LISTS = ("testCases", "conversationalTestCases")
# What deepeval calls a case without a name: cases that are equal otherwise are repeats.
_NUMBERED = re.compile(r"(conversational_)?test_case_\d+")
_NAME_FIELDS = ("identifier", "testFile", "datasetAlias")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of all test runs; those of one name are one suite.

    Raises:
        ImportFailed: it is not such a file.
        ValueError: it is damaged.
    """
    suites: dict[str, _TestRuns] = {}
    # Three times, since the events of a suite depend on all of its runs, and files may be large.
    for document in _read_documents(result):
        name = _find_name(document)
        suites.setdefault(name, _TestRuns(Suite(result.suite_id(name)), result.tests)).add(document)
    for number, document in enumerate(_read_documents(result)):
        suites[_find_name(document)].add_keys(document, number)
    for name, runs in suites.items():
        setup, evaluators = Setup(name, result.stable_name), tuple(runs.evaluators())
        yield SuiteStarted(suite=runs.suite.id, sdk="deepeval", evaluators=evaluators, setup=setup)
    for document in _read_documents(result):
        yield from suites[_find_name(document)].events_of(document)
    for runs in suites.values():
        yield SuiteFinished(suite=runs.suite.id)


def _read_documents(result: ResultFile) -> Iterator[Mapping[str, Part]]:
    for data in result.read_each():
        document = parse_document(data).members()
        if not any(name in document for name in _LISTS):
            raise ImportFailed("it has no `testCases`")
        yield document


def _find_name(document: Mapping[str, Part]) -> str:
    names = [text(document[name].value) for name in _NAME_FIELDS if name in document]
    return excerpt(next(filter(None, names), "deepeval"))


def _list_cases(document: Mapping[str, Part]) -> Iterator[Mapping[str, Any]]:
    for name in _LISTS:
        if name in document:
            yield from list_rows(document[name], name)


@dataclass(slots=True)
class _TestRuns:
    """The test runs of one suite."""

    suite: Suite
    tests: TestOutcomes | None = None
    _with_failed_metrics: set[str] = field(default_factory=set)
    _lower: Counter[str] = field(default_factory=Counter)
    _models: dict[str, str] = field(default_factory=dict)
    _names: list[str] = field(default_factory=list)
    _stems: RepeatNames | None = None
    _repeats: Repeats = field(default_factory=Repeats)
    _keys: CaseKeys = field(default_factory=CaseKeys)

    def add(self, document: Mapping[str, Part]) -> None:
        """Collect the metrics and the names of a test run."""
        for case in _list_cases(document):
            self._names.append(text(case.get("name")))
            if case.get("success") is False and (test := self._find_test(case)) is not None:
                self._with_failed_metrics.add(test.test)
            metrics = _read_metrics(case)
            for metric, grade in zip(metrics, with_unique_names(map(_grade, metrics)), strict=True):
                if grade.threshold is not None:
                    self._lower[grade.evaluator] += 1 if grade.threshold.lte is not None else -1
                self._models.setdefault(grade.evaluator, text(metric.get("evaluationModel")))

    def evaluators(self) -> Iterator[EvaluatorInfo]:
        """Every metric, with the direction that most of its verdicts show, and the model that judged."""
        for name, model in self._models.items():
            yield EvaluatorInfo(name, Fingerprint(model=model or None), higher_is_better=self._lower[name] <= 0)

    def add_keys(self, document: Mapping[str, Part], number: int) -> None:
        """Collect what identifies the cases of a test run, by its number."""
        for case in _list_cases(document):
            self._keys.add(_make_trial(case, self._known_stems()), number)

    def _known_stems(self) -> RepeatNames:
        stems = self._stems = self._stems or RepeatNames(self._names)
        return stems

    def events_of(self, document: Mapping[str, Part]) -> Iterator[Event]:
        """The events of the cases of a test run."""
        self._repeats.start_run()
        for case in _list_cases(document):
            trial = _make_trial(case, self._known_stems())
            trial = self._follow_test(trial, self._find_test(case))
            key, repeat = self._repeats.place(trial, self._keys.choose(trial))
            yield from self.suite.events_of(replace(trial, case=key, repeat=repeat))

    def _find_test(self, case: Mapping[str, Any]) -> TestOutcome | None:
        """The test that recorded a case; None if it is unknown."""
        if self.tests is None:
            return None
        return self.tests.find(text(case.get("name")), case.get("input") or case.get("scenario"))

    def _follow_test(self, trial: Trial, test: TestOutcome | None) -> Trial:
        """The trial with the verdict of its test, if that isn't what its metrics say."""
        fails = any(map(_fails, trial.grades))
        if test is None or fails is (test.failure is not None):
            return trial
        if test.failure is not None and test.test in self._with_failed_metrics:
            return trial  # another case of the test failed
        metrics = [grade for grade in trial.grades if grade.evaluator != PASSED]
        if fails:  # as in `pytest.raises(AssertionError)`
            metrics = [_without_verdict(grade) if _fails(grade) else grade for grade in metrics]
        reason = "the test passed, though a metric failed" if test.failure is None else test.failure
        return replace(trial, grades=(pass_fail_grade(PASSED, fails, defined_fields(reason=reason)), *metrics))


def _make_trial(case: Mapping[str, Any], stems: RepeatNames) -> Trial:
    messages = [turn.get("content") for turn in tables(case.get("turns")) if turn.get("role") == "user"]
    case_input = case.get("input") or case.get("scenario") or messages
    name = stems.stem(text(case.get("name")))
    metrics = [_grade(metric) for metric in _read_metrics(case)]
    success = flag(case.get("success"))
    # A case may fail by metrics of its spans alone, which it doesn't list.
    if (not metrics and success) or (success is False and not any(map(_fails, metrics))):
        metrics.append(pass_fail_grade(PASSED, success))
    return Trial(
        name,
        name=show_position(name, case_input) if not name or split_position(name) else name,
        own=None if _NUMBERED.fullmatch(name) else name,
        input=case_input,
        definition=[case_input, case.get("expectedOutput"), case.get("expectedOutcome"), case.get("context")],
        output=case.get("turns") or case.get("actualOutput"),
        duration_ms=milliseconds(case.get("completionTime")),
        usage=usage(case.get("inputTokenCount"), case.get("outputTokenCount"), cost=case.get("tokenCost")),
        grades=tuple(metrics),
        metadata=table(case.get("additionalMetadata")),
    )


def _without_verdict(grade: Grade) -> Grade:
    return replace(grade, threshold=None, metadata={**(grade.metadata or {}), "passed": False})


def _read_metrics(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return read_tables(case.get("metricsData"), "metricsData")


def _fails(grade: Grade) -> bool:
    if grade.error is not None:
        return True
    return grade.score is not None and grade.threshold is not None and grade.threshold.holds(grade.score) is False


def _grade(metric: Mapping[str, Any]) -> Grade:
    """One metric. A flaky one does not decide in deepeval, so it gets no threshold."""
    score, success = parse_number(metric.get("score")), flag(metric.get("success"))
    flaky, failure = metric.get("flaky") is True, text(metric.get("error"))
    limit = parse_number(metric.get("threshold"))
    metric_usage = usage(
        metric.get("inputTokenCount"),
        metric.get("outputTokenCount"),
        cost=metric.get("evaluationCost"),
        model=text(metric.get("evaluationModel")),
    )
    if score is None and success is not None and not failure:
        score, limit = success, None
    threshold = None if score is None or flaky else matching_threshold(score, success, limit)
    metadata = defined_fields(reason=text(metric.get("reason")), passed=success if threshold is None else None)
    problem = error("MetricError", failure) if failure else None
    return Grade(text(metric.get("name")), score, threshold, metadata, metric_usage, problem)
