"""Commands that reproduce a part of a run: a gate that failed, or one case."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from glob import escape

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.context import RunStart
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import BASE_PRESENT, RELATIVE_RULES
from scoregate.kernel.types.runs.run_scope import ExecCall

_RUN = ("scoregate", "run")


def reproduce_finding(finding: Finding, view: ReportView) -> str | None:
    """The command that measures a failed gate again, in the project's folder; None for a gate that passed.

    A gate that compares runs the suites of the base's commit, too. A limit that was set for this one run is set again.
    """
    if finding.conclusion is Conclusion.PASSED:
        return None
    suite = next((each for each in view.suites if each.label == finding.suite), None)
    options = [] if suite is None else ["--suite", escape(suite.id)]
    if finding.is_drop or finding.declaration in (*RELATIVE_RULES, BASE_PRESENT):
        options += ["--baseline", f"rerun:{view.base.commit}" if view.base and view.base.commit else "rerun"]
    limit = view.context.start.limits.get(finding.origin, "")
    return _enter(view.context.start.exec_call, f"{limit} {_join(view.context.start, suite, options)}".strip())


def rerun_case(view: ReportView, suite: SuiteView, case: str) -> str:
    """The command that runs one case again, in the project's folder.

    Suites of commands run whole, and the cases whose name contains this one's are kept.
    """
    file = view.context.start.files.get(suite.index)
    if file is not None:
        return shlex.join([*_RUN, f"{file}::{suite.id}::{case}"])
    own = ["--suite", escape(suite.id)]
    if (call := view.context.start.exec_call) is not None:
        return _enter(call, _join(view.context.start, suite, own))
    return shlex.join([*_RUN, *own, "-k", quote_keyword(case)])


def _enter(call: ExecCall | None, line: str) -> str:
    """The command line in the folder of a call of `scoregate exec`."""
    return line if call is None or call.folder == "." else f"cd {shlex.quote(call.folder)} && {line}"


def _join(start: RunStart, suite: SuiteView | None, options: Sequence[str]) -> str:
    call = start.exec_call
    if call is not None:
        return shlex.join(["scoregate", "exec", *call.options, *options, "--", *call.command])
    file = None if suite is None else start.files.get(suite.index)
    named = start.named if file is None else (file,) if start.named else ()
    return shlex.join([*_RUN, *named, *options])


def quote_keyword(text: str) -> str:
    """An expression for `-k` that matches names with this text.

    Args:
        text: any text. If it has both kinds of quotes, the expression asks for all parts between double quotes.
    """
    for quote in ('"', "'"):
        if quote not in text:
            return f"{quote}{text}{quote}"
    return " and ".join(f'"{part}"' for part in text.split('"') if part)
