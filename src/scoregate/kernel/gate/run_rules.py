"""Rules about the whole run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from glob import escape
from itertools import chain
from typing import Any

from scoregate.kernel.gate.case_rules import CRITICAL
from scoregate.kernel.gate.finding import Finding, RunContext
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.declaration import Limit
from scoregate.kernel.types.declarations.kernel import (
    BASE_PRESENT,
    BASE_READABLE,
    CALLS_ANSWERED,
    EVALUATORS_UNCHANGED,
    FILTERS_MATCH,
    LIMITS_APPLY,
    POLICY_AVAILABLE,
    RUN_COMPLETE,
    SCRIPTS_END_WELL,
    SCRIPTS_RUN_SUITES,
    SOMETHING_RAN,
    STOPPED_EARLY,
    SUITES_REMAIN,
    SUITES_REPORT,
)
from scoregate.kernel.types.event_values import INTERRUPTED
from scoregate.kernel.types.runs.model_calls import find_unanswered
from scoregate.kernel.types.runs.policy import Criteria, Limits, matches_suite
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.sharding.partition import lacks_shard
from scoregate.kernel.types.text import matches_filters

_MOST_NAMES = 20
_LAST_FAILED = "--last-failed"


def check_any_suite(context: RunContext) -> Iterator[Finding]:
    """At least one suite ran. If another rule reports why there is none, this rule reports nothing."""
    run = context.comparison.run
    reasons = chain(check_scripts(context), check_scripts_report(context), check_filters(context))
    if not run.suites and next(reasons, None) is None:
        value = "all were skipped" if run.scope.skipped else "none was found"
        if run.scope.selection and (run.scripts or _LAST_FAILED in run.scope.selection):
            value = f"no case matches {run.scope.selection}"
        yield Finding(SOMETHING_RAN, Conclusion.UNMEASURABLE, value, "at least 1 suite", "always")


def check_run_complete(context: RunContext) -> Iterator[Finding]:
    """The run was not interrupted, and its record is not damaged. A run that failing cases stopped has failed."""
    run = context.comparison.run
    if run.scope.shard is not None:
        value = f"it is shard {run.scope.shard.number} of {run.scope.shard.of}"
        yield Finding(RUN_COMPLETE, Conclusion.UNMEASURABLE, value, "all shards, merged", "always")
    elif not run.end.complete and not explains_gaps(run):
        yield Finding(RUN_COMPLETE, Conclusion.UNMEASURABLE, "a part is missing", "the whole run", "always")


def check_stopped(context: RunContext) -> Iterator[Finding]:
    """A run that its failing cases stopped has failed."""
    if why := context.comparison.run.end.stopped:
        yield Finding(STOPPED_EARLY, Conclusion.FAILED, why, "no failing case", "--max-failures")


def check_scripts(context: RunContext) -> Iterator[Finding]:
    """Every script exits with 0, or with 1 because its own `assert_test` raised, and without another error.

    A test runner may exit with its own code for failed tests, if its result file has a failed test.
    """
    for value in find_script_failures(context.comparison.run).values():
        yield Finding(SCRIPTS_END_WELL, Conclusion.UNMEASURABLE, value, "exit code 0", "always")


def explains_gaps(run: Run, script: str | None = None) -> bool:
    """Whether another rule reports why trials are missing: failing cases stopped the run, or their script failed."""
    return bool(run.end.stopped) or (script is not None and script in find_script_failures(run))


def find_script_failures(run: Run) -> dict[str, str]:
    """Why each failed script failed, by the name of the script; without those that failing cases stopped."""
    asserted = {suite.script for suite in run.suites if suite.assertion_failed}
    failures = {}
    for script in run.scripts:
        why = script.error.message if script.error else ""
        full = why if why.startswith(f"{script.name}:") else f"{script.name}: {why}"
        if run.end.stopped and script.error is not None and script.error.type == INTERRUPTED:
            continue
        if script.timed_out:
            failures[script.name] = f"{script.name} was stopped after {script.duration_s:.0f} s"
        elif script.exit_code is None:
            failures[script.name] = full if why else f"{script.name} did not start"
        elif script.tests_failed:
            continue
        elif script.exit_code and (script.exit_code != 1 or script.name not in asserted):
            failures[script.name] = full if why else f"{script.name} exited with {script.exit_code}"
        elif script.exit_code == 0 and why:
            failures[script.name] = full
    return failures


def check_scripts_report(context: RunContext) -> Iterator[Finding]:
    """Every script runs a suite, unless a filter may have left it out."""
    run = context.comparison.run
    reported = {suite.script for suite in run.suites} | find_script_failures(run).keys()
    for script in run.scripts:
        ended_well = script.exit_code == 0 or script.tests_failed
        if ended_well and script.name not in reported and not (run.scope.filters or run.scope.selection):
            value = f"{script.name} ended without a call of evaluate or run_test_suite, and without events"
            if "pytest" in script.name.split():
                value += "; tests of pytest are recorded with the fixture `scoregate`, its mark, or --junit FILE"
            elif not script.name.endswith(".py"):
                value += "; name a file with its results, --junit FILE or --import FORMAT:FILE, or write events"
            yield Finding(SCRIPTS_RUN_SUITES, Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


def check_expected_suites(context: RunContext) -> Iterator[Finding]:
    """Every suite that a script starts reports results, unless a filter or a missing requirement excuses it.

    It may be in a shard that is missing, which another rule reports.
    """
    run, scope = context.comparison.run, context.comparison.run.scope
    if lacks_shard(run):
        return
    reported = {(suite.script, suite.id) for suite in run.suites}
    scripts = {script for script, _ in reported}
    for script in run.scripts:
        if script.exit_code != 0 or script.name not in scripts:
            continue  # another rule reports it
        for suite in script.expected:
            excused = suite in scope.skipped or bool(scope.selection) or not matches_filters(suite, scope.filters)
            if (script.name, suite) not in reported and not excused:
                value = f"{suite} in {script.name}"
                yield Finding(SUITES_REPORT, Conclusion.UNMEASURABLE, value, "every suite that it starts", "always")


def check_model_calls(context: RunContext) -> Iterator[Finding]:
    """Every script got answers to at least half of its calls through the gateway.

    Otherwise the provider was down or its key was missing, and a suite that falls back to something else measured that.
    """
    for script, (failed, calls) in find_unanswered(context.comparison.run.model_calls).items():
        value = f"{failed:,} of {calls:,} calls of {script} through the gateway got no answer"
        yield Finding(CALLS_ANSWERED, Conclusion.UNMEASURABLE, value, "answers to at least half", "always")


def check_base_suites(context: RunContext) -> Iterator[Finding]:
    """Every suite of the baseline is still there."""
    for label in context.comparison.unexcused_missing_suites:
        yield Finding(
            SUITES_REMAIN, Conclusion.UNMEASURABLE, f"{label} is gone", "every suite of the baseline", "always"
        )


def check_baseline(context: RunContext) -> Iterator[Finding]:
    """There is a baseline if one is required, and it can be read if relative gates need it.

    Relative gates are unmeasurable if a baseline may exist that can't be read, or if the run was compared with a
    baseline before. They are not applied if there is no baseline yet.
    """
    comparison, gates = context.comparison, context.relative_gates
    why = comparison.base_note or "no baseline"
    if comparison.base is None and context.policy.require_baseline:
        yield Finding(BASE_PRESENT, Conclusion.UNMEASURABLE, why, "a baseline", "require_baseline")
    elif comparison.base_unreadable and gates:
        value = f"{why}; {' and '.join(gates)} can't be applied without it"
        yield Finding(BASE_READABLE, Conclusion.UNMEASURABLE, value, "the baseline", "always")
    elif comparison.base is None and comparison.run.compared_with is not None and gates:
        yield Finding(BASE_PRESENT, Conclusion.UNMEASURABLE, why, "the baseline of this run", "always")


def check_policy(context: RunContext) -> Iterator[Finding]:
    """The baseline's policy is available if it should apply; a change could loosen its own policy."""
    if context.policy_problem:
        value, limit = f"{context.policy_problem}; judged by the settings of the change", "the settings of the base"
        yield Finding(POLICY_AVAILABLE, Conclusion.UNMEASURABLE, value, limit, "policy_from = base")


