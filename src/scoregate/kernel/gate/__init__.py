"""The gate: the rules that a comparison is checked against, their findings, and the verdict."""

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.gate.verdict import (
    EXIT_CODES,
    RUN_CHECKS,
    SUITE_CHECKS,
    Verdict,
    evaluate_gates,
    judge_comparison,
)

__all__ = [
    "EXIT_CODES",
    "RUN_CHECKS",
    "SUITE_CHECKS",
    "Finding",
    "Verdict",
    "evaluate_gates",
    "judge_comparison",
]
