"""Grade one subject by a version of a judge, as a scorer of the engine does."""

from __future__ import annotations

from contextlib import suppress
from inspect import isawaitable
from typing import Any

from scoregate.grading.subject import Subject
from scoregate.judges import JudgeResult, JudgeVersion, build_scorers
from scoregate.kernel.types.usage import METER, UsageMeter


def to_subject(example: Any, fields: Any = None, output: Any = None, trace: str | None = None) -> Subject:
    return Subject(output=output, trace=trace, fields=fields or {}, example=example)


async def grade(version: JudgeVersion, subject: Subject) -> JudgeResult:
    """The result, in which an error is data."""
    results: list[JudgeResult] = []
    (scorer,) = build_scorers(
        [version], lambda *_: subject, observe=lambda _name, _output, result: results.append(result)
    )
    token = METER.set(UsageMeter())
    try:
        with suppress(Exception, SystemExit):
            evaluation = scorer.score(None, None)
            if isawaitable(evaluation):
                await evaluation
    finally:
        METER.reset(token)
    (result,) = results
    return result
