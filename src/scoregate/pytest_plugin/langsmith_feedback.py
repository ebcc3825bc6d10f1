"""Tests of LangSmith's plug-in for pytest: what they log is recorded, also where it is not sent to LangSmith.

Its functions `log_inputs`, `log_outputs`, `log_reference_outputs` and `log_feedback` are replaced by ones that call
them and record the arguments with the case of the test that runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from importlib import import_module
from math import isfinite
from numbers import Real
from typing import Any

import pytest

from scoregate.evals.scores import is_bool
from scoregate.kernel.types.identity import bounded_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import is_whole_number

MARK = "langsmith"
_TESTING = "langsmith.testing"
_PLACES = (_TESTING, f"{_TESTING}._internal")
_MOST_REPEATS, _LONGEST_LABEL = 1_000, 100


@record
class Feedback:
    """A score or a label of a test.

    Attributes:
        key: its name.
        score: the score, on any scale; None without one.
        label: the category; empty without one.
        metadata: the comment as `reason`, and a value next to the score.
        problem: why it can't be recorded; empty if it can.
    """

    key: str
    score: float | None = None
    label: str = ""
    metadata: Mapping[str, Any] | None = None
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it has neither a score nor a label."""
        return self.score is None and not self.label and not self.problem


class LoggedCase:
    """What a test logged.

    Attributes:
        inputs: the inputs; None without any.
        outputs: the outputs; None without any.
        expected: the reference outputs; None without any.
        feedback: the scores and labels.
    """

    def __init__(self) -> None:
        self.inputs: Any = None
        self.outputs: Any = None
        self.expected: Any = None
        self.feedback: list[Feedback] = []

    def describe(self, parameters: Mapping[str, Any], output_keys: frozenset[str]) -> dict[str, Any]:
        """The input and the expected output, as LangSmith makes an example of a test.

        Args:
            parameters: the parameters of the test.
            output_keys: those of them that are expected outputs.
        """
        inputs = {name: value for name, value in parameters.items() if name not in output_keys}
        expected = {name: value for name, value in parameters.items() if name in output_keys}
        body = {"input": _merge(inputs or None, self.inputs), "expected": _merge(expected or None, self.expected)}
        return {name: value for name, value in body.items() if value is not None}


LOGGED = pytest.StashKey[LoggedCase]()
_running: list[LoggedCase] = []


def start_case(item: pytest.Item) -> None:
    """Record what a test logs from now on, if it has the mark.

    Args:
        item: the test.
    """
    _running.clear()
    if is_recorded(item):
        item.stash[LOGGED] = LoggedCase()
        _running.append(item.stash[LOGGED])


def is_recorded(item: pytest.Item) -> bool:
    """Whether a test has the mark of LangSmith's plug-in, and the plug-in is there.

    Args:
        item: the test.
    """
    return _TESTING in sys.modules and item.get_closest_marker(MARK) is not None


def read_marks(item: pytest.Item) -> dict[str, Any]:
    """The suite and the number of trials that the marks name.

    Args:
        item: the test.
    """
    marks = [mark.kwargs for mark in item.iter_markers(MARK)]
    suites = (each["test_suite_name"] for each in marks if isinstance(each.get("test_suite_name"), str))
    repeats = (each["repetitions"] for each in marks if is_whole_number(each.get("repetitions"), 1))
    options: dict[str, Any] = {}
    if suite := next(filter(str.isprintable, suites), "").strip():
        options["suite"] = bounded_name(suite)
    # With tracking, LangSmith repeats the test within one call of it.
    if (number := next(repeats, None)) is not None and _is_tracking_off():
        options["repeats"] = min(number, _MOST_REPEATS)
    return options


def _is_tracking_off() -> bool:
    utils = sys.modules.get("langsmith.utils")
    return utils is not None and utils.test_tracking_is_disabled() is True


def find_output_keys(item: pytest.Item) -> frozenset[str]:
    """The parameters that are expected outputs.

    Args:
        item: the test.
    """
    mark = item.get_closest_marker(MARK)
    keys = () if mark is None else mark.kwargs.get("output_keys") or ()
    return frozenset(key for key in keys if isinstance(key, str))


def record_logged() -> None:
    """Replace LangSmith's functions, if its plug-in is loaded. Test files must not have imported them yet."""
    for place in _PLACES:
        if (module := sys.modules.get(place)) is not None:
            for name, note in _NOTES.items():
                _wrap(module, name, note)
    with suppress(ImportError, AttributeError):
        # `expect.score`, `expect.edit_distance` and `expect.embedding_distance` report by this method.
        _wrap(import_module("langsmith._expect")._Expect, "_submit_feedback", _note_expectation)


def _wrap(owner: Any, name: str, note: Callable[..., None]) -> None:
    original = getattr(owner, name, None)
    if original is None or hasattr(original, "_scoregate"):
        return

    @wraps(original)
    def log(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if _running:
            note(_running[0], *args, **kwargs)
        return result

    log._scoregate = True  # type: ignore[attr-defined]
    setattr(owner, name, log)


def _note_inputs(case: LoggedCase, inputs: Any) -> None:
    case.inputs = _merge(case.inputs, inputs)


def _note_outputs(case: LoggedCase, outputs: Any) -> None:
    case.outputs = _merge(case.outputs, outputs)


def _note_expected(case: LoggedCase, reference_outputs: Any) -> None:
    case.expected = _merge(case.expected, reference_outputs)


def _note_feedback(case: LoggedCase, feedback: Any = None, *, key: Any = None, **fields: Any) -> None:
    given = feedback if isinstance(feedback, list) else [feedback or {"key": key, **fields}]
    for each in given:
        shared = {**fields, **each} if isinstance(each, Mapping) else {}
        case.feedback.append(_read_feedback(shared, _find_free_name(case, shared.get("key"))))


def _note_expectation(case: LoggedCase, _expect: Any, key: Any, results: Any) -> None:
    _note_feedback(case, {**results, "key": key})


def _find_free_name(case: LoggedCase, key: Any) -> str:
    """The name of a feedback. The assertions are the score `passed`; a second feedback of one name gets a number."""
    name = "".join(each if each.isprintable() else " " for each in str(key or "feedback"))
    name, names = bounded_name(name), {"passed", *(each.key for each in case.feedback)}
    number = 1
    free = name
    while free in names:
        number += 1
        free = f"{name} #{number}"
    return free


def _read_feedback(fields: Mapping[str, Any], key: str) -> Feedback:
    score, value, comment = fields.get("score"), fields.get("value"), fields.get("comment")
    metadata = {"reason": comment, "value": None if score is None else value}
    metadata = {name: each for name, each in metadata.items() if each is not None}
    if score is not None and (is_bool(score) or (isinstance(score, Real) and isfinite(score))):
        return Feedback(key, float(score), metadata=metadata or None)
    if score is not None:
        return Feedback(key, problem=f"its score is {score!r:.100}, no number")
    return Feedback(key, label=str(value)[:_LONGEST_LABEL] if value is not None else "", metadata=metadata or None)


def _merge(before: Any, after: Any) -> Any:
    """What was logged, with what is logged now."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return {**before, **after}
    return before if after is None else after


_NOTES: Mapping[str, Callable[..., None]] = {
    "log_inputs": _note_inputs,
    "log_outputs": _note_outputs,
    "log_reference_outputs": _note_expected,
    "log_feedback": _note_feedback,
}
