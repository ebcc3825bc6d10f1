"""The rules of the kernel. Features declare their own."""

from __future__ import annotations

from scoregate.core.declarations.rule import Rule
from scoregate.core.runs.policy import Severity

# The run.
SOMETHING_RAN = Rule("something ran", "No suite ran", "Suites ran", is_fixed=True)
RUN_COMPLETE = Rule("run complete", "The run is incomplete", "Complete run", is_fixed=True)
STOPPED_EARLY = Rule("stopped early", "The run was stopped", "Run not stopped", is_fixed=True)
SCRIPTS_END_WELL = Rule("scripts end well", "A script failed", "Scripts", is_fixed=True)
SCRIPTS_RUN_SUITES = Rule("scripts run suites", "A script ran no suite", "Scripts", is_fixed=True)
SUITES_REPORT = Rule("suites report", "A suite didn't report", "Suites")
CALLS_ANSWERED = Rule("calls answered", "Most model calls failed", "Model calls")
SUITES_REMAIN = Rule("suites remain", "A suite of the baseline is missing", "Suites of the baseline")
BASE_PRESENT = Rule("base present", "No baseline to compare with", "Baseline", is_fixed=True)
BASE_READABLE = Rule("base readable", "The baseline can't be read", "Baseline", is_fixed=True)
POLICY_AVAILABLE = Rule("policy available", "The base's settings aren't available", "Policy", is_fixed=True)
EVALUATORS_UNCHANGED = Rule("evaluators unchanged", "An evaluator isn't the baseline's", "Evaluators")
FILTERS_MATCH = Rule("filters match", "A filter matches no suite", "Filters", is_fixed=True)
LIMITS_APPLY = Rule("limits apply", "A limit matches no suite or evaluator", "Limits")

# A suite.
SUITE_IS_VALID = Rule("suite is valid", "The suite reported an error", "Suite", is_fixed=True)
SUITE_FINISHED = Rule("suite finished", "The suite didn't finish", "Suite", is_fixed=True)
CASES_RAN = Rule("cases ran", "No case ran", "Cases", is_fixed=True)
CASES_WERE_EVALUATED = Rule("cases were evaluated", "Nothing was evaluated", "Evaluations")
EVALUATIONS_PENDING = Rule("evaluations pending", "Evaluations wait for people", "Evaluations")
ERROR_RATE = Rule("error rate", "Too many errors", "Error rate")
PASS_RATE = Rule("pass rate")
MEAN_SCORE = Rule("mean score")
ASSERT_TEST = Rule("assert_test", "assert_test", is_fixed=True)
COST = Rule("cost")
TOKENS = Rule("tokens")
P95_LATENCY = Rule("p95 latency", "p95 latency")
JUDGE_AGREEMENT = Rule("judge agreement", "Judge not calibrated", "Judge agreement", Severity.WARN)

# A suite and its baseline.
NEW_ERRORS = Rule("new errors", "More errors than in the baseline", "New errors")
DROP = Rule("drop")
SLICE_DROP = Rule("slice drop")
REGRESSION = Rule("regression")
COMPARABLE = Rule("comparable", "Can't be compared with the baseline", "Comparable")
SAME_MODEL = Rule("same model", "The model isn't the baseline's", "Model", Severity.OFF)
SCORES_REMAIN = Rule("scores remain", "Scores are missing", "Scores")
COST_RATIO = Rule("cost ratio")
TOKENS_RATIO = Rule("tokens ratio")
P95_LATENCY_RATIO = Rule("p95 latency ratio", "p95 latency ratio")
CRITICAL_CASE = Rule("critical case", "A critical case fails", "Critical case")
CRITICAL_CASES_REMAIN = Rule("critical cases remain", "A critical case isn't measured", "Critical cases")

RULES: tuple[Rule, ...] = (
    *(SOMETHING_RAN, RUN_COMPLETE, STOPPED_EARLY, SCRIPTS_END_WELL, SCRIPTS_RUN_SUITES, SUITES_REPORT),
    *(CALLS_ANSWERED, SUITES_REMAIN, BASE_PRESENT, BASE_READABLE, POLICY_AVAILABLE, EVALUATORS_UNCHANGED),
    *(FILTERS_MATCH, LIMITS_APPLY, SUITE_IS_VALID, SUITE_FINISHED, CASES_RAN, CASES_WERE_EVALUATED),
    *(EVALUATIONS_PENDING, ERROR_RATE, PASS_RATE, MEAN_SCORE, ASSERT_TEST, COST, TOKENS, P95_LATENCY),
    *(JUDGE_AGREEMENT, NEW_ERRORS, DROP, SLICE_DROP, REGRESSION, COMPARABLE, SAME_MODEL, SCORES_REMAIN),
    *(COST_RATIO, TOKENS_RATIO, P95_LATENCY_RATIO, CRITICAL_CASE, CRITICAL_CASES_REMAIN),
)
