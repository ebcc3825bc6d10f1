"""Trials and gates as JUnit test cases, with failures, scores and reasons; built on the package junit-xml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import chain, count
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from junit_xml import TestCase, TestSuite  # type: ignore[import-untyped]

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.excerpts import format_score, format_value, list_reasons, summarize_reasons
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.text import display_name, excerpt, one_line
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import CaseError, CaseKey, CaseResult, Status
from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome
from scoregate.kernel.types.runs.text_column import KeySet
from scoregate.kernel.types.slots import CaseNote

__all__ = [
    "DECLARATION",
    "BuiltCase",
    "CaseTemplate",
    "Counts",
    "Location",
    "TestCase",
    "open_report",
    "open_suite",
    "render_cases",
    "render_system_err",
]

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
Location = Mapping[str, str | int]
_SPECIAL = re.compile("[&<>\"'\n\t]")


class BuiltCase(NamedTuple):
    """A test case of junit-xml, and the parts that package does not support. All text must be visible.

    `properties` is XML. `attempts` are further attempts as elements: their names and messages.
    """

    case: TestCase
    seconds: float = 0.0
    properties: str = ""
    attempts: Sequence[tuple[str, str]] = ()


class CaseTemplate:
    """A test case without messages: rendered by junit-xml once, then filled in for each case."""

    def __init__(self, blank: TestCase) -> None:
        (element,) = TestSuite("", [blank]).build_xml_doc()
        self._before, _, self._after = _tag(element).partition(f' name="{_attribute(blank.name)}"')

    def fill(self, name: str, seconds: float, properties: str, *, place: str) -> str:
        """The XML of one case; `properties` and `place` are XML. All text must be visible."""
        tag = f'{self._before} name="{_attribute(name)}"{self._after}{place} time="{_format_seconds(seconds)}"'
        return f"{tag}>{properties}</testcase>\n" if properties else f"{tag}/>\n"


def render_place(place: Location) -> str:
    """The attributes of a case's place."""
    return "".join([f' {key}="{_attribute(str(value))}"' for key, value in place.items()])


@record
class Counts:
    """The counts of a suite; junit-xml would count only the cases of one chunk."""

    tests: int
    failures: int
    errors: int
    seconds: float
    skipped: int = 0

    def attributes(self) -> dict[str, str]:
        """The attributes of all elements; `skipped` is for suites only."""
        counts = {"tests": self.tests, "failures": self.failures, "errors": self.errors}
        return {name: str(value) for name, value in counts.items()} | {"time": _format_seconds(self.seconds)}


def open_report(name: str, counts: Counts) -> str:
    """The start tag of the report."""
    return _tag(Element("testsuites", {"name": name, **counts.attributes()})) + ">\n"


def open_suite(name: str, counts: Counts, *, timestamp: str, file: str | None = None) -> str:
    """The start tag of a suite."""
    suite = TestSuite(name, timestamp=timestamp, file=file).build_xml_doc()
    del suite.attrib["disabled"]
    suite.attrib.update(counts.attributes() | {"skipped": str(counts.skipped)})
    return _tag(suite) + ">\n"


def render_cases(cases: Sequence[BuiltCase | str]) -> str:
    """The cases as XML, in order; cases that are XML already stay as they are."""
    texts = [case for case in cases if isinstance(case, str)]
    if len(texts) == len(cases):
        return "".join(texts)
    built = [case.case for case in cases if isinstance(case, BuiltCase)]
    elements, texts = iter(TestSuite("", built).build_xml_doc()), []
    for case in cases:
        if isinstance(case, str):
            texts.append(case)
        else:
            element = next(elements)
            element.set("time", _format_seconds(case.seconds))
            for tag, message in case.attempts:
                SubElement(element, tag, {"message": message, "type": _NOT_MET})
            texts.append(f"{_xml(element, case.properties)}\n")
    return "".join(texts)


def render_system_err(text: str) -> str:
    """The messages of a suite that belong to no case."""
    return f"<system-err>{escape(text, quote=False)}</system-err>\n"


