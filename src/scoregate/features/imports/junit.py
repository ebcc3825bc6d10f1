"""Results in JUnit's XML: cases with pass or fail, attempts as trials, named properties as scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import PASSED, Grade, Trial, defined_fields, excerpt, pass_fail_grade
from scoregate.features.imports.junit_cases import Attempt, Case, read_cases
from scoregate.features.imports.junit_counts import Counts
from scoregate.features.imports.repeats import RepeatNames
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import ResultFile
from scoregate.kernel.types.event_values import ErrorInfo, Origin, Setup
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import bounded_name

# The properties with the input and the cluster, as in pytest's `record_property("input", question)`.
_INPUT, _CLUSTER = "input", "cluster"
# The property by which scoregate's plug-in of pytest names the suite and case that it records a test as.
_RECORDED = "scoregate.case"
# Properties with this prefix are scores, as in scoregate's own reports: a number, or `4/5`.
_SCORE_PREFIX = "score."
_FRACTION = re.compile(r"\s*([^/\s]+)\s*/\s*([^/\s]+)\s*")
_GO_TEST = re.compile(r"(Test|Fuzz|Example|Benchmark)(?![a-z])")
_RERUN = "it failed and was run again; the report has no message of this attempt"


def read(result: ResultFile) -> Iterator[Event]:
    """The events of every suite; a nested suite has the names of its parents.

    Raises:
        ImportFailed: it is not JUnit XML, or lacks cases that its suites count; the others are yielded before.
        ValueError: it is damaged.
    """
    survey = _Survey.of(result)
    suites: dict[str, Suite] = {}
    counts = Counts()
    for case in read_cases(result, counts):
        # The plug-in of pytest has recorded it.
        if survey.is_group(case) or case.properties.get(_RECORDED) in result.recorded:
            continue
        evaluation = excerpt(case.suite or result.stem) + survey.suffix(case)
        name = result.suite_id(evaluation)
        if name not in suites:
            suites[name] = Suite(name, survey.keys[case.suite, case.project])
            origin = Origin(case.file) if case.file else None
            yield SuiteStarted(suite=name, origin=origin, sdk="junit", setup=Setup(evaluation, result.stable_name))
        for trial in survey.trials(case, result.scores):
            yield from suites[name].events_of(trial)
    for name in suites:
        yield SuiteFinished(suite=name)
    result.notes.extend(counts.notes)
    if counts.problems:
        more = f" (and {len(counts.problems) - 1} more such suites)" if len(counts.problems) > 1 else ""
        raise ImportFailed(f"cases are missing, as after a crash: {counts.problems[0]}{more}")


_Place = tuple[str, str, str]


@dataclass(slots=True)
class _Survey:
    """What the cases of a file show only together.

    Attributes:
        on_hosts: the suites that have the same test on several hosts.
        groups: Go's tests that have subtests, without those that fail on their own.
        names: the names of tests without the number of a repeat.
        reruns: how often each test of an element was run, if the element has more cases than it counts.
        surplus: how many more cases an element has than it counts.
        keys: the keys of the cases, by suite and project.
    """

    on_hosts: set[str] = field(default_factory=set)
    groups: set[_Place] = field(default_factory=set)
    names: RepeatNames = field(default_factory=lambda: RepeatNames(()))
    reruns: Counter[tuple[int, _Place]] = field(default_factory=Counter)
    surplus: dict[int, int] = field(default_factory=dict)
    keys: dict[tuple[str, str], CaseKeys] = field(default_factory=dict)
    _trials: Counter[_Place] = field(default_factory=Counter)

    @classmethod
    def of(cls, result: ResultFile) -> _Survey:
        """Read the cases of a file."""
        survey, names, hosts = cls(), list[str](), dict[tuple[str, str], str]()
        places, has_inputs = Counter[tuple[int, _Place]](), False
        parents, parents_of_bad, bad = set[_Place](), set[_Place](), set[_Place]()
        counts = Counts()
        for case in read_cases(result, counts):
            if hosts.setdefault((case.suite, case.key), case.host) != case.host:
                survey.on_hosts.add(case.suite)
            names.append(_make_full_key(case))
            places[case.element, _find_place(case)] += 1
            survey.keys.setdefault((case.suite, case.project), CaseKeys())
            has_inputs = has_inputs or _INPUT in case.properties
            bad |= {_find_place(case)} if case.is_bad else set()
            for parent in _list_parents(case):
                parents.add(parent)
                parents_of_bad |= {parent} if case.is_bad else set()
        # A test that failed although none of its subtests did is a case of its own.
        survey.groups = {place for place in parents if place not in bad or place in parents_of_bad}
        survey.names, survey.surplus = RepeatNames(names), counts.surplus
        survey.reruns.update({place: n for place, n in places.items() if n > 1 and place[0] in counts.surplus})
        if has_inputs:  # without, names are all that identifies cases
            for case in read_cases(result):
                case_input = case.properties.get(_INPUT)
                trial = Trial(survey.key(case), input=case_input, definition=case_input)
                survey.keys[case.suite, case.project].add(trial)
        return survey

    def key(self, case: Case) -> str:
        """The key of a case without the number of a repeat."""
        return self.names.stem(_make_full_key(case)).rpartition("\0")[2]

    def is_group(self, case: Case) -> bool:
        """Whether it only holds the results of its subtests."""
        return _find_place(case) in self.groups

    def suffix(self, case: Case) -> str:
        """What distinguishes the suite from others of its name: Playwright's project, or the host."""
        if case.project:
            return f" [project={case.project}]"
        return f" [hostname={case.host}]" if case.host and case.suite in self.on_hosts else ""

    def trials(self, case: Case, scores: Sequence[str]) -> Iterator[Trial]:
        """Every attempt at the case, the last result last."""
        key, place = self.key(case), (case.element, _find_place(case))
        counted = (case.suite, _find_host(case), key)
        is_repeated = key != case.key or place in self.reruns
        number = self._trials[counted] if is_repeated else 0
        if place in self.reruns:
            self.reruns[place] -= 1
            is_attempt = self.reruns[place] > 0 and self.surplus[case.element] > 0
            self.surplus[case.element] -= is_attempt
            if is_attempt and not case.is_bad and not case.skipped:
                # pytest-rerunfailures writes a case without a result for each attempt that was followed by another.
                case = replace(case, failure=_RERUN)
        final = _make_trial(case, key, scores)
        others = [_make_attempt(attempt, final) for attempt in case.others]
        # Surefire: the element itself is the first attempt of a test that failed, and the last of one that passed.
        ordered = (final, *others) if case.is_bad else (*others, final)
        for index, trial in enumerate(ordered):
            yield replace(trial, repeat=number + index)
        self._trials[counted] += len(ordered)


