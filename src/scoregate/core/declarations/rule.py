"""The declaration of a gate rule."""

from __future__ import annotations

from scoregate.core.records import record
from scoregate.core.runs.policy import Limits, Severity


@record
class Rule:
    """A rule of the gate.

    Attributes:
        name: its name in findings.
        failed: the title of a finding that isn't passed; empty for the name.
        passed: the title of a passed one; empty for the other title.
        severity: its effect on the run if no setting says otherwise.
        is_fixed: whether no setting can relax it.
    """

    name: str
    failed: str = ""
    passed: str = ""
    severity: Severity = Severity.FAIL
    is_fixed: bool = False

    @property
    def key(self) -> str:
        """Its name in the table `severity`, such as `error_rate`."""
        return self.name.replace(" ", "_")

    @property
    def titles(self) -> tuple[str, str]:
        """The titles of a finding that isn't passed, and of a passed one."""
        failed = self.failed or self.name[:1].upper() + self.name[1:]
        return failed, self.passed or failed

    def severity_in(self, limits: Limits) -> Severity:
        """Its effect on the run by these limits."""
        return limits.severity.get(self.key, self.severity)
