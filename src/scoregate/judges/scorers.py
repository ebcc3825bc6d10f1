"""Versions of judges as scorers of the engine; their fingerprints contain the version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from scoregate.engine.calls import await_result, is_async
from scoregate.engine.fingerprint import fingerprint_object
from scoregate.errors import JudgmentValidationError
from scoregate.grading.grade import Grade
from scoregate.grading.prompts import digest_texts
from scoregate.grading.scorers import SubjectReader, build_scorer
from scoregate.grading.subject import Subject
from scoregate.judges.code_judge import Judge, code_grading, judge_name, judge_target, to_instance
from scoregate.judges.prompt_judge import grade_by_prompt, prompt_version
from scoregate.judges.responses import Response
from scoregate.judges.result import NO, YES, JudgeResult, possible_scores, to_grade
from scoregate.judges.versions import JudgeVersion
from scoregate.kernel.types.event_values import ErrorInfo, Fingerprint
from scoregate.kernel.types.suite import Scorer
from scoregate.kernel.types.usage import METER

_NO_EFFECT = ("name",)
ResultObserver = Callable[[str, Any, JudgeResult], None]


def build_scorers(
    versions: Sequence[JudgeVersion],
    read_subject: SubjectReader,
    *,
    max_concurrency: int = 10,
    observe: ResultObserver | None = None,
) -> list[Scorer]:
    """A scorer for each version. Its name is the judge's, with the version if two of one judge run together.

    Args:
        versions: the versions, ready to score.
        read_subject: makes the subject from a case and the output of the function under test.
        max_concurrency: how many examples a judge grades at a time.
        observe: called with the scorer's name, the output of the function under test, and the result or error.
    """
    counts = Counter(version.name for version in versions)
    names = [each.name if counts[each.name] == 1 else f"{each.name}@{each.version}" for each in versions]
    return [
        build_scorer(
            name,
            _grade_function(version),
            read_subject,
            fingerprint=version_fingerprint(version),
            choices=possible_scores(version),
            max_concurrency=max_concurrency,
            observe=None if observe is None else partial(_observe, version, partial(observe, name)),
        )
        for name, version in zip(names, versions, strict=True)
    ]


def _grade_function(version: JudgeVersion) -> Callable[[Subject], Any]:
    if version.grading.kind == "prompt":
        return partial(grade_by_prompt, version)
    if version.code is None:
        raise JudgmentValidationError(
            f"the code of the judge {version.label!r:.60} was not loaded",
            advice="Take the version from client.judges.resolve(…), which loads it.",
        )
    score = version.code.score

    async def grade_in_loop(subject: Subject) -> Grade:
        return _to_grade(version, await await_result(score(subject.example)))

    return grade_in_loop if is_async(score) else lambda subject: _to_grade(version, score(subject.example))


def _to_grade(version: JudgeVersion, response: Any) -> Grade:
    expected: type[Response] = version.code.response_type  # type: ignore[union-attr]
    if not isinstance(response, expected):
        raise TypeError(
            f"score of the judge {version.name!r:.60} must return a {expected.__name__},"
            f" not {type(response).__name__}: {response!r:.200}"
        )
    value = getattr(response, "value")  # noqa: B009 - each kind of response has its own type of value
    if isinstance(value, bool):
        value = YES if value else NO
    return to_grade(version, value, response.reason, citations=response.citations)


def _observe(
    version: JudgeVersion, observe: Callable[[Any, JudgeResult], None], output: Any, result: Grade | ErrorInfo
) -> None:
    meter = METER.get()
    usage = meter.usage if meter is not None and meter.used else None
    if isinstance(result, Grade):
        observe(output, JudgeResult(version, result, usage))
    else:
        observe(output, JudgeResult(version, to_grade(version, None), usage, result))


def unstored_version(judge: Judge[Any] | type[Judge[Any]]) -> JudgeVersion:
    """A code judge that is not in the store: it has no version number, only its code.

    Raises:
        JudgmentValidationError: it is not a judge.
        TypeError: its class names no response.
    """
    code = to_instance(judge)
    name, target = judge_name(code), judge_target(code)
    own_id = str(uuid5(NAMESPACE_URL, f"scoregate:judge:{name}"))
    return JudgeVersion(own_id, name, None, code_grading(code, target), code=code)


def version_fingerprint(version: JudgeVersion) -> Fingerprint:
    """What the scores of a version depend on."""
    number = version.version or None
    if version.code is not None:
        return replace(fingerprint_object(version.code, ignore=_NO_EFFECT), version=number)
    from scoregate.models.openai_model import name_of as model_name

    scores = [f"{category.value}={category.score}" for category in version.categories]
    parameters = digest_texts(version.score_type, *map(repr, version.scale), *scores)
    return Fingerprint(None, prompt_version(version), parameters, model_name(version.model), number)
