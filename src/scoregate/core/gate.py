"""The verdict: every rule applied, and the conclusion drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoregate.core.compare import Comparison
from scoregate.core.policy import Policy
from scoregate.core.rules import RUN_RULES, SUITE_RULES, Conclusion, Finding

EXIT_CODES = {Conclusion.PASSED: 0, Conclusion.FAILED: 1, Conclusion.UNMEASURABLE: 3}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every finding, and the conclusion drawn from them."""

    findings: tuple[Finding, ...]

    @property
    def conclusion(self) -> Conclusion:
        """Failed if any gate failed; else unmeasurable if anything could not be measured; else passed."""
        found = {finding.conclusion for finding in self.findings}
        if Conclusion.FAILED in found:
            return Conclusion.FAILED
        return Conclusion.UNMEASURABLE if Conclusion.UNMEASURABLE in found else Conclusion.PASSED

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 unmeasurable."""
        return EXIT_CODES[self.conclusion]

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(finding for finding in self.findings if finding.conclusion is not Conclusion.PASSED)


def judge(comparison: Comparison, policy: Policy) -> Verdict:
    """Apply every rule."""
    findings = list(_of_run(comparison))
    for suite in comparison.run.suites:
        limits = policy.of(suite)
        findings.extend(finding for rule in SUITE_RULES for finding in rule(suite, limits))
    return Verdict(tuple(findings))


def _of_run(comparison: Comparison) -> Iterator[Finding]:
    for rule in RUN_RULES:
        yield from rule(comparison)
