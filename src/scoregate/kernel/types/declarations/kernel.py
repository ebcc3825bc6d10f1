"""The rules and limits of the kernel. Features declare their own."""

from __future__ import annotations

from typing import Any

from scoregate.kernel.types.declarations.declaration import (
    AMOUNT,
    BY_EVALUATOR,
    CONFIDENCE,
    FACTOR,
    FLAG,
    RATE,
    Limit,
    Option,
    Rule,
)
from scoregate.kernel.types.declarations.fields import GateSet
from scoregate.kernel.types.runs.policy import Severity

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
EVALUATORS_UNCHANGED = Rule("evaluators unchanged", "A scorer isn't the baseline's", "Scorers")
FILTERS_MATCH = Rule("filters match", "A filter matches no suite", "Filters", is_fixed=True)
LIMITS_APPLY = Rule("limits apply", "A limit matches no suite or scorer", "Limits")

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
DROP = Rule("drop", drop_from="base")
REGRESSION = Rule("regression", drop_from="base")
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
    *(JUDGE_AGREEMENT, NEW_ERRORS, DROP, REGRESSION, COMPARABLE, SAME_MODEL, SCORES_REMAIN),
    *(COST_RATIO, TOKENS_RATIO, P95_LATENCY_RATIO, CRITICAL_CASE, CRITICAL_CASES_REMAIN),
)

# The rules that need a baseline, besides those of drops.
RELATIVE_RULES: tuple[Rule, ...] = (
    *(SUITES_REMAIN, BASE_READABLE, EVALUATORS_UNCHANGED, NEW_ERRORS, COMPARABLE, SAME_MODEL, SCORES_REMAIN),
    *(COST_RATIO, TOKENS_RATIO, P95_LATENCY_RATIO, CRITICAL_CASE, CRITICAL_CASES_REMAIN),
)

_IN_BOTH = {GateSet.USUAL: True, GateSet.STRICT: True}
MIN_PASS_RATE = Limit(
    "min_pass_rate", RATE, option=Option("gate", "Minimum pass rate of the cases with a threshold (0 to 1).", "RATE")
)
PASS_RATE_CONFIDENCE = Limit(
    "pass_rate_confidence",
    CONFIDENCE,
    """`min_pass_rate` fails only if the one-sided upper bound of the pass rate (Wilson) at this confidence is below
    the limit. It has no effect at a limit of 1.0.
    """,
)
MAX_ERROR_RATE = Limit(
    "max_error_rate",
    RATE,
    option=Option("gate", "Maximum share of cases with errors (0 to 1).", "RATE"),
    in_sets={GateSet.STRICT: 0.0},
)
MAX_LOST_SCORES = Limit(
    "max_lost_scores",
    RATE,
    """The share of scores that may turn into None. If more are lost, and more than by chance, the row is
    unmeasurable. Without it: 0.05.
    """,
    in_sets={GateSet.STRICT: 0.0},
)
MIN_SCORE = Limit(
    "min_score",
    BY_EVALUATOR,
    """Fail if the mean score of a scorer is lower: one number for all, or a table by globs of scorers. A case
    with several trials counts once, with their mean.
    """,
)
MAX_DROP = Limit(
    "max_drop",
    BY_EVALUATOR,
    """Fail if the mean score of a scorer is worse than the baseline by more than this, and by more than noise:
    one number for all, or a table by globs of scorers.
    """,
    is_relative=True,
    option=Option("gate", "Maximum drop of a mean score (0 to 1), for all scorers or SCORER=DROP,… for some.", "DROP"),
)
FAIL_ON_REGRESSION = Limit(
    "fail_on_regression",
    FLAG,
    "Fail if any score is worse than the baseline by more than noise.",
    is_relative=True,
    option=Option("gate", "Fail if any score is significantly worse than the baseline."),
    in_sets=_IN_BOTH,
)
FAIL_ON_CRITICAL = Limit("fail_on_critical", FLAG, is_relative=True, in_sets=_IN_BOTH)
MAX_COST = Limit(
    "max_cost",
    AMOUNT,
    is_enough=True,
    option=Option("budget", "Cost budget: stop calling models when it is reached.", "USD"),
)
MAX_COST_RATIO = Limit(
    "max_cost_ratio",
    FACTOR,
    "Fail if the cost is higher than this multiple of the baseline, and by more than noise.",
    is_relative=True,
)
MAX_TOKENS = Limit(
    "max_tokens",
    AMOUNT,
    is_enough=True,
    option=Option("budget", "Token budget: stop calling models when it is reached.", "N"),
)
MAX_TOKENS_RATIO = Limit(
    "max_tokens_ratio",
    FACTOR,
    "Fail if the number of tokens is higher than this multiple of the baseline, and by more than noise.",
    is_relative=True,
)
MAX_P95_MS = Limit(
    "max_p95_ms",
    AMOUNT,
    "Fail if the 95th percentile of a suite's latency is higher, in milliseconds.",
    is_enough=True,
)
MAX_P95_RATIO = Limit(
    "max_p95_ratio",
    FACTOR,
    """Fail if the 95th percentile of the latency is higher than this multiple of the baseline, and by more than
    noise.
    """,
    is_relative=True,
)
MIN_JUDGE_AGREEMENT = Limit(
    "min_judge_agreement",
    RATE,
    """Scores of a judge count for `min_score`, `max_drop` and `fail_on_regression` only if people agree with it on a
    random sample: its balanced accuracy and the share of failures that it finds must be above this, by lower bounds.
    """,
)

LIMITS: tuple[Limit[Any], ...] = (
    *(MIN_PASS_RATE, PASS_RATE_CONFIDENCE, MAX_LOST_SCORES, MIN_SCORE, MAX_DROP),
    *(
        FAIL_ON_REGRESSION,
        FAIL_ON_CRITICAL,
        MAX_ERROR_RATE,
        MAX_COST,
        MAX_COST_RATIO,
        MAX_TOKENS,
        MAX_TOKENS_RATIO,
        MAX_P95_MS,
    ),
    *(MAX_P95_RATIO, MIN_JUDGE_AGREEMENT),
)
