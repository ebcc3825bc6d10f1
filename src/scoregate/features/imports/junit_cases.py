"""The test cases in JUnit's XML, as test runners of every language write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import islice
from os import SEEK_END
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError, iterparse
from xml.parsers.expat import ExpatError, ParserCreate
from xml.parsers.expat.errors import (
    XML_ERROR_BAD_CHAR_REF,
    XML_ERROR_INCORRECT_ENCODING,
    XML_ERROR_UNKNOWN_ENCODING,
    codes,
)

from scoregate.errors import ImportFailed
from scoregate.features.imports import common
from scoregate.features.imports.junit_counts import BAD, Counts, read_tag
from scoregate.kernel.run.documents.files import MAX_BYTES, ResultFile
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record

_ROOTS = ("testsuites", "testsuite")
_DEEPEST = 60
_LONGEST = 32_000
_LONGEST_HOST = 100
_MOST_PROPERTIES = 200
_MOST_ATTEMPTS = 100
# Messages that say no more than the element does, and lines of Go's that say no more than the test's name does.
_EMPTY_MESSAGES = frozenset({"", "failed", "failure", "error", "test failed", "test failure"})
# What the attributes `status` and `result` of a test say in reports that have no element for it.
_FAILED = frozenset({"fail", "failed", "failure", "error", "errored", "broken"})
_NOT_RUN = frozenset(
    {"disabled", "ignored", "inconclusive", "incomplete", "notrun", "pending", "skip", "skipped", "suppressed"}
)
_GO_LINE = re.compile(r"\s*(=== (RUN|PAUSE|CONT|NAME)|--- FAIL:)")


@record
class Attempt:
    """One attempt at a test that did not pass; `failure` is why it failed, None for an error."""

    failure: str | None = None
    error: ErrorInfo | None = None
    output: str = ""
    duration_ms: float | None = None


@record
class Case:
    """One test case.

    Attributes:
        suite: the path of the names of its suites.
        owner: its class; empty if that is the name of one of its suites.
        name: its name.
        project: the name of its project, in a report of Playwright.
        host: the host of its suite, in other reports.
        file: the file that has the test.
        duration_ms: the duration, in milliseconds.
        failure: why it failed; None if it did not fail.
        error: the error that it met.
        skipped: whether it was skipped.
        output: its standard output.
        properties: its properties.
        others: the other attempts at it.
        element: the number of the element that holds it, in their order in the file.
    """

    suite: str
    owner: str
    name: str
    project: str = ""
    host: str = ""
    file: str = ""
    duration_ms: float | None = None
    failure: str | None = None
    error: ErrorInfo | None = None
    skipped: bool = False
    output: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    others: tuple[Attempt, ...] = ()
    element: int = 0

    @property
    def key(self) -> str:
        """The name, with the class unless that is a part of the name, as in reports of Jest and Mocha."""
        name, owner = self.name, self.owner
        is_part = name == owner or name.startswith(f"{owner} ") or name.endswith(f" {owner}")
        return name if is_part or not owner else f"{owner}::{name}"

    @property
    def is_bad(self) -> bool:
        """Whether it failed or met an error."""
        return self.failure is not None or self.error is not None


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
    for event, element in _parse_elements(result.file):
        tag = read_tag(element)
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
            case = replace(_make_case(element, above), element=counts.element)
            counts.add(element, is_bad=case.is_bad)
            yield case
        elif tag in _ROOTS:
            yield from _read_own_results(element, above, counts)
            counts.leave(element)
        elif tag in BAD and above and read_tag(above[-1]) in _ROOTS:
            continue  # kept until the end of its suite
        if above and not any(read_tag(parent) == "testcase" for parent in above):
            above[-1].remove(element)  # iterparse would keep the whole tree


def _parse_elements(file: BinaryIO) -> Iterator[tuple[str, Element]]:
    def refuse_doctype(*_: object) -> None:
        raise ImportFailed("it declares a document type, which could hold entities and is not read")

    file.seek(0, SEEK_END)
    if file.tell() > MAX_BYTES:
        raise ImportFailed(f"it is larger than {MAX_BYTES:,} bytes")
    # This parser builds nothing, so it does not expand the entities of a document type before it is refused.
    parser = ParserCreate()
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        file.seek(0)
        parser.ParseFile(file)
        file.seek(0)
        yield from iterparse(file, ("start", "end"))
    except (ParseError, ExpatError, LookupError, ValueError) as error:
        advice = _advise(file, parser.ErrorByteIndex, getattr(error, "code", 0))
        raise ImportFailed(f"it is not well-formed XML: {error}", advice=advice) from None


def _advise(file: BinaryIO, place: int, code: int) -> str:
    """What to do about the parser's error at a byte of a file; empty if only the writer of the file knows."""
    file.seek(0)
    is_xml = file.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    file.seek(max(0, place))
    is_control = (byte := file.read(1)) < b" " and byte != b"" and not byte.isspace()
    if code == codes[XML_ERROR_BAD_CHAR_REF] or (is_xml and is_control):
        return (
            "XML can't hold control characters, such as those of coloured output. Turn colours off where the tests run "
            "(`NO_COLOR=1`), or remove such characters from what the tests print."
        )
    if code in (codes[XML_ERROR_INCORRECT_ENCODING], codes[XML_ERROR_UNKNOWN_ENCODING]):
        return "Write the file in the encoding that its first line names. `>` of Windows PowerShell writes UTF-16."
    return ""


