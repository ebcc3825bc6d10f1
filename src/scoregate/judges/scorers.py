"""Versions of judges as the engine takes them: scorers that tell their version in the fingerprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from scoregate.core.evaluation import Evaluation, Naming
from scoregate.core.events import EvaluatorInfo, Fingerprint
from scoregate.core.metering import METER
from scoregate.core.suite import Scorer
from scoregate.engine.call import is_async
from scoregate.engine.errors import ENDINGS, error_info
from scoregate.engine.fingerprint import fingerprint
from scoregate.judges.asking import Subject, prompt_version
from scoregate.judges.code import Judge
from scoregate.judges.result import JudgeResult, choices_of
from scoregate.judges.scoring import code_of, judged, responded
from scoregate.judges.targets import grading_of, instance, name_of, target_of
from scoregate.judges.version import JudgeVersion
from scoregate.judging.templates import digest

_WITHOUT_EFFECT = ("name",)
Read = Callable[[Any, Any], Subject]
Keep = Callable[[str, Any, JudgeResult], None]


def scorers_of(
    versions: Sequence[JudgeVersion],
    read: Read,
    *,
    max_concurrency: int = 10,
    keep: Keep | None = None,
) -> list[Scorer]:
    """A scorer for each version, called as its judge; with the version where two of one judge run together.

    Args:
        read: what is judged, out of a case and what the function under test returned.
        max_concurrency: how many examples a judge scores at a time.
        keep: is told the scorer's name, what the function under test returned, and the result, an error included.
    """
    counts = Counter(version.name for version in versions)
    names = [each.name if counts[each.name] == 1 else f"{each.name}@{each.version}" for each in versions]
    return [
        Scorer(
            EvaluatorInfo(name, fingerprint_of(each), choices=choices_of(each)),
            _scorer(each, read, partial(keep or _forget, name)),
            max_concurrency,
        )
        for name, each in zip(names, versions, strict=True)
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


def _calling(version: JudgeVersion, read: Read, *, sync: bool) -> Callable[[Any, Any], Any]:
    if sync:
        judge = code_of(version).score
        return lambda case, output: responded(version, judge(read(case, output).example))
    return lambda case, output: judged(version, read(case, output))


def _scorer(version: JudgeVersion, read: Read, keep: Callable[[Any, JudgeResult], None]) -> Callable[[Any, Any], Any]:
    """Sync code is called in the engine's own threads, several examples a trip."""
    sync = version.grading.kind == "code" and not is_async(code_of(version).score)
    call = _calling(version, read, sync=sync)

    def told(output: Any, result: JudgeResult) -> Evaluation | Naming:
        keep(output, _metered(result))
        return result.evaluation()

    def failed(output: Any, error: BaseException) -> None:
        info = error_info(error)
        keep(output, _metered(JudgeResult(version, error=info)))

    async def in_loop(case: Any, output: Any) -> Evaluation | Naming:
        try:
            return told(output, await call(case, output))
        except ENDINGS:
            raise
        except BaseException as error:  # the user's code may raise anything
            failed(output, error)
            raise

    def in_thread(case: Any, output: Any) -> Evaluation | Naming:
        try:
            return told(output, call(case, output))
        except BaseException as error:  # the user's code may raise anything
            failed(output, error)
            raise

    return in_thread if sync else in_loop


def _metered(result: JudgeResult) -> JudgeResult:
    meter = METER.get()
    return replace(result, usage=meter.usage) if meter is not None and meter.used else result


def _forget(name: str, output: Any, result: JudgeResult) -> None:
    """Where nobody asks for the results."""
