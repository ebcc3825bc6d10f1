"""The counts that suites of JUnit's XML declare, compared with the cases and results that they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

_LONGEST_COUNT = 16
BAD = frozenset({"failure", "error"})
# What Maven, Gradle, nextest and Playwright add to a test that was run again; Surefire counts each as a test.
ATTEMPTS = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError"})
# The attributes of pytest's suites, in its order, before the host. Gradle's have the same names in another order.
_PYTEST = ["name", "errors", "failures", "skipped", "tests", "time", "timestamp"]


@dataclass(slots=True)
class _Tally:
    """What an open suite holds so far.

    Attributes:
        element: the number of the suite.
        cases: its cases.
        failures: the failures and errors in them, of all attempts.
        more_results: the results beyond one for each case.
    """

    element: int
    cases: int = 0
    failures: int = 0
    more_results: int = 0


@dataclass(slots=True)
class Counts:
    """Compares the counts that the suites of a file declare with their cases.

    A suite lacks cases if it declares more failures than its cases have, or more tests than its cases have results.
    Passed subtests of pytest and passed assertions of C++ are counted as tests and have no element.

    Attributes:
        problems: the suites that lack cases, as text.
        notes: the suites that count more tests than cases for another reason, as text.
        surplus: how many more cases an element has than it declares, by its number.
    """

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    surplus: dict[int, int] = field(default_factory=dict)
    _entered: int = 0
    _open: list[_Tally] = field(default_factory=list)

    @property
    def element(self) -> int:
        """The number of the innermost open suite."""
        return self._open[-1].element

    def enter(self) -> None:
        """Start to count a suite."""
        self._entered += 1
        self._open.append(_Tally(self._entered))

    def add(self, case: Element, *, is_bad: bool) -> None:
        """Count a case in all open suites.

        Args:
            case: its element.
            is_bad: whether it failed or met an error, which an attribute may say.
        """
        tags = [read_tag(child) for child in case]
        attempts = sum(tag in ATTEMPTS for tag in tags)
        bad = sum(tag in BAD for tag in tags)
        own_results = bad + tags.count("skipped")
        for tally in self._open:
            tally.cases += 1
            # A case may have failed by an attribute alone, without an element.
            tally.failures += max(bad, is_bad) + attempts
            tally.more_results += max(0, own_results - 1) + attempts

    def leave(self, suite: Element) -> None:
        """Check the counts of the suite that was entered last. Its own errors count with those of its cases."""
        own = sum(read_tag(child) in BAD for child in suite)
        for each in self._open:
            each.failures += own
        tally, name = self._open.pop(), suite.get("name", "")
        where = f"<{read_tag(suite)}>{f' {name!r:.100}' if name else ''}"
        tests, bad = _read_count(suite, "tests"), _read_count(suite, "failures") + _read_count(suite, "errors")
        uncounted = tests - tally.cases - tally.more_results
        why = _explain_uncounted(suite) if tally.cases else ""
        if uncounted > 0 and not why:
            self.problems.append(f"{where} counts {tests:,} tests and holds {tally.cases:,}")
        elif bad > tally.failures:
            self.problems.append(f"{where} counts {bad:,} failures and errors and holds {tally.failures:,}")
        elif uncounted > 0:
            self.notes.append(f"{where} counts {tests:,} tests and holds {tally.cases:,}: {why}")
            for outer in self._open:  # their counts include those of the suites in them
                outer.more_results += uncounted
        if 0 < tests < tally.cases:
            self.surplus[tally.element] = tally.cases - tests


def _explain_uncounted(suite: Element) -> str:
    """Why the writer of a suite counts more tests than it has results, though none is missing; empty if it doesn't."""
    if list(suite.keys())[: len(_PYTEST)] == _PYTEST:
        return "pytest counts passed subtests"
    # Catch2 writes this host, as long as it doesn't know the host.
    if suite.get("hostname") == "tbd" or "doctest_version" in suite.keys():  # noqa: SIM118 - an element is no mapping
        return "it counts assertions"
    return ""


def read_tag(element: Element) -> str:
    """The tag without its namespace, which some runners write."""
    return str(element.tag).rpartition("}")[2]


def _read_count(suite: Element, name: str) -> int:
    value = suite.get(name, "").strip()
    return int(value) if value.isdecimal() and len(value) < _LONGEST_COUNT else 0
