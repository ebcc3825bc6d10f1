"""Versions of judges as the engine takes them: scorers that tell their version in the fingerprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from scoregate.core.evaluation import Evaluation
from scoregate.core.events import EvaluatorInfo, Fingerprint
from scoregate.core.suite import Scorer
from scoregate.engine.call import is_async
from scoregate.engine.fingerprint import fingerprint
from scoregate.judges.asking import Subject, prompt_version
from scoregate.judges.code import Judge
from scoregate.judges.scoring import code_of, judged, responded
from scoregate.judges.targets import grading_of, instance, name_of, target_of
from scoregate.judges.version import JudgeVersion
from scoregate.judging.templates import digest

_WITHOUT_EFFECT = ("name",)


def scorers_of(
    versions: Sequence[JudgeVersion], read: Callable[[Any, Any], Subject], *, max_concurrency: int = 10
) -> list[Scorer]:
    """A scorer for each version, called as its judge; with the version where two of one judge run together.

    Args:
        read: what is judged, out of a case and what the function under test returned.
        max_concurrency: how many examples a judge scores at a time.
    """
    counts = Counter(version.name for version in versions)
    return [
        _scorer(version, read, name=version.name if counts[version.name] == 1 else version.label, most=max_concurrency)
        for version in versions
    ]


def unstored(given: Judge[Any] | type[Judge[Any]]) -> JudgeVersion:
    """A code judge that is in no store: it has no version, and tells of itself by its code alone.

    Raises:
        JudgmentValidationError: it is no judge. TypeError: its class names no response.
    """
    judge = instance(given)
    name, target = name_of(judge), target_of(judge)
    return JudgeVersion(
        str(uuid5(NAMESPACE_URL, f"scoregate:judge:{name}")), name, None, grading_of(judge, target), code=judge
    )


def fingerprint_of(version: JudgeVersion) -> Fingerprint:
    """What its scores depend on."""
    number = version.version or None
    if version.code is not None:
        return replace(fingerprint(version.code, ignore=_WITHOUT_EFFECT), version=number)
    from scoregate.models.get_model import name_of as model_name

    scores = [f"{category.value}={category.score}" for category in version.categories]
    parameters = digest(version.score_type, *map(repr, version.scale), *scores)
    return Fingerprint(None, prompt_version(version), parameters, model_name(version.model), number)


def _scorer(version: JudgeVersion, read: Callable[[Any, Any], Subject], *, name: str, most: int) -> Scorer:
    info = EvaluatorInfo(name, fingerprint_of(version))
    if version.grading.kind == "code" and not is_async(code_of(version).score):
        return Scorer(info, _sync(version, read), most)

    async def score(case: Any, output: Any) -> Evaluation | None:
        return (await judged(version, read(case, output))).evaluation()

    return Scorer(info, score, most)


def _sync(version: JudgeVersion, read: Callable[[Any, Any], Subject]) -> Callable[[Any, Any], Any]:
    """In the engine's own threads, several examples a trip."""
    judge = code_of(version).score

    def score(case: Any, output: Any) -> Evaluation | None:
        return responded(version, judge(read(case, output).example)).evaluation()

    return score