def _read_own_results(suite: Element, above: list[Element], counts: Counts) -> Iterator[Case]:
    """A case for the errors of a suite itself, as when its set-up failed; Maven and Ant write such a case, too."""
    if own := [child for child in suite if read_tag(child) in BAD]:
        element = Element("testcase", {"name": suite.get("name", "") or "the suite itself"})
        element.extend(own)
        yield replace(_make_case(element, [*above, suite]), element=counts.element)


def _make_case(element: Element, above: list[Element]) -> Case:
    names, owner = _list_suite_names(above), element.get("classname", "").strip()
    failures, errors, skips = (_list_children(element, tag) for tag in ("failure", "error", "skipped"))
    states = () if failures or errors or skips else _list_states(element)
    hosts = (suite.get("hostname", "").strip() for suite in reversed(above))
    host = next(filter(None, hosts), "")[:_LONGEST_HOST]
    # Playwright alone gives <testsuites> an id; it writes the name of the project as the host.
    is_playwright = {"id", "name"} <= set(above[0].keys()) and names[-1:] == [owner]
    return Case(
        " / ".join(names),
        "" if owner in names else owner,
        element.get("name", "").strip(),
        host if is_playwright else "",
        "" if is_playwright else host,
        next((file for each in (element, *reversed(above)) if (file := each.get("file"))), "")[:1000],
        _read_duration(element),
        _join_failures(failures) if failures or _FAILED & {*states} else None,
        common.error(errors[0].get("type") or "Error", _join_failures(errors)) if errors else None,
        bool(skips) or (bool(_NOT_RUN & {*states}) and not _FAILED & {*states}),
        _read_output(element),
        dict(_list_properties(element)),
        tuple(islice(_list_attempts(element), _MOST_ATTEMPTS)),
    )


def _list_states(element: Element) -> tuple[str, ...]:
    """What its attributes say about a test, such as `failed`; Google Test writes `notrun` for a disabled test."""
    return tuple(element.get(name, "").strip().casefold() for name in ("status", "result"))


def _list_suite_names(elements: list[Element]) -> list[str]:
    return [name for each in elements if read_tag(each) == "testsuite" and (name := each.get("name", "").strip())]


def _list_attempts(element: Element) -> Iterator[Attempt]:
    """The attempts that Maven, Gradle, nextest and Playwright add to a test that was run again."""
    for child in element:
        tag = read_tag(child)
        if tag in ("flakyFailure", "rerunFailure"):
            yield Attempt(_read_failure(child)[:_LONGEST], None, _read_output(child), _read_duration(child))
        elif tag in ("flakyError", "rerunError"):
            error = common.error(child.get("type") or "Error", _read_failure(child))
            yield Attempt(None, error, _read_output(child), _read_duration(child))


def _read_duration(element: Element) -> float | None:
    try:
        # Maven separates thousands by commas.
        return common.milliseconds(float(element.get("time", "").replace(",", "")))
    except ValueError:
        return None


def _read_output(element: Element) -> str:
    return "\n".join(_read_text(each) for each in _list_children(element, "system-out"))[:_LONGEST]


def _list_children(element: Element, tag: str) -> list[Element]:
    return [child for child in element if read_tag(child) == tag]


def _read_failure(element: Element) -> str:
    """The message, then the text, unless its first line has the message."""
    message = element.get("message", "").strip()
    rest = _read_text(element) or "\n".join(map(_read_text, _list_children(element, "stackTrace")))
    lines = rest.splitlines()
    while lines and _GO_LINE.match(lines[0]):
        lines.pop(0)
    rest = "\n".join(lines).strip() or rest
    if rest and message.casefold() in _EMPTY_MESSAGES:
        return rest
    is_repeated = message in rest and message.partition("\n")[0] in rest.partition("\n")[0]
    return rest if is_repeated else f"{message}\n{rest}".strip()


def _join_failures(elements: list[Element]) -> str:
    return "\n".join(filter(None, map(_read_failure, elements)))[:_LONGEST]


def _read_text(element: Element) -> str:
    return (element.text or "").strip()


def _list_properties(element: Element) -> Iterator[tuple[str, str]]:
    elements = (each for group in _list_children(element, "properties") for each in _list_children(group, "property"))
    for each in islice(elements, _MOST_PROPERTIES):
        if name := each.get("name", "").strip():
            yield name[:200], (each.get("value") or _read_text(each))[:_LONGEST]
