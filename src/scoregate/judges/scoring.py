"""One example, one version of a judge: a result."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from anyio import to_thread

from scoregate.core.metering import METER, Meter, meter_here
from scoregate.engine.call import is_async, settled
from scoregate.engine.errors import ENDINGS, error_info
from scoregate.errors import JudgmentValidationError
from scoregate.judges.asking import Subject, asked
from scoregate.judges.code import Judge
from scoregate.judges.responses import Response
from scoregate.judges.result import JudgeResult, result_of
from scoregate.judges.version import JudgeVersion


async def scored(version: JudgeVersion, subject: Subject) -> JudgeResult:
    """The result, in which an error is data: whatever a judge raises becomes `error`, and there is no value.

    What models take for it is in its `usage`, and is counted to whatever runs here as well.
    """
    outer = meter_here()
    meter = Meter(outer.repeat)
    token = METER.set(meter)
    try:
        result = await judged(version, subject)
    except ENDINGS:
        raise
    except BaseException as error:  # the user's code may raise anything
        result = JudgeResult(version, error=error_info(error))
    finally:
        METER.reset(token)
        for usage in meter.usages:
            outer.add(usage)
    return replace(result, usage=meter.usage)


async def judged(version: JudgeVersion, subject: Subject) -> JudgeResult:
    """The result.

    Raises:
        ModelError: a model gave no answer. Exception: whatever a code judge raises.
        TypeError: a code judge returned what is not its response.
    """
    if version.grading.kind == "prompt":
        response, prompt = await asked(version, subject)
        return result_of(version, response, prompt=prompt)
    score = code_of(version).score
    if is_async(score):
        return responded(version, await settled(score(subject.example)))
    given = await to_thread.run_sync(score, subject.example, abandon_on_cancel=True)
    return responded(version, await settled(given) if inspect.isawaitable(given) else given)


def responded(version: JudgeVersion, response: Any) -> JudgeResult:
    """The result of what a code judge returned.

    Raises:
        TypeError: it is not its response.
    """
    expected: type[Response] = code_of(version).response_type
    if not isinstance(response, expected):
        raise TypeError(
            f"score of the judge {version.name!r:.60} must return a {expected.__name__},"
            f" not {type(response).__name__}: {response!r:.200}"
        )
    return result_of(version, response)


def code_of(version: JudgeVersion) -> Judge[Any]:
    """The code judge behind a version.

    Raises:
        JudgmentValidationError: it was not loaded.
    """
    if version.code is None:
        raise JudgmentValidationError(
            f"the code of the judge {version.label!r:.60} was not loaded",
            advice="Take the version from client.judges.resolve(…), which loads it.",
        )
    return version.code
