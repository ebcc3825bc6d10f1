"""The rule about judges themselves: whether they agree with people."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.core.calibration import describe_reviews, digest_fingerprint, is_judge
from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedSuite


def judge_agreement(judged: JudgedSuite) -> Iterator[Finding]:
    """Every judge agrees with people as often as is demanded of those that may fail a run."""
    least = judged.limits.min_judge_agreement
    if least is None:
        return
    where, limit = judged.limits.where("min_judge_agreement"), f"> {least:.1%}"
    for name, info in judged.suite.evaluators.items():
        if not is_judge(info):
            continue
        found = judged.calibrations.get((info.id, digest_fingerprint(info.fingerprint)))
        missing = judged.uncalibrated.get(name)
        conclusion = Conclusion.FAILED if missing else Conclusion.PASSED
        value = missing or (describe_reviews(found) if found else "")
        yield Finding("judge agreement", conclusion, value, limit, where, judged.suite.label, name, bound=least)
