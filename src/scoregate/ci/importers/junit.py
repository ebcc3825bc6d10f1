"""JUnit's XML, as test runners of every language write it: cases with pass or fail, numeric properties as scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from os import SEEK_END
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError, iterparse
from xml.parsers.expat import ExpatError, ParserCreate

from scoregate.ci.importers import common
from scoregate.ci.importers.common import PASSED, Grade, Suite, Trial, defined_fields, excerpt, pass_fail_grade
from scoregate.ci.importers.files import MAX_BYTES, ResultFile
from scoregate.core.event_values import ErrorInfo, Origin, Setup
from scoregate.core.events import Event, SuiteFinished, SuiteStarted
from scoregate.errors import ImportFailed

_ROOTS = ("testsuites", "testsuite")
_DEEPEST = 60
_LONGEST = 32_000
_LONGEST_COUNT = 16
_MOST_PROPERTIES = 200


# The property with the input, as in pytest's `record_property("input", question)`.
_INPUT = "input"
# Properties with this prefix are scores, as in scoregate's own reports: a number in [0, 1], or `4/5`.
_SCORE_PREFIX = "score."
_FRACTION = re.compile(r"\s*([^/\s]+)\s*/\s*([^/\s]+)\s*")


@dataclass(frozen=True, slots=True)
class Case:
    """One test case. `suite` is the path of names above it; `failure` is why it failed, None if it did not fail."""

    suite: str
    key: str
    file: str = ""
    duration_ms: float | None = None
    failure: str | None = None
    error: ErrorInfo | None = None
    skipped: bool = False
    output: str = ""
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Counts:
    """Compares the counts that the suites of a file declare with their cases; `problems` are the differences."""

    problems: list[str] = field(default_factory=list)
    _open: list[list[int]] = field(default_factory=list)

    def enter(self) -> None:
        """Start to count a suite."""
        self._open.append([0, 0])

    def add(self, case: Case) -> None:
        """Count a case in all open suites."""
        for counts in self._open:
            counts[0] += 1
            counts[1] += (case.failure is not None) + (case.error is not None)

    def leave(self, suite: Element) -> None:
        """Check the counts of the suite that was entered last."""
        (cases, bad), name = self._open.pop(), suite.get("name", "")
        where = f"<{_tag(suite)}>{f' {name!r:.100}' if name else ''}"
        if (tests := _count(suite, "tests")) > cases:
            self.problems.append(f"{where} counts {tests:,} tests and holds {cases:,}")
        elif (declared := _count(suite, "failures") + _count(suite, "errors")) > bad:
            self.problems.append(f"{where} counts {declared:,} failures and errors and holds {bad:,}")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of every suite; a nested suite has the names of its parents.

    Raises:
        ImportFailed: it is not JUnit XML, or lacks cases that its suites count; the others are yielded before.
        ValueError: it is damaged.
    """
    # Properties with values that can't be a score, such as a count that happens to be 1 in another case.
    others = frozenset(
        name
        for case in read_cases(result)
        for name, value in case.properties.items()
        if (number := _number(value)) is None or not 0 <= number <= 1
    )
    suites: dict[str, Suite] = {}
    counts = Counts()
    for case in read_cases(result, counts):
        name = result.suite_id(excerpt(case.suite or result.stem))
        if name not in suites:
            suites[name] = Suite(name)
            origin = Origin(case.file) if case.file else None
            setup = Setup(excerpt(case.suite or result.stem), result.stable_name)
            yield SuiteStarted(suite=name, origin=origin, sdk="junit", setup=setup)
        yield from suites[name].events_of(_trial(case, others))
    for name in suites:
        yield SuiteFinished(suite=name)
    if counts.problems:
        more = f" (and {len(counts.problems) - 1} more such suites)" if len(counts.problems) > 1 else ""
        raise ImportFailed(f"cases are missing, as after a crash: {counts.problems[0]}{more}")


def _trial(case: Case, others: frozenset[str]) -> Trial:
    grades = [grade for name, value in case.properties.items() if (grade := _score(name, value, others)) is not None]
    scored = {grade.evaluator for grade in grades}
    properties = {
        name: value for name, value in case.properties.items() if name.removeprefix(_SCORE_PREFIX) not in scored
    }
    case_input = case.properties.get(_INPUT)
    return Trial(
        case.key,
        input=case_input,
        definition=case_input,
        output=case.output or None,
        duration_ms=case.duration_ms,
        tags=("skipped",) if case.skipped else (),
        grades=(*_verdict(case, properties), *grades),
        error=case.error,
    )


def _verdict(case: Case, properties: Mapping[str, Any]) -> Iterator[Grade]:
    """Pass or fail; nothing for a case that was skipped or has an error."""
    if not case.skipped and (case.failure is not None or case.error is None):
        yield pass_fail_grade(
            PASSED, case.failure is None, defined_fields(reason=case.failure or "", properties=dict(properties))
        )


