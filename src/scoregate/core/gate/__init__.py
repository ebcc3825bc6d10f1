"""The gate: the rules that a comparison is checked against, their findings, and the verdict."""

from scoregate.core.gate.finding import Conclusion, Finding
from scoregate.core.gate.verdict import EXIT_CODES, RUN_RULES, SUITE_RULES, Verdict, evaluate_gates, judge_comparison

__all__ = [
    "EXIT_CODES",
    "RUN_RULES",
    "SUITE_RULES",
    "Conclusion",
    "Finding",
    "Verdict",
    "evaluate_gates",
    "judge_comparison",
]
