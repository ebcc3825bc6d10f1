"""The JUnit report: every case of every suite and every gate, written while the cases are read."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter

from scoregate.kernel.report.junit_xml import (
    DECLARATION,
    GATES,
    CaseWriter,
    Counts,
    UniqueNames,
    build_finding,
    build_note,
    open_report,
    open_suite,
    render_cases,
    render_properties,
    render_system_err,
)
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.text import display_name, excerpt, one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome
from scoregate.kernel.types.slots import CaseNote

_LIMIT = 32 * 1024 * 1024


class SpillBuffer:
    """Compressed text by suite, at most `limit` bytes in total. A suite that exceeds it is dropped and read again."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._left = limit
        self._pieces: dict[int, list[bytes]] = {}
        self._counts: Counter[int] = Counter()
        self._spilled: set[int] = set()

    def put(self, place: int, text: str, count: int) -> None:
        """Store the text of `count` cases, unless the suite was dropped."""
        if place in self._spilled:
            return
        piece = zlib.compress(text.encode(), 1)
        if len(piece) > self._left:
            self._spilled.add(place)
            self._left += sum(map(len, self._pieces.pop(place, ())))
            return
        self._left -= len(piece)
        self._counts[place] += count
        self._pieces.setdefault(place, []).append(piece)

    def spilled(self, place: int) -> bool:
        """Whether the text of a suite was dropped, so that its cases must be read again."""
        return place in self._spilled

    def count(self, place: int) -> int:
        """The number of stored cases of a suite."""
        return self._counts[place]

    def take(self, place: int) -> Iterator[str]:
        """Yield and remove the stored text of a suite, in the order in which it was stored."""
        for piece in self._pieces.pop(place, ()):
            self._left += len(piece)
            yield zlib.decompress(piece).decode()


_CHUNK = 500
_get_suite = attrgetter("suite")
_CLOSING = "</testsuite>\n"
_PROBLEMS = 32 * 1024


def render(view: ReportView) -> Iterator[str]:
    """Yield the report in chunks of some hundred cases. The cases are read once, in any order."""
    notes = {suite.label: _list_notes(suite, view) for suite in view.suites}
    confirmed = {suite.label: list_confirmations(suite, view) for suite in view.suites}
    suites = [
        Counts(
            suite.counts.trials + len(notes[suite.label]),
            suite.counts.failed
            - sum(each.outcome is ConfirmationOutcome.CLEARED for each in confirmed[suite.label].values()),
            suite.counts.errored,
            suite.time_s,
            skipped=sum(bool(note.skipped) for note in notes[suite.label]),
        )
        for suite in view.suites
    ]
    conclusions = [finding.conclusion for finding in view.findings]
    gates = Counts(
        len(conclusions) + len(view.verdict.warnings),
        conclusions.count(Conclusion.FAILED),
        conclusions.count(Conclusion.UNMEASURABLE),
        seconds=0.0,
        skipped=len(view.verdict.warnings),
    )
    name = ": ".join(filter(None, ("scoregate", view.run.message)))
    yield DECLARATION + open_report(name, _sum_counts([*suites, gates]))
    chunks, stored = _case_chunks(view, view.trials.read()), SpillBuffer()
    for suite, counts in zip(view.suites, suites, strict=True):
        file = None if suite.origin is None else one_line(suite.origin.file, 1000)
        yield open_suite(display_name(suite.label, 300), counts, timestamp=_timestamp(view), file=file)
        yield from _describe_unaffected(suite)
        yield from _suite_cases(suite, view, chunks=chunks, stored=stored)
        if notes[suite.label]:
            yield render_cases([build_note(note) for note in notes[suite.label]])
        if suite.problems:
            yield render_system_err(excerpt("\n".join(suite.problems), _PROBLEMS))
        yield _CLOSING
    yield open_suite(GATES, gates, timestamp=_timestamp(view))
    names = UniqueNames()
    counted = [build_finding(finding, names) for finding in view.findings]
    yield render_cases(counted + [build_finding(finding, names, warns=True) for finding in view.verdict.warnings])
    yield _CLOSING + "</testsuites>\n"


def _list_notes(suite: SuiteView, view: ReportView) -> list[CaseNote]:
    """What features say about cases of a suite."""
    return [note for section in view.sections for note in section.cases if note.suite == suite.label]


def list_confirmations(suite: SuiteView, view: ReportView) -> dict[CaseKey, Confirmation]:
    """The trials of a suite that failed newly and whose cases ran again."""
    tried = {each.case: each for each in view.confirmations if each.suite == suite.label}
    failing = (key for label, key in view.notable.newly_failing if label == suite.label)
    return {key: tried[key.hash] for key in failing if key.hash in tried}


def _describe_unaffected(suite: SuiteView) -> Iterator[str]:
    """The property of a suite whose results, or a part of them, are those of the base's run."""
    if suite.source:
        yield render_properties([("scoregate.not_affected", suite.source)])


def _suite_cases(
    suite: SuiteView, view: ReportView, *, chunks: Iterator[tuple[int, int, str]], stored: SpillBuffer
) -> Iterator[str]:
    """The cases of one suite: the stored ones, then those still to read; cases of other suites are stored meanwhile."""
    if stored.spilled(suite.index):
        again = _case_chunks(view, view.trials.read_suite(suite.index))
        yield from (xml for _, _, xml in again)
        return
    written = stored.count(suite.index)
    yield from stored.take(suite.index)
    while written < suite.counts.trials and (chunk := next(chunks, None)) is not None:
        index, count, xml = chunk
        if index == suite.index:
            written += count
            yield xml
        else:
            stored.put(index, xml, count)


def _case_chunks(view: ReportView, cases: Iterable[CaseResult]) -> Iterator[tuple[int, int, str]]:
    """Chunks of cases as XML, each of one suite: the suite's index, the number of cases, the text."""
    writers = [CaseWriter(suite, view.context, list_confirmations(suite, view)) for suite in view.suites]
    stream = iter(cases)
    while chunk := list(islice(stream, _CHUNK)):
        suites = dict.fromkeys(map(_get_suite, chunk))
        for index in suites:
            cases_of_suite = chunk if len(suites) == 1 else [case for case in chunk if case.suite == index]
            yield index, len(cases_of_suite), render_cases([*map(writers[index].write, cases_of_suite)])


def _sum_counts(counts: list[Counts]) -> Counts:
    return Counts(
        sum(each.tests for each in counts),
        sum(each.failures for each in counts),
        sum(each.errors for each in counts),
        sum(each.seconds for each in counts),
    )


def _timestamp(view: ReportView) -> str:
    return datetime.fromtimestamp(view.run.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
