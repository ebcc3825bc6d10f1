"""The JUnit report: every case of every suite and every gate, written as it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice

from scoregate.ci.report.held import Held
from scoregate.ci.report.junit_cases import GATES, Desk, Names, of_finding
from scoregate.ci.report.junit_elements import DECLARATION, Counts, opening, opening_of_all, system_err, testcases
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.text import excerpt, name, one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.case import CaseResult
from scoregate.core.rules import Conclusion

_CHUNK = 500
_CLOSING = "</testsuite>\n"
_PROBLEMS = 32 * 1024


def render(view: ReportView) -> Iterator[str]:
    """Yield the report in pieces of some hundred cases. The cases are read once, whatever order they come in."""
    suites, gates = [_counts(suite) for suite in view.suites], _gate_counts(view)
    yield DECLARATION + opening_of_all(": ".join(filter(None, ("scoregate", view.run.message))), _sum([*suites, gates]))
    fragments, held = _fragments(view, view.cases()), Held()
    for suite, counts in zip(view.suites, suites, strict=True):
        yield opening(name(suite.label, 300), counts, timestamp=_time(view), file=_path(suite))
        yield from _of_suite(suite, view, fragments=fragments, held=held)
        if suite.problems:
            yield system_err(excerpt("\n".join(suite.problems), _PROBLEMS))
        yield _CLOSING
    yield opening(GATES, gates, timestamp=_time(view))
    names = Names()
    counted = [of_finding(finding, names) for finding in view.findings]
    yield testcases(counted + [of_finding(finding, names, warns=True) for finding in view.warnings])
    yield _CLOSING + "</testsuites>\n"


def _of_suite(
    suite: SuiteView, view: ReportView, *, fragments: Iterator[tuple[int, int, str]], held: Held
) -> Iterator[str]:
    """The cases of one suite: those held back, then those still to be read, while others' are held back."""
    if held.spilled(suite.index):
        again = _fragments(view, view.cases_of(suite.index))
        yield from (xml for _, _, xml in again)
        return
    written = held.count(suite.index)
    yield from held.take(suite.index)
    while written < suite.trials and (fragment := next(fragments, None)) is not None:
        index, count, xml = fragment
        if index == suite.index:
            written += count
            yield xml
        else:
            held.put(index, xml, count)


def _fragments(view: ReportView, cases: Iterable[CaseResult]) -> Iterator[tuple[int, int, str]]:
    """Chunks of cases as XML, each of one suite: the suite's index, how many they are, the text."""
    desks = [Desk(suite, view.context) for suite in view.suites]
    stream = iter(cases)
    while chunk := list(islice(stream, _CHUNK)):
        for index in dict.fromkeys(case.suite for case in chunk):
            built = [desks[index].write(case) for case in chunk if case.suite == index]
            yield index, len(built), testcases(built)


def _counts(suite: SuiteView) -> Counts:
    return Counts(suite.trials, suite.failed, suite.errored, suite.time_s)


def _gate_counts(view: ReportView) -> Counts:
    found = [finding.conclusion for finding in view.findings]
    failed, unmeasurable = found.count(Conclusion.FAILED), found.count(Conclusion.UNMEASURABLE)
    return Counts(len(found) + len(view.warnings), failed, unmeasurable, seconds=0.0, skipped=len(view.warnings))


def _sum(counts: list[Counts]) -> Counts:
    return Counts(
        sum(one.tests for one in counts),
        sum(one.failures for one in counts),
        sum(one.errors for one in counts),
        sum(one.seconds for one in counts),
    )


def _time(view: ReportView) -> str:
    return datetime.fromtimestamp(view.run.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _path(suite: SuiteView) -> str | None:
    return None if suite.file is None else one_line(suite.file, 1000)
