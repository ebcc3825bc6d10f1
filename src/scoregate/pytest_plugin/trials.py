"""One trial of a case: the phases of a test, and the events that it becomes."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any
from zlib import crc32

import pytest

from scoregate.engine.environment import events_folder
from scoregate.engine.errors import make_error_info
from scoregate.engine.imports import relative_path
from scoregate.engine.media_files import record_media
from scoregate.engine.trial import make_usage_fields
from scoregate.errors import NotRecordable
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import MAX_MESSAGE, MAX_TRACEBACK, ErrorInfo, truncate_text
from scoregate.kernel.types.json_io import dump, to_stable_plain
from scoregate.kernel.types.text import LONGEST_NAME
from scoregate.kernel.types.usage import UsageMeter
from scoregate.pytest_plugin.collected import Options, Place, describe_parameters, find_name, find_origin, read_options
from scoregate.pytest_plugin.eval_case import CASE, PASSED, BelowThreshold, EvalCase
from scoregate.pytest_plugin.langsmith_feedback import LOGGED, Feedback, LoggedCase, find_output_keys

_MET = Threshold(gte=1)
_MOST_FRAMES = -20
SKIPPED, EXPECTED_FAILURE = "skipped", "xfail"


@dataclass(slots=True)
class Trial:
    """One attempt at a test, while its phases end.

    Attributes:
        item: the test.
        place: where it is recorded.
        meter: counts the model usage of the test.
        tags: whether it was skipped, or failed as expected.
        failures: why its assertions failed.
        errors: the exceptions that are no failed assertions.
        has_run: whether the test itself ran to its end.
        duration_ms: how long the test itself took.
    """

    item: pytest.Item
    place: Place
    meter: UsageMeter
    tags: tuple[str, ...] = ()
    failures: list[dict[str, str]] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)
    has_run: bool = False
    duration_ms: float | None = None

    def note_phase(self, report: pytest.TestReport, call: pytest.CallInfo[Any]) -> None:
        """Note how setup, the test itself or teardown ended."""
        if call.when == "call":
            self.has_run, self.duration_ms = True, round(report.duration * 1000, 3)
        error = None if call.excinfo is None else call.excinfo.value
        if report.skipped:
            self.tags = (EXPECTED_FAILURE if hasattr(report, "wasxfail") else SKIPPED,)
        elif report.failed and isinstance(error, BelowThreshold):
            return
        elif report.failed and call.when == "call" and (error is None or _is_assertion(error)):
            self.failures.append(_describe_failure(report, error, self.item))
        elif report.failed and error is not None:
            self.errors.append(_describe_error(error, self.item))
        elif report.failed:
            self.errors.append(ErrorInfo("TestFailed", truncate_text(report.longreprtext, MAX_MESSAGE)))

    def make_events(self, repeat: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events of this trial: their types and fields.

        Args:
            repeat: the number of the trial.
        """
        key = {"case": self.place.case, "repeat": repeat}
        case = self.item.stash.get(CASE, None) or EvalCase()
        errors = list(self.errors)
        body = _to_json("the input", self._find_input(case), errors)
        yield "case_started", {**key, **self._describe_case(body)}
        logged = self.item.stash.get(LOGGED, None) or LoggedCase()
        output = _to_json("the output", logged.outputs if case.outcome is None else case.outcome, errors)
        usage = make_usage_fields(self.meter.usage)
        yield "case_output", {**key, "output": output, "duration_ms": self.duration_ms, **usage}
        unscored = []
        for name, evaluation in (*self._judge_assertions(), *case.scores.items()):
            if evaluation is None:
                unscored.append(name)
            else:
                yield "scored", {**key, "evaluator": name, **self._describe_score(evaluation, errors)}
        for feedback in logged.feedback:
            yield from self._report_feedback(feedback, key, errors)
        for error in errors:
            yield "errored", {**key, "stage": "task", "error": error}
        unscored += [each.key for each in logged.feedback if each.is_empty]
        yield "case_finished", {**key, "unscored": unscored}

    def _report_feedback(
        self, feedback: Feedback, key: Mapping[str, Any], errors: list[ErrorInfo]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        named = {**key, "evaluator": feedback.key}
        if feedback.problem:
            yield "errored", {**named, "stage": "evaluator", "error": ErrorInfo("NoScore", feedback.problem)}
        elif not feedback.is_empty:
            kind, value = ("labelled", feedback.label) if feedback.score is None else ("scored", feedback.score)
            metadata = _to_json("the metadata of a feedback", feedback.metadata, errors)
            yield kind, {**named, "label" if kind == "labelled" else "score": value, "metadata": metadata}

    def _find_input(self, case: EvalCase) -> Any:
        parameters = describe_parameters(self.item)
        if (logged := self.item.stash.get(LOGGED, None)) is not None:
            return {**logged.describe(parameters or {}, find_output_keys(self.item)), **case.body} or None
        if "input" in case.body or parameters is None:
            return case.body or None
        return {"input": parameters, **case.body} if case.body else parameters

    def _describe_case(self, body: Any) -> dict[str, Any]:
        options = read_options(self.item) or Options()
        tags = (*options.tags, *self.tags)
        described = {"name": find_name(self.item)[:LONGEST_NAME], "input": body, "tags": tags}
        described |= {} if options.cluster is None else {"cluster": options.cluster}
        digest = "" if body is None else f"{crc32(dump(body)):08x}"
        return {**described, "digest": digest, "origin": find_origin(self.item)}

    def _judge_assertions(self) -> Iterator[tuple[str, Evaluation | None]]:
        """Whether the assertions passed; no score for a test that was skipped, had an error or failed as expected."""
        if self.failures:
            yield PASSED, Evaluation(0.0, _MET, self.failures[0])
        elif self.tags or self.errors or not self.has_run:
            yield PASSED, None
        else:
            yield PASSED, Evaluation(1.0, _MET)

    def _describe_score(self, evaluation: Evaluation, errors: list[ErrorInfo]) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "score": evaluation.score,
            "threshold": evaluation.threshold,
            "assertions": evaluation.assertions,
        }
        if EXPECTED_FAILURE in self.tags:
            del fields["threshold"]
        metadata = _to_json("the metadata of a score", evaluation.metadata, errors)
        described = {name: value for name, value in {**fields, "metadata": metadata}.items() if value is not None}
        return {**described, **make_usage_fields(evaluation.usage)}


