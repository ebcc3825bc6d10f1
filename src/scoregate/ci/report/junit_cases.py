"""Trials and findings as test cases: what failed, against which threshold, by how much, and why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from scoregate.ci.report import numbers
from scoregate.ci.report.context import Context
from scoregate.ci.report.excerpts import as_text, reasons, shown_score, why
from scoregate.ci.report.junit_elements import Built, Form, Place, TestCase
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.text import excerpt, name, one_line
from scoregate.core.case import CaseError, CaseResult, Status
from scoregate.core.evaluation import Evaluation
from scoregate.core.parts import Origin
from scoregate.core.rules import Conclusion, Finding

GATES = "scoregate gates"
FIELD = 32 * 1024
_MESSAGE = 2000
_SILENT = (Status.PASSED, Status.SCORED, Status.UNSCORED)


class Names:
    """Hands out names of test cases, no two alike: GitLab reads only the first of those that share one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, text: str, unlike: str = "") -> str:
        """`text`, or, where it is taken, `text` with `unlike`, or at last with a number."""
        chosen = text
        if text in self._taken:
            rest = (f"{text} (#{number})" for number in count(2))
            told = [f"{text} ({one_line(unlike, 64)})"] if unlike else []
            chosen = next(free for free in chain(told, rest) if free not in self._taken)
        self._taken.add(chosen)
        return chosen


class Desk:
    """Writes the cases of one suite: keeps what they share, and which of their names are taken."""

    def __init__(self, suite: SuiteView, context: Context) -> None:
        self._names = Names()
        self._context = context
        self._classname = name(suite.label, 300)
        self._place = _place(None if suite.file is None else Origin(suite.file, suite.line or 1))
        self._keys = {evaluator: _key(evaluator) for evaluator in suite.evaluators}
        self._form = Form(TestCase("blank", self._classname))

    def _where(self, case: CaseResult) -> Place:
        return self._place if case.origin is None else _place(case.origin)

    def write(self, case: CaseResult) -> Built | str:
        """One trial: to be built, or XML already where there is nothing to tell but scores."""
        status, shown = case.status, self._name(case)
        if status in _SILENT and not case.pending:
            return self._form.filled(shown, _seconds(case), self._properties(case), place=self._where(case))
        return self._told(case, status, shown)

    def _told(self, case: CaseResult, status: Status, shown: str) -> Built:
        """A failed one that also met errors is a failure, so that it counts once."""
        test = TestCase(shown, self._classname, **self._where(case))
        if status is Status.FAILED:
            test.add_failure_info(_missed(case), _failure_text(case), "ThresholdNotMet")
        elif status is Status.ERRORED:
            first = case.errors[0]
            test.add_error_info(_error_message(first), _tracebacks(case), name(first.error.type))
        elif case.pending and status is not Status.PASSED:
            how = f"; judge with: {self._context.shows_with('review')}" if case.contests else ""
            test.add_skipped_info(one_line(f"waits for people: {', '.join(case.pending)}", _MESSAGE) + how)
        if self._context.show_outputs and status in (Status.FAILED, Status.ERRORED):
            test.stdout = as_text(case.output, FIELD)
        return Built(test, _seconds(case), self._properties(case))

    def _name(self, case: CaseResult) -> str:
        shown = name(case.name or case.hash, 300)
        return self._names.of(f"{shown} [repeat {case.repeat}]" if case.repeat else shown, case.hash)

    def _properties(self, case: CaseResult) -> list[tuple[str, str]]:
        scores = case.evaluations.items()
        pairs = [(self._keys.get(who) or _key(who), numbers.short(found.score)) for who, found in scores]
        pairs += [(f"label.{name(who)}", one_line(said.label, _MESSAGE)) for who, said in case.labels.items()]
        for kind, evaluators in (("unscored", case.unscored), ("pending", case.pending)):
            if evaluators:
                pairs.append((kind, one_line(", ".join(evaluators), _MESSAGE)))
        return pairs


def _place(origin: Origin | None) -> Place:
    return {} if origin is None else {"file": one_line(origin.file, 1000), "line": origin.line}


def _seconds(case: CaseResult) -> float:
    return (case.duration_ms or 0.0) / 1000


def _key(evaluator: str) -> str:
    return f"score.{name(evaluator)}"


def of_finding(finding: Finding, names: Names, *, warns: bool = False) -> Built:
    """One rule applied, as a test case: a failure where it does not hold, an error where nobody can say.

    `warns`: it does not hold but does not count, and is told as skipped.
    """
    where = [name(part) for part in (finding.suite, finding.evaluator) if part is not None]
    called = names.of(": ".join([" · ".join(where), finding.rule]) if where else one_line(finding.rule, 200))
    test = TestCase(called, classname=GATES)
    told = f"{one_line(finding.value, 500)}, required: {one_line(finding.limit, 200)}"
    text = f"set by {one_line(finding.origin, 500)}"
    if warns:
        test.add_skipped_info(f"only a warning: {told}", text)
    elif finding.conclusion is Conclusion.FAILED:
        test.add_failure_info(told, text, "GateNotMet")
    elif finding.conclusion is Conclusion.UNMEASURABLE:
        test.add_error_info(told, text, "Unmeasurable")
    pairs = {"value": finding.value, "limit": finding.limit, "origin": finding.origin}
    return Built(test, properties=tuple((key, one_line(value, 500)) for key, value in pairs.items()))


def _failed(case: CaseResult) -> Iterator[tuple[str, Evaluation]]:
    return ((evaluator, found) for evaluator, found in case.evaluations.items() if found.passed is False)


def _missed(case: CaseResult) -> str:
    return one_line("; ".join(_miss(evaluator, found) for evaluator, found in _failed(case)), _MESSAGE)


def _miss(evaluator: str, found: Evaluation) -> str:
    because = why(found)
    told = f"{name(evaluator)} {shown_score(found.score, found.threshold)}, not {found.threshold}"
    return f"{told} ({because})" if because else told


def _failure_text(case: CaseResult) -> str:
    lines: list[str] = []
    for evaluator, found in _failed(case):
        lines.append(f"{name(evaluator)}: {shown_score(found.score, found.threshold)}, needs {found.threshold}")
        lines.extend(f"  {reason}" for reason in reasons(found, _MESSAGE))
    return excerpt("\n".join([*lines, *([_tracebacks(case)] if case.errors else [])]), FIELD)


def _error_message(error: CaseError) -> str:
    text = one_line(error.error.message, _MESSAGE) or one_line(error.error.type, 200)
    return f"{name(error.evaluator)}: {text}" if error.evaluator else text


def _tracebacks(case: CaseResult) -> str:
    return excerpt("\n".join(_error_text(error) for error in case.errors), FIELD)


def _error_text(error: CaseError) -> str:
    told = (error.error.traceback, error.error.advice)
    return "\n".join([f"{error.error.type}: {_error_message(error)}", *(part for part in told if part)])
