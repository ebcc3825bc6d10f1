"""Graders as scorers of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from scoregate.engine.calls import is_async
from scoregate.engine.errors import EXIT_EXCEPTIONS, make_error_info
from scoregate.grading.grade import Grade
from scoregate.grading.subject import Subject
from scoregate.kernel.types.evaluation import Evaluation, Label
from scoregate.kernel.types.event_values import Choice, ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.suite import Scorer

SubjectReader: TypeAlias = Callable[[Any, Any], Subject]
GradeObserver: TypeAlias = Callable[[Any, Grade | ErrorInfo], None]


def build_scorer(
    name: str,
    grade: Callable[[Subject], Any],
    read_subject: SubjectReader,
    *,
    fingerprint: Fingerprint,
    higher_is_better: bool = True,
    choices: tuple[Choice, ...] = (),
    max_concurrency: int = 10,
    observe: GradeObserver | None = None,
) -> Scorer:
    """The scorer of one grader.

    Args:
        name: the evaluator's id in the record.
        grade: gives the `Grade` of a subject, or None if the grader is not for it. The engine calls a sync function in
            its own threads, an async one in the event loop.
        read_subject: makes the subject from a case and the output of the function under test.
        fingerprint: what the scores depend on.
        higher_is_better: the direction for comparisons.
        choices: all the scores that the grader can give; none if it may give any.
        max_concurrency: how many subjects are graded at a time.
        observe: called with the output and its grade, or the error.
    """

    def finish(output: Any, given: Grade | None) -> Evaluation | Label | None:
        if given is None:
            return None
        if observe is not None:
            observe(output, given)
        return given.evaluation()

    def fail(output: Any, error: BaseException) -> None:
        if observe is not None and not isinstance(error, EXIT_EXCEPTIONS):
            observe(output, make_error_info(error))

    def score(case: Any, output: Any) -> Evaluation | Label | None:
        try:
            return finish(output, grade(read_subject(case, output)))
        except BaseException as error:  # the user's code may raise anything
            fail(output, error)
            raise

    async def score_in_loop(case: Any, output: Any) -> Evaluation | Label | None:
        try:
            return finish(output, await grade(read_subject(case, output)))
        except BaseException as error:  # the user's code may raise anything
            fail(output, error)
            raise

    info = EvaluatorInfo(name, fingerprint, higher_is_better, choices=choices)
    return Scorer(info, score_in_loop if is_async(grade) else score, max_concurrency)
