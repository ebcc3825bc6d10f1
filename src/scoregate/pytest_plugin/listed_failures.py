"""Failures that pytest leaves out of its summary, because scoregate's list of failing cases says all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from scoregate.pytest_plugin.eval_case import BelowThreshold

_IS_LISTED = "scoregate_is_listed"
# The list has two lines for a reason, with folded white space; longer ones are complete in pytest's summary only.
_LONGEST_REASON = 100


def mark_listed(report: pytest.TestReport, error: BaseException | None) -> None:
    """Mark the report of a failed case if scoregate's list has its whole reason, and the test printed nothing.

    Args:
        report: the report of the test itself.
        error: what failed it.
    """
    if not report.failed or any(text.strip() for _, text in report.sections):
        return
    is_short = len(" ".join(str(error).split())) <= _LONGEST_REASON
    if isinstance(error, BelowThreshold) or (isinstance(error, AssertionError | pytest.fail.Exception) and is_short):
        setattr(report, _IS_LISTED, True)


@contextmanager
def leave_out_listed(reporter: Any) -> Iterator[None]:
    """Leave marked failures out of what a reporter prints until the block ends; `-v` in pytest's options shows them.

    Args:
        reporter: pytest's reporter, or that of a plug-in.
    """
    failed = getattr(reporter, "stats", {}).get("failed")
    if not failed or reporter.config.get_verbosity() > 0:
        yield
        return
    shown = [report for report in failed if not getattr(report, _IS_LISTED, False)]
    reporter.stats["failed"] = shown
    try:
        yield
    finally:
        reporter.stats["failed"] = failed  # for the counts at the end
    if left_out := len(failed) - len(shown):
        count = "1 failure is" if left_out == 1 else f"{left_out:,} failures are"
        reporter.write_line(f"{count} in scoregate's list of failing cases")