def _score(name: str, value: str, others: frozenset[str]) -> Grade | None:
    """A property as a score; None if it is something else."""
    if name.startswith(_SCORE_PREFIX):
        own = name.removeprefix(_SCORE_PREFIX)
        parts = _FRACTION.fullmatch(value)
        number, best = (_number(parts[1]), _number(parts[2])) if parts else (_number(value), 1.0)
        if number is None or best is None or best <= 0 or not isfinite(best):
            return Grade(own, error=ErrorInfo("NoScore", f"its property is not a number: {excerpt(value, 80)}"))
        metadata = defined_fields(value=value, scale=[0, best]) if best != 1 else None
        return Grade(own, number / best, metadata=metadata)
    number = _number(value)
    return Grade(name, number) if name not in others and number is not None else None


def _number(value: str) -> float | None:
    try:
        return float(value) if "_" not in value else None
    except ValueError:
        return None


def read_cases(result: ResultFile, counts: Counts | None = None) -> Iterator[Case]:
    """The cases in their order. A document type is refused, so the file can't declare entities.

    Args:
        result: the file.
        counts: checks the numbers in its suites.

    Raises:
        ImportFailed: it is not JUnit XML, or damaged, or nested too deeply.
    """
    counts = counts or Counts()
    above: list[Element] = []
    for event, element in _elements(result.file):
        tag = _tag(element)
        if event == "start":
            if not above and tag not in _ROOTS:
                raise ImportFailed(f"its root is <{tag[:80]}>, not <testsuites> or <testsuite>")
            above.append(element)
            if tag in _ROOTS:
                counts.enter()
            if len(above) > _DEEPEST:
                raise ImportFailed(f"its elements are nested more than {_DEEPEST} deep")
            continue
        above.pop()
        if tag == "testcase":
            case = _case(element, above)
            counts.add(case)
            yield case
        elif tag in _ROOTS:
            counts.leave(element)
        if above and not any(_tag(parent) == "testcase" for parent in above):
            above[-1].remove(element)


def _elements(file: BinaryIO) -> Iterator[tuple[str, Element]]:
    def refuse_doctype(*_: object) -> None:
        raise ImportFailed("it declares a document type, which could hold entities and is not read")

    file.seek(0, SEEK_END)
    if file.tell() > MAX_BYTES:
        raise ImportFailed(f"it is larger than {MAX_BYTES:,} bytes")
    try:
        # This parser builds nothing, so it does not expand the entities of a document type before it is refused.
        parser = ParserCreate()
        parser.StartDoctypeDeclHandler = refuse_doctype
        file.seek(0)
        parser.ParseFile(file)
        file.seek(0)
        yield from iterparse(file, ("start", "end"))
    except (ParseError, ExpatError, LookupError, ValueError) as error:
        raise ImportFailed(f"it is not well-formed XML: {error}") from None


def _case(element: Element, above: list[Element]) -> Case:
    names = [name for suite in above if _tag(suite) == "testsuite" and (name := suite.get("name", "").strip())]
    failures, errors = _children(element, "failure"), _children(element, "error")
    outputs = _children(element, "system-out")
    return Case(
        " / ".join(names),
        _key(element, names),
        next((file for each in (element, *reversed(above)) if (file := each.get("file"))), "")[:1000],
        _duration(element.get("time", "")),
        "\n".join(filter(None, map(_text, failures)))[:_LONGEST] if failures else None,
        common.error(errors[0].get("type") or "Error", _text(errors[0])) if errors else None,
        bool(_children(element, "skipped")),
        "\n".join(_inner(each) for each in outputs)[:_LONGEST],
        dict(_properties(element)),
    )


def _key(element: Element, suites: list[str]) -> str:
    """The name, with the class if that differs from the names of its suites."""
    name, owner = element.get("name", "").strip(), element.get("classname", "").strip()
    return name if not owner or owner in suites else f"{owner}::{name}"


def _duration(seconds: str) -> float | None:
    try:
        return common.milliseconds(float(seconds.replace(",", "")))
    except ValueError:
        return None


def _children(element: Element, tag: str) -> list[Element]:
    return [child for child in element if _tag(child) == tag]


def _text(element: Element) -> str:
    """The message and the text, which often begins with the message."""
    message, rest = element.get("message", "").strip(), _inner(element)
    return rest if message in rest else f"{message}\n{rest}".strip()


def _inner(element: Element) -> str:
    return (element.text or "").strip()


def _properties(element: Element) -> Iterator[tuple[str, str]]:
    elements = (each for group in _children(element, "properties") for each in _children(group, "property"))
    for each, _ in zip(elements, range(_MOST_PROPERTIES), strict=False):
        if name := each.get("name", "").strip():
            yield name[:200], (each.get("value") or _inner(each))[:_LONGEST]


def _tag(element: Element) -> str:
    """The tag without its namespace, which some runners write."""
    return str(element.tag).rpartition("}")[2]


def _count(suite: Element, name: str) -> int:
    value = suite.get(name, "").strip()
    return int(value) if value.isdecimal() and len(value) < _LONGEST_COUNT else 0