def _to_json(what: str, value: Any, errors: list[ErrorInfo]) -> Any:
    """The value as JSON types; None with an error if it is nested too deeply, or has media that can't be kept.

    The process that writes events may be another one, so this one writes the files of images and audio.
    """
    try:
        return None if value is None else record_media(to_stable_plain(value), events_folder())
    except (ValueError, RecursionError) as error:
        errors.append(make_error_info(NotRecordable(what, ValueError(str(error)))))
        return None


def _is_assertion(error: BaseException) -> bool:
    """Whether an exception is a failed assertion, or a group of nothing else."""
    return all(isinstance(each, AssertionError | pytest.fail.Exception) for each in _list_leaves(error))


def _describe_failure(report: pytest.TestReport, error: BaseException | None, item: pytest.Item) -> dict[str, str]:
    if error is None:
        return {"reason": truncate_text(report.longreprtext, MAX_MESSAGE)}
    errors = list(_list_leaves(error))
    reasons = [str(each).strip() or type(each).__name__ for each in errors]
    frame = _find_frame(errors[0], item)
    place = {} if frame is None else {"line": f"{relative_path(str(item.path))}:{frame.tb_lineno}"}
    return {"reason": truncate_text("\n".join(reasons), MAX_MESSAGE), **place}


def _list_leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, without the groups."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _list_leaves(each)
    else:
        yield error


def _find_frame(error: BaseException, item: pytest.Item) -> TracebackType | None:
    """The first frame in the file of a test."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != str(item.path):
        frame = frame.tb_next
    return frame


def _describe_error(error: BaseException, item: pytest.Item) -> ErrorInfo:
    """The exception, with the frames from the file of the test on."""
    frame, info = _find_frame(error, item), make_error_info(error)
    return info if frame is None else replace(info, traceback=_format(error, frame))


def _format(error: BaseException, frame: TracebackType) -> str:
    try:
        lines = traceback.format_exception(type(error), error, frame, limit=_MOST_FRAMES)
    except Exception:  # foreign exceptions may raise anything when they are printed
        return ""
    return truncate_text("".join(lines), MAX_TRACEBACK)