def render_properties(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values of a case or a suite."""
    return _enclose([_property(*pair) for pair in pairs])


def _enclose(properties: Sequence[str]) -> str:
    return f"<properties>{''.join(properties)}</properties>" if properties else ""


@lru_cache(maxsize=4096)
def _score_property(evaluator: str, score: float) -> str:
    """The property of a score. Many are equal."""
    return _property(f"score.{display_name(evaluator)}", number_format.short(score))


@lru_cache(maxsize=1024)
def _property(name: str, value: str) -> str:
    return f'<property name="{_attribute(name)}" value="{_attribute(value)}"/>'


def _xml(element: Element, first: str = "") -> str:
    """An element as XML, without namespaces, tails or comments: half the time of ElementTree's writer."""
    body = first + escape(element.text, quote=False) if element.text else first
    if len(element):
        body += "".join([_xml(child) for child in element])
    return f"{_tag(element)}>{body}</{element.tag}>" if body else f"{_tag(element)}/>"


def _tag(element: Element) -> str:
    return f"<{element.tag}" + "".join([f' {name}="{_attribute(value)}"' for name, value in element.items()])


def _attribute(value: str) -> str:
    return escape(value).replace("\n", "&#10;").replace("\t", "&#9;") if _SPECIAL.search(value) else value


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


GATES = "scoregate gates"
FIELD = 32 * 1024
_MESSAGE = 2000
_NOT_MET = "ThresholdNotMet"
FLAKY = "flakyFailure"
_SILENT = (Status.PASSED, Status.SCORED, Status.UNSCORED)


class UniqueNames:
    """Makes names of test cases unique: GitLab reads only the first case of a name.

    Of two names with the same hash, one gets more detail.
    """

    def __init__(self) -> None:
        self._taken = KeySet()

    def unique(self, text: str, detail: str = "") -> str:
        """A unique name: `text`, else `text` with `detail`, else with a number."""
        if self._taken.add(text):
            return text
        rest = (f"{text} (#{number})" for number in count(2))
        detailed = [f"{text} ({one_line(detail, 64)})"] if detail else []
        return next(free for free in chain(detailed, rest) if self._taken.add(free))


class CaseWriter:
    """Writes the cases of one suite, with unique names.

    Args:
        suite: the suite.
        context: what all reports of a run share.
        confirmations: the trials that failed newly and ran again.
    """

    def __init__(
        self,
        suite: SuiteView,
        context: ReportContext,
        confirmations: Mapping[CaseKey, Confirmation],
    ) -> None:
        self._confirmations = confirmations
        self._names = UniqueNames()
        self._context = context
        self._classname = display_name(suite.label, 300)
        self._place = _location(suite.origin)
        self._place_xml = render_place(self._place)
        self._template = CaseTemplate(TestCase("blank", self._classname))

    def _where(self, case: CaseResult) -> Location:
        return self._place if case.origin is None else _location(case.origin)

    def write(self, case: CaseResult) -> BuiltCase | str:
        """Write one trial: as XML if there are only scores, else as a case to build."""
        status, shown = case.status, self._name(case)
        if status in _SILENT and not case.pending:
            place = self._place_xml if case.origin is None else render_place(_location(case.origin))
            return self._template.fill(shown, _seconds(case), _case_properties(case), place=place)
        test = TestCase(shown, self._classname, **self._where(case))
        attempts = self._attempts(case) if status is Status.FAILED else ()
        if status is Status.FAILED and not _is_flaky(attempts):  # a failed trial that also had errors counts once
            test.add_failure_info(_failure_message(case), _failure_text(case), _NOT_MET)
        elif status is Status.ERRORED:
            first = case.errors[0]
            test.add_error_info(_error_message(first), _tracebacks(case), display_name(first.error.type))
        elif case.pending and status is not Status.PASSED:
            command = f"; review: {self._context.command('review')}" if case.contests else ""
            test.add_skipped_info(one_line(f"waiting for review: {', '.join(case.pending)}", _MESSAGE) + command)
        if self._context.show_outputs and status in (Status.FAILED, Status.ERRORED):
            test.stdout = format_value(case.output, FIELD)
        return BuiltCase(test, _seconds(case), _case_properties(case), attempts)

    def _attempts(self, case: CaseResult) -> Sequence[tuple[str, str]]:
        """The failed attempts at a case that ran again, as Surefire names them: it passed in the end, or it didn't."""
        tried = self._confirmations.get(case.key) if self._confirmations else None
        if tried is None:
            return ()
        failed = tried.tries.count(False)
        if tried.outcome is ConfirmationOutcome.CLEARED:
            return [(FLAKY, _failure_message(case)), *[(FLAKY, "it failed again")] * failed]
        return [("rerunFailure", "it failed again")] * failed

    def _name(self, case: CaseResult) -> str:
        shown = display_name(case.name or case.hash, 300)
        return self._names.unique(f"{shown} [repeat {case.repeat}]" if case.repeat else shown, case.hash)


def _case_properties(case: CaseResult) -> str:
    properties = [_score_property(name, evaluation.score) for name, evaluation in case.evaluations.items()]
    for name, label in case.labels.items():
        properties.append(_property(f"label.{display_name(name)}", one_line(label.label, _MESSAGE)))
    if case.unscored:
        properties.append(_property("unscored", one_line(", ".join(case.unscored), _MESSAGE)))
    if case.pending:
        properties.append(_property("pending", one_line(", ".join(case.pending), _MESSAGE)))
    return _enclose(properties)


def _is_flaky(attempts: Sequence[tuple[str, str]]) -> bool:
    return bool(attempts) and attempts[0][0] == FLAKY


def _location(origin: Origin | None) -> Location:
    return {} if origin is None else {"file": one_line(origin.file, 1000), "line": origin.line}


def _seconds(case: CaseResult) -> float:
    return (case.duration_ms or 0.0) / 1000


def build_finding(finding: Finding, names: UniqueNames, *, warns: bool = False) -> BuiltCase:
    """Build the test case of a gate: a failure if it does not hold, an error if it is unmeasurable.

    `warns`: the gate only warns, and is reported as skipped.
    """
    where = [display_name(part) for part in (finding.suite, finding.evaluator) if part is not None]
    gate_name = names.unique(": ".join([" · ".join(where), finding.rule]) if where else one_line(finding.rule, 200))
    test = TestCase(gate_name, classname=GATES)
    message = f"{one_line(finding.value, 500)}, required: {one_line(finding.limit, 200)}"
    text = f"set by {one_line(finding.origin, 500)}"
    if warns:
        test.add_skipped_info(f"only a warning: {message}", text)
    elif finding.conclusion is Conclusion.FAILED:
        test.add_failure_info(message, text, "GateNotMet")
    elif finding.conclusion is Conclusion.UNMEASURABLE:
        test.add_error_info(message, text, "Unmeasurable")
    pairs = {"value": finding.value, "limit": finding.limit, "origin": finding.origin}
    return BuiltCase(test, properties=render_properties([(key, one_line(value, 500)) for key, value in pairs.items()]))


def build_note(note: CaseNote) -> BuiltCase:
    """Build the test case of what a feature says about a case."""
    test = TestCase(display_name(note.name, 300), display_name(note.suite, 300))
    if note.skipped:
        test.add_skipped_info(one_line(note.skipped, _MESSAGE), one_line(note.output, 200))
    pairs = [(key, one_line(text, _MESSAGE)) for key, text in note.properties]
    return BuiltCase(test, properties=render_properties(pairs))


def _failed_evaluations(case: CaseResult) -> Iterator[tuple[str, Evaluation]]:
    return ((evaluator, evaluation) for evaluator, evaluation in case.evaluations.items() if evaluation.passed is False)


def _failure_message(case: CaseResult) -> str:
    misses = []
    for evaluator, evaluation in _failed_evaluations(case):
        reasons = summarize_reasons(evaluation)
        score = format_score(evaluation.score, evaluation.threshold)
        miss = f"{display_name(evaluator)} {score}, not {evaluation.threshold}"
        misses.append(f"{miss} ({reasons})" if reasons else miss)
    return one_line("; ".join(misses), _MESSAGE)


def _failure_text(case: CaseResult) -> str:
    lines: list[str] = []
    for evaluator, evaluation in _failed_evaluations(case):
        score = format_score(evaluation.score, evaluation.threshold)
        lines.append(f"{display_name(evaluator)}: {score}, needs {evaluation.threshold}")
        lines.extend(f"  {reason}" for reason in list_reasons(evaluation, _MESSAGE))
    return excerpt("\n".join([*lines, *([_tracebacks(case)] if case.errors else [])]), FIELD)


def _error_message(error: CaseError) -> str:
    text = one_line(error.error.message, _MESSAGE) or one_line(error.error.type, 200)
    return f"{display_name(error.evaluator)}: {text}" if error.evaluator else text


def _tracebacks(case: CaseResult) -> str:
    return excerpt("\n".join(_error_text(error) for error in case.errors), FIELD)


def _error_text(error: CaseError) -> str:
    details = (error.error.traceback, error.error.advice)
    return "\n".join([f"{error.error.type}: {_error_message(error)}", *(part for part in details if part)])
