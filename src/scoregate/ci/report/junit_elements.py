"""The junit-xml package, mended: what it writes is well-formed, has every time, and properties of cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import NamedTuple
from xml.etree.ElementTree import Element

from junit_xml import TestCase, TestSuite  # type: ignore[import-untyped]

__all__ = [
    "DECLARATION",
    "Built",
    "Counts",
    "Form",
    "Place",
    "TestCase",
    "opening",
    "opening_of_all",
    "system_err",
    "testcases",
]

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
Place = Mapping[str, str | int]
_SPECIAL = re.compile("[&<>\"'\n\t]")


class Built(NamedTuple):
    """A test case of junit-xml, and what that package has no place for. All text in it must be visible."""

    case: TestCase
    seconds: float = 0.0
    properties: Sequence[tuple[str, str]] = ()


class Form:
    """A test case with nothing to tell but place, time and properties: drawn by junit-xml once, filled in for each."""

    def __init__(self, blank: TestCase) -> None:
        (element,) = TestSuite("", [blank]).build_xml_doc()
        self._before, _, self._after = _tag(element).partition(f' name="{_attribute(blank.name)}"')

    def filled(self, name: str, seconds: float, properties: Sequence[tuple[str, str]], *, place: Place) -> str:
        """The XML of one case. All text must be visible."""
        where = "".join([f' {key}="{_attribute(str(value))}"' for key, value in place.items()])
        tag = f'{self._before} name="{_attribute(name)}"{self._after}{where} time="{_time(seconds)}"'
        body = _properties(properties)
        return f"{tag}>{body}</testcase>\n" if body else f"{tag}/>\n"


@dataclass(frozen=True, slots=True)
class Counts:
    """The attributes of a suite that readers rely on; junit-xml would count only the cases that it is given."""

    tests: int
    failures: int
    errors: int
    seconds: float
    skipped: int = 0

    def attributes(self) -> dict[str, str]:
        """As every reader knows them; `skipped` stands only on suites."""
        counts = {"tests": self.tests, "failures": self.failures, "errors": self.errors}
        return {name: str(value) for name, value in counts.items()} | {"time": _time(self.seconds)}


def opening_of_all(name: str, counts: Counts) -> str:
    """The start tag of the whole report."""
    return _tag(Element("testsuites", {"name": name, **counts.attributes()})) + ">\n"


def opening(name: str, counts: Counts, *, timestamp: str, file: str | None = None) -> str:
    """The start tag of a suite."""
    suite = TestSuite(name, timestamp=timestamp, file=file).build_xml_doc()
    del suite.attrib["disabled"]
    suite.attrib.update(counts.attributes() | {"skipped": str(counts.skipped)})
    return _tag(suite) + ">\n"


def testcases(cases: Sequence[Built | str]) -> str:
    """The cases as XML, one after the other; those that are XML already stay as they are."""
    built = [case for case in cases if isinstance(case, Built)]
    elements = iter(TestSuite("", [one.case for one in built]).build_xml_doc() if built else ())
    return "".join([case if isinstance(case, str) else _testcase(case, next(elements)) for case in cases])


def system_err(text: str) -> str:
    """What a suite itself has to say besides its cases."""
    return f"<system-err>{escape(text, quote=False)}</system-err>\n"


def _testcase(one: Built, element: Element) -> str:
    element.set("time", _time(one.seconds))
    return f"{_xml(element, _properties(one.properties))}\n"


def _properties(pairs: Sequence[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    return f"<properties>{''.join([_property(*pair) for pair in pairs])}</properties>"


@lru_cache(maxsize=1024)
def _property(name: str, value: str) -> str:
    return f'<property name="{_attribute(name)}" value="{_attribute(value)}"/>'


def _xml(element: Element, first: str = "") -> str:
    """What ElementTree would write, in half the time: here are no namespaces, tails or comments."""
    body = first + escape(element.text, quote=False) if element.text else first
    if len(element):
        body += "".join([_xml(child) for child in element])
    return f"{_tag(element)}>{body}</{element.tag}>" if body else f"{_tag(element)}/>"


def _tag(element: Element) -> str:
    return f"<{element.tag}" + "".join([f' {name}="{_attribute(value)}"' for name, value in element.items()])


def _attribute(value: str) -> str:
    return escape(value).replace("\n", "&#10;").replace("\t", "&#9;") if _SPECIAL.search(value) else value


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
