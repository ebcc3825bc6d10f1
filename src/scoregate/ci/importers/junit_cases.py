"""The test cases of a JUnit XML file, one by one, however large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import SEEK_END
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError, iterparse
from xml.parsers.expat import ExpatError, ParserCreate

from scoregate.ci.importers import fields
from scoregate.ci.importers.result_file import MAX_BYTES, ResultFile
from scoregate.core.events import ErrorInfo
from scoregate.errors import ImportFailed

_ROOTS = ("testsuites", "testsuite")
_DEEPEST = 60
_LONGEST = 32_000
_LONGEST_COUNT = 16
_MOST_PROPERTIES = 200


@dataclass(frozen=True, slots=True)
class Case:
    """One test case. `suite` is the path of names above it; `failure` is why it failed, None where it did not."""

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
    """What the suites of a file count, against what is in them; `problems` are the differences."""

    problems: list[str] = field(default_factory=list)
    _found: list[list[int]] = field(default_factory=list)

    def enter(self) -> None:
        """A suite begins."""
        self._found.append([0, 0])

    def add(self, case: Case) -> None:
        """A case of all suites that are open."""
        for found in self._found:
            found[0] += 1
            found[1] += (case.failure is not None) + (case.error is not None)

    def leave(self, suite: Element) -> None:
        """The suite ends that began last."""
        (cases, bad), name = self._found.pop(), suite.get("name", "")
        where = f"<{_tag(suite)}>{f' {name!r:.100}' if name else ''}"
        if (tests := _count(suite, "tests")) > cases:
            self.problems.append(f"{where} counts {tests:,} tests and holds {cases:,}")
        elif (declared := _count(suite, "failures") + _count(suite, "errors")) > bad:
            self.problems.append(f"{where} counts {declared:,} failures and errors and holds {bad:,}")


def _count(suite: Element, name: str) -> int:
    value = suite.get(name, "").strip()
    return int(value) if value.isdecimal() and len(value) < _LONGEST_COUNT else 0


def cases(result: ResultFile, counts: Counts | None = None) -> Iterator[Case]:
    """The cases in their order. A document type is refused, and with it every entity.

    Args:
        result: the file. counts: checks what its suites count.

    Raises:
        ImportFailed: it is no JUnit XML, or damaged, or nested too deeply.
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
    file.seek(0, SEEK_END)
    if file.tell() > MAX_BYTES:
        raise ImportFailed(f"it is larger than {MAX_BYTES:,} bytes")
    try:
        _refuse_types(file)
        file.seek(0)
        yield from iterparse(file, ("start", "end"))
    except (ParseError, ExpatError, LookupError, ValueError) as error:
        raise ImportFailed(f"it is no well-formed XML: {error}") from None


def _refuse_types(file: BinaryIO) -> None:
    """Read it with an eye for document types alone: a parser that builds anything would expand their entities."""
    parser = ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    file.seek(0)
    parser.ParseFile(file)


def _refuse(*_: object) -> None:
    raise ImportFailed("it declares a document type, which could hold entities and is not read")


def _tag(element: Element) -> str:
    """Without a namespace, which some runners give."""
    return str(element.tag).rpartition("}")[2]


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
        fields.error(errors[0].get("type") or "Error", _text(errors[0])) if errors else None,
        bool(_children(element, "skipped")),
        "\n".join(_inner(each) for each in outputs)[:_LONGEST],
        dict(_properties(element)),
    )


def _key(element: Element, suites: list[str]) -> str:
    """Its name, with its class where that is not what its suite is called."""
    name, owner = element.get("name", "").strip(), element.get("classname", "").strip()
    return name if not owner or owner in suites else f"{owner}::{name}"


def _duration(seconds: str) -> float | None:
    try:
        return fields.milliseconds(float(seconds.replace(",", "")))
    except ValueError:
        return None


def _children(element: Element, tag: str) -> list[Element]:
    return [child for child in element if _tag(child) == tag]


def _text(element: Element) -> str:
    """The message, and the rest, which often begins with it."""
    message, rest = element.get("message", "").strip(), _inner(element)
    return rest if message in rest else f"{message}\n{rest}".strip()


def _inner(element: Element) -> str:
    return (element.text or "").strip()


def _properties(element: Element) -> Iterator[tuple[str, str]]:
    found = (each for group in _children(element, "properties") for each in _children(group, "property"))
    for each, _ in zip(found, range(_MOST_PROPERTIES), strict=False):
        if name := each.get("name", "").strip():
            yield name[:200], (each.get("value") or _inner(each))[:_LONGEST]