def _find_host(case: Case) -> str:
    return case.project or case.host


def _find_place(case: Case) -> _Place:
    return case.suite, _find_host(case), f"{case.owner}\0{case.name}"


def _make_full_key(case: Case) -> str:
    return f"{case.suite}\0{case.project}\0{case.key}"


def _list_parents(case: Case) -> Iterator[_Place]:
    """The tests of Go that the case is a subtest of: `TestX` and `TestX/a` of `TestX/a/b`."""
    if _GO_TEST.match(case.name):
        suite, host, _ = _find_place(case)
        parts = case.name.split("/")[:20]
        for end in range(1, len(parts)):
            yield suite, host, f"{case.owner}\0{'/'.join(parts[:end])}"


def _make_trial(case: Case, key: str, scores: Sequence[str]) -> Trial:
    grades = [grade for name, value in case.properties.items() if (grade := _score(name, value, scores)) is not None]
    scored = {grade.evaluator for grade in grades}
    properties = {
        name: value for name, value in case.properties.items() if name.removeprefix(_SCORE_PREFIX) not in scored
    }
    case_input = case.properties.get(_INPUT)
    return Trial(
        key,
        input=case_input,
        definition=case_input,
        output=case.output or None,
        duration_ms=case.duration_ms,
        tags=("skipped",) if case.skipped else (),
        grades=(*_grade_case(case, properties), *grades),
        error=case.error,
        cluster=bounded_name(case.properties.get(_CLUSTER, "")) or None,
    )


def _make_attempt(attempt: Attempt, final: Trial) -> Trial:
    """Another attempt at the case of a trial."""
    reason = defined_fields(reason=attempt.failure or "")
    return replace(
        final,
        output=attempt.output or None,
        duration_ms=attempt.duration_ms,
        grades=() if attempt.error is not None else (pass_fail_grade(PASSED, False, reason),),
        error=attempt.error,
    )


def _grade_case(case: Case, properties: Mapping[str, Any]) -> Iterator[Grade]:
    """Pass or fail; nothing for a case that was skipped or has an error."""
    if not case.skipped and (case.failure is not None or case.error is None):
        yield pass_fail_grade(
            PASSED, case.failure is None, defined_fields(reason=case.failure or "", properties=dict(properties))
        )


def _score(name: str, value: str, scores: Sequence[str]) -> Grade | None:
    """A property as a score; None if it is something else."""
    own = name.removeprefix(_SCORE_PREFIX)
    if own == name and not any(fnmatchcase(name, glob) for glob in scores):
        return None
    parts = _FRACTION.fullmatch(value)
    number, best = (_number(parts[1]), _number(parts[2])) if parts else (_number(value), 1.0)
    if number is None or best is None or best <= 0 or not isfinite(best) or not isfinite(number):
        return Grade(own, error=ErrorInfo("NoScore", f"its property is not a number: {excerpt(value, 80)}"))
    return Grade(own, number / best, metadata=defined_fields(value=value, scale=[0, best]) if best != 1 else None)


def _number(value: str) -> float | None:
    try:
        return float(value) if "_" not in value else None  # float() accepts 1_000
    except ValueError:
        return None