def check_evaluators(context: RunContext) -> Iterator[Finding]:
    """If the baseline's policy applies, the run has the baseline's evaluators and thresholds."""
    if not context.policy.of_base:
        return
    suites, limit = context.comparison.run.suites, "as in the baseline"
    for each in context.evaluator_changes:
        label = suites[each.suite].label
        yield Finding(EVALUATORS_UNCHANGED, Conclusion.FAILED, each.what, limit, "", label, each.evaluator)


def check_filters(context: RunContext) -> Iterator[Finding]:
    """Every filter matches a suite, since a misspelled name would leave out the suites that were meant."""
    run = context.comparison.run
    ran = tuple(dict.fromkeys(suite.id for suite in run.suites))
    known = ", ".join((*ran, *run.scope.left_out)[:_MOST_NAMES])
    for glob in run.scope.filters:
        if not any(matches_filters(suite, [glob]) for suite in (*ran, *run.scope.skipped)):
            value = f"the filter {glob} matched {f'none of {known}' if known else 'nothing'}"
            yield Finding(FILTERS_MATCH, Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


def check_limits(context: RunContext) -> Iterator[Finding]:
    """Every limit matches a suite and an evaluator, unless only a part of the project was run."""
    run, scope = context.comparison.run, context.comparison.run.scope
    if scope.filters or scope.skipped:
        return
    reported = {suite.script for suite in run.suites}
    has_all_suites = run.end.complete and not scope.narrowed and all(script.name in reported for script in run.scripts)
    for glob, limits in context.policy.suites.items():
        suites = [suite for suite in run.suites if matches_suite(suite, glob)]
        values = [value for name, value in limits.items() if name != "origin"]
        if suites:
            is_exact = any(glob in (suite.id, escape(suite.id)) for suite in suites)
            yield from _limits_without_evaluator(
                limits, suites, context.declared, is_partial=scope.narrowed and not is_exact
            )
            if is_exact or not scope.narrowed:
                yield from _find_idle_limits(context, limits, suites)
        elif has_all_suites and any(value not in (None, {}) for value in values):
            known = ", ".join(sorted({suite.id for suite in run.suites})[:_MOST_NAMES]) or "none"
            origin = next(iter(limits.origin.values()), "default")
            value = f"{glob} matches none of the suites that ran: {known}"
            yield Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "at least 1 suite each", origin)
    default = context.policy.default
    yield from _limits_without_evaluator(default, run.suites, context.declared, is_partial=scope.narrowed)
    if run.suites and not scope.narrowed:
        yield from _find_idle_limits(context, default, run.suites)
    if has_all_suites:
        yield from _thresholds_without_evaluator(context.policy.criteria, run.suites)
        if not scope.selection:
            yield from _critical_limits_without_case(context)


