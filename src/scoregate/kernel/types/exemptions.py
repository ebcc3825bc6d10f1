"""Exemptions from the gate: accepted regressions and quarantined cases, each with a reason and a last day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from fnmatch import fnmatchcase

from scoregate.kernel.types.amounts import exceeds
from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import Slot

# A case that passes so often in a row fails in at most 11.3 % of its runs, with a confidence of 95 %.
STABLE_RUNS = 25


@record
class AcceptedRegression:
    """An entry that accepts a regression: the scores of evaluators, or one critical case.

    Attributes:
        suite: a glob of suites.
        until: the last day on which it counts, as an ISO date in UTC.
        reason: why the regression is accepted.
        by: who accepts it.
        evaluator: a glob of evaluators; empty for a case.
        case: the critical case, as a name or a glob; empty for scores.
        at_most: the largest accepted drop of a mean score, in (0, 1]; 0 for a case.
        issue: an issue; may be empty.
        place: the file and the line; it doesn't count when entries are compared.
    """

    suite: str
    until: str
    reason: str
    by: str
    evaluator: str = ""
    case: str = ""
    at_most: float = 0.0
    issue: str = ""
    place: str = field(default="", compare=False)

    @property
    def terms(self) -> str:
        """Until when, by whom and why: `until 2026-12-31 by ana, issue #12: the new parser`."""
        issue = f", issue {self.issue}" if self.issue else ""
        return f"until {self.until} by {self.by}{issue}: {self.reason}"

    def allows(self, drop: float) -> bool:
        """Whether a drop of a mean score is within the accepted one."""
        return not exceeds(drop, self.at_most)


@record
class QuarantinedCases:
    """An entry that takes flaky cases out of the gate.

    Attributes:
        owner: who makes them stable again.
        reason: why they are in quarantine.
        until: the last day on which it counts, as an ISO date in UTC.
        suite: a glob of suites.
        case: a glob of names of cases; empty for all.
        tags: globs of tags, of which a case has at least one; empty for all.
        stable_runs: after how many runs in a row without a failure reports say that a case can leave.
        place: the file and the line; it doesn't count when entries are compared.
    """

    owner: str
    reason: str
    until: str
    suite: str = "*"
    case: str = ""
    tags: tuple[str, ...] = ()
    stable_runs: int = STABLE_RUNS
    place: str = field(default="", compare=False)

    @property
    def terms(self) -> str:
        """Until when, of whom and why."""
        return f"until {self.until}, owner {self.owner}: {self.reason}"

    def matches(self, names: Iterable[str], tags: Iterable[str]) -> bool:
        """Whether it covers a case with one of these names, and these tags."""
        has_name = not self.case or matches_case(self.case, names)
        return has_name and (not self.tags or any(fnmatchcase(tag, glob) for tag in tags for glob in self.tags))


def matches_case(glob: str, names: Iterable[str]) -> bool:
    """Whether a glob matches a name of a case. A name with brackets matches itself, too."""
    return any(name == glob or fnmatchcase(name, glob) for name in names)


Exemption = AcceptedRegression | QuarantinedCases


@record
class IgnoredExemption:
    """An entry that doesn't count, and why."""

    entry: Exemption
    why: str


@record
class Exemptions:
    """The entries of a project.

    Attributes:
        accepted: the accepted regressions.
        quarantined: the cases in quarantine.
        ignored: the entries that don't count, such as those that a pull request adds.
        today: the day of the judgement, as an ISO date in UTC.
        notices: what else readers of a report need to know.
        base_decides: whether the names and tags of the baseline decide which of its cases are in quarantine.
    """

    accepted: tuple[AcceptedRegression, ...] = ()
    quarantined: tuple[QuarantinedCases, ...] = ()
    ignored: tuple[IgnoredExemption, ...] = ()
    today: str = ""
    notices: tuple[str, ...] = ()
    base_decides: bool = False

    @property
    def active_accepted(self) -> tuple[AcceptedRegression, ...]:
        """The accepted regressions that are not expired."""
        return tuple(each for each in self.accepted if not self.is_expired(each))

    @property
    def active_quarantine(self) -> tuple[QuarantinedCases, ...]:
        """The entries of the quarantine that are not expired."""
        return tuple(each for each in self.quarantined if not self.is_expired(each))

    def is_expired(self, entry: Exemption) -> bool:
        """Whether the last day of an entry is over."""
        return entry.until < self.today


EXEMPTIONS: Slot[Exemptions] = Slot("exemptions")
"""The entries that a run is judged with."""


class ExemptionState(StrEnum):
    """The effect of an entry on this run."""

    ACCEPTED = "accepted"
    EXCEEDED = "exceeded"
    NOT_NEEDED = "not needed"
    UNMATCHED = "unmatched"
    EXPIRED = "expired"
    IGNORED = "ignored"


@record
class StableCase:
    """A case that was in quarantine when a run measured it, and in how many runs in a row it has passed."""

    suite: str
    case: str
    runs: int


STABLE_CASES: Slot[tuple[StableCase, ...]] = Slot("stable_cases", tuple[StableCase, ...])
"""The cases that were in quarantine when a run measured them, each with the label of its suite."""
