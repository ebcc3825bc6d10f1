"""Whether a run fell: a gate that compares it with its baseline failed, or could not be measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.gate.check import SuiteCheck
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.gate.verdict import Verdict
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import BASE_READABLE, RELATIVE_RULES


def has_fallen(comparison: Comparison, verdict: Verdict, checks: Iterable[SuiteCheck] = ()) -> bool:
    """Whether a relative gate makes a run red. It is not red for errors that only the baseline met.

    Args:
        comparison: the run and its baseline.
        verdict: the verdict on them.
        checks: the checks of features.
    """
    if comparison.base is None:
        return any(finding.declaration is BASE_READABLE for finding in verdict.failed)
    return not all(_blames_base(each, comparison) for each in list_relative_findings(verdict, checks))


def list_relative_findings(verdict: Verdict, checks: Iterable[SuiteCheck]) -> Iterator[Finding]:
    """The findings of relative gates that failed, or could not be measured.

    Args:
        verdict: the verdict.
        checks: the checks of features.
    """
    of_features = {rule for check in checks if any(each.is_relative for each in check.limits) for rule in check.rules}
    relative = {*RELATIVE_RULES, *of_features}
    yield from (each for each in verdict.failed if each.declaration.drop_from or each.declaration in relative)


def _blames_base(finding: Finding, comparison: Comparison) -> bool:
    """Whether pairs are missing since only the baseline met errors. Otherwise no later run could replace it."""
    if finding.conclusion is not Conclusion.UNMEASURABLE or not finding.is_drop or comparison.base is None:
        return False
    for index, base_index in comparison.pairs:
        suite, base = comparison.run.suites[index], comparison.base.suites[base_index]
        if suite.label == finding.suite:
            return bool(base.columns.errored_rows()) and not suite.columns.errored_rows()
    return False
