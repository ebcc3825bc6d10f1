"""How the tests of pytest ended, for results of deepeval, which hold the metrics only.

The plug-in of pytest writes a line for each test, and the importer gives each case the verdict of its test: a test may
expect that a metric fails, or fail although its metrics passed. A failed test without a case would be in no report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scoregate.kernel.types.identity import digest
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.records import record

OUTCOMES_FILE = "test_outcomes.json"
_LONGEST_TEXT = 2_000


@record
class TestOutcome:
    """How one test ended.

    Attributes:
        test: its node id.
        failure: why it failed; None if it passed or failed as expected.
        cases: the identities of the cases that deepeval recorded for it.
        is_clear: whether its outcome decides: it was not skipped, and not run again.
        is_recorded: whether it is a case of a suite by itself.
    """

    __test__ = False  # else pytest would collect the class for its name

    test: str
    failure: str | None = None
    cases: tuple[str, ...] = ()
    is_clear: bool = True
    is_recorded: bool = False

    @property
    def name(self) -> str:
        """What deepeval calls a case of the test that has no name."""
        return self.test.rpartition("::")[2]

    def to_line(self) -> bytes:
        """The line of the file."""
        failure = None if self.failure is None else self.failure[:_LONGEST_TEXT]
        return dump([self.test, failure, self.cases, self.is_clear, self.is_recorded]) + b"\n"


def identify_deepeval_case(name: object, case_input: object) -> str:
    """What tells apart the cases of deepeval: the name, and the input or the scenario."""
    return digest([str(name), str(case_input or "")])


@dataclass(slots=True)
class TestOutcomes:
    """The outcomes of a command, and which of them belong to cases."""

    __test__ = False  # else pytest would collect the class for its name

    _outcomes: tuple[TestOutcome, ...]
    _by_case: dict[str, list[TestOutcome]] = field(default_factory=dict)
    _found: set[str] = field(default_factory=set)

    @classmethod
    def parse(cls, data: bytes) -> TestOutcomes:
        """Read a file of lines.

        Raises:
            ValueError: it is damaged.
        """
        outcomes = cls(tuple(_parse_lines(data)))
        for outcome in outcomes._outcomes:
            # Without deepeval in its process, as with files that other code writes, only names identify cases.
            for case in outcome.cases or (outcome.name,):
                outcomes._by_case.setdefault(case, []).append(outcome)
        return outcomes

    def find(self, name: str, case_input: object) -> TestOutcome | None:
        """The outcome of the test that recorded a case; None if it is unknown, or several tests ended differently."""
        found = self._by_case.get(identify_deepeval_case(name, case_input)) or self._by_case.get(name, [])
        self._found.update(outcome.test for outcome in found)
        has_one_verdict = len({outcome.failure is None for outcome in found}) == 1
        return found[0] if has_one_verdict and all(outcome.is_clear for outcome in found) else None

    def list_missing(self) -> list[str]:
        """The failed tests that have no case."""
        return [
            outcome.test
            for outcome in self._outcomes
            if outcome.failure is not None and not (outcome.cases or outcome.is_recorded or outcome.test in self._found)
        ]


def _parse_lines(data: bytes) -> Iterator[TestOutcome]:
    for line in data.splitlines():
        match json.loads(line):
            case [str(test), str() | None as failure, [*cases], bool(is_clear), bool(is_recorded)] if _are_texts(cases):
                yield TestOutcome(test, failure, tuple(cases), is_clear, is_recorded)
            case _:
                raise ValueError(f"it is not the outcome of a test: {line[:80]!r}")


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(each, str) for each in values)