def _critical_limits_without_case(context: RunContext) -> Iterator[Finding]:
    """`fail_on_critical`, if no case of its suites has the tag: a misspelled tag would switch the limit off."""
    comparison, policy = context.comparison, context.policy
    limited = ((each, policy.limits_of(each)) for each in comparison.run.suites if len(each.columns))
    # A set of gates is for projects with such cases and for those without.
    suites = [each for each, own in limited if own.fail_on_critical and not own.is_from_set("fail_on_critical")]
    tags = {tag for suite in suites for tags in suite.columns.tags.values() for tag in tags}
    base_suites = () if comparison.base is None else comparison.base.suites
    in_base = any(CRITICAL in tags for suite in base_suites for tags in suite.columns.tags.values())
    if not suites or CRITICAL in tags or in_base or comparison.quarantined:  # those may have had the tag
        return
    known = f"; the tags are {', '.join(sorted(tags)[:_MOST_NAMES])}" if tags else ""
    value = f"fail_on_critical: no case has the tag {CRITICAL!r}{known}"
    origin = policy.limits_of(suites[0]).find_origin("fail_on_critical")
    yield Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "a case with the tag", origin)


def _thresholds_without_evaluator(criteria: Criteria, suites: Iterable[SuiteResult]) -> Iterator[Finding]:
    names = {name for suite in suites for name in suite.evaluators}
    for glob, own in criteria.evaluators.items():
        if own.threshold is not None and names and not any(fnmatchcase(name, glob) for name in names):
            value = f"{glob} matches no scorer, and has a threshold"
            yield Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "a pattern that matches", "[evaluators]")


def _limits_without_evaluator(
    limits: Limits, suites: Iterable[SuiteResult], declared: Iterable[Limit[Any]], *, is_partial: bool
) -> Iterator[Finding]:
    """Limits that match no evaluator.

    If `is_partial`, suites that are not in this run may have the evaluator; then only limits of the command line,
    which are meant for this run, are checked.
    """
    names = {name for suite in suites for name in suite.evaluators}
    if not names:
        return  # another rule reports that nothing was evaluated
    for limit in declared:
        for glob in limit.of(limits) if limit.kind.by == "evaluator" else ():
            origin = limits.find_origin(f"{limit.name}.{glob}")
            if any(fnmatchcase(name, glob) for name in names) or (is_partial and not origin.startswith("--")):
                continue
            yield Finding(
                LIMITS_APPLY,
                Conclusion.UNMEASURABLE,
                f"{glob} in {limit.name} matches no scorer",
                "a pattern that matches",
                origin,
            )


def _find_idle_limits(context: RunContext, limits: Limits, suites: Sequence[SuiteResult]) -> Iterator[Finding]:
    """Limits of features and `cluster`, if they apply to nothing in these suites."""
    for find_idle in context.find_idle:
        yield from find_idle(context.comparison, limits, suites)
    yield from _clusters_without_case(limits, suites)


def _clusters_without_case(limits: Limits, suites: Iterable[SuiteResult]) -> Iterator[Finding]:
    """`cluster`, if it names no case: cases would count as more evidence than they are."""
    columns = [suite.columns for suite in suites if len(suite.columns)]
    if limits.cluster is not None and columns and not any(each.clusters for each in columns):
        value = f"no case has a cluster by {limits.cluster}"
        origin = limits.find_origin("cluster")
        yield Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "a field or pattern that matches", origin)
