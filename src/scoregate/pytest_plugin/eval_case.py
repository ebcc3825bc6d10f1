"""What a test reports about its case: scores, the output, the input. A score below its threshold fails the test."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from scoregate.evals.scores import ScoreReader, make_threshold
from scoregate.kernel.types.evaluation import Evaluation, Threshold

if TYPE_CHECKING:
    from _pytest.outcomes import Failed
else:
    Failed = pytest.fail.Exception

PASSED = "passed"
_LONGEST_NAME = 200
_LONGEST_REASON = 300
_PLUGIN = "scoregate-thresholds"
_SCALE_ADVICE = "Divide it by the highest score"
_LATE_ADVICE = (
    "Give it in the test, or in the teardown of a fixture whose scope is one test. To judge the outputs of many tests "
    "in one call, do so in a fixture before its `yield`"
)
_NOT_GIVEN: Any = object()


class BelowThreshold(Failed):
    """Fails a test whose own assertions passed."""

    __module__ = "builtins"  # as pytest's own: its summary shows the name without the module


class EvalCase:
    """One case: the value of the fixture `scoregate`.

    Attributes:
        scores: the results by name; None for one that was skipped.
        body: the input and the expected output, as far as the test gave them.
        outcome: the output; None without one.
    """

    def __init__(self, note_late: Callable[[str], None] = lambda _: None) -> None:
        self.scores: dict[str, Evaluation | None] = {}
        self.body: dict[str, Any] = {}
        self.outcome: Any = None
        self._note_late = note_late
        self._ended_test = ""

    def end(self, test: str) -> None:
        """Accept nothing more: the test has ended, with the teardown of its fixtures, and its case is recorded.

        Args:
            test: the name of the test, for the error.
        """
        self._ended_test = test

    def score(
        self, name: str, value: Any, *, threshold: float | Threshold | None = None, reason: str | None = None
    ) -> None:
        """Report a score. If it is below its threshold, the test fails at its end, after all other scores.

        Args:
            name: the name of the score, which must not change. Each name is used once in a test.
            value: a bool, which passes if it is true; a number from 0 to 1; an `Evaluation`; an object with `score`;
                None to skip the score.
            threshold: the lowest score that passes, or a `Threshold`; without one, a number neither passes nor fails.
            reason: the reason for the score, for the report.

        Raises:
            RuntimeError: the test has ended.
            TypeError: an argument has another type.
            ValueError: the number is outside of 0 to 1, or the name is empty, too long, used before, or "passed".
        """
        __tracebackhide__ = True
        self._check_open(f"score {name!r:.60}")
        self._check_name(name)
        try:
            evaluation = ScoreReader(make_threshold(threshold), scale_advice=_SCALE_ADVICE).read(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"score {name!r:.60}: {error}") from None  # pytest shows the line of the test only
        if not isinstance(evaluation, Evaluation | None):
            raise TypeError(f"score {name!r:.60} takes one score, not {type(value).__name__}: {value!r:.100}")
        if evaluation is not None and reason is not None:
            metadata = {**(evaluation.metadata or {}), "reason": str(reason)}
            evaluation = Evaluation(
                evaluation.score, evaluation.threshold, metadata, evaluation.assertions, evaluation.usage
            )
        self.scores[name] = evaluation

    def output(self, value: Any) -> None:
        """Report the output of the function under test; a second call replaces the first.

        Raises:
            RuntimeError: the test has ended.
        """
        __tracebackhide__ = True
        self._check_open("the output")
        self.outcome = value

    def case(self, *, input: Any = _NOT_GIVEN, expected: Any = _NOT_GIVEN) -> None:  # noqa: A002
        """Report the input and the expected output; without a call, the parameters of the test are the input.

        Raises:
            RuntimeError: the test has ended.
        """
        __tracebackhide__ = True
        self._check_open("the case")
        given = {"input": input, "expected": expected}
        self.body |= {name: value for name, value in given.items() if value is not _NOT_GIVEN}

    def _check_open(self, what: str) -> None:
        __tracebackhide__ = True
        if self._ended_test:
            problem = f"{what} was given after the test {self._ended_test:.150} had ended"
            self._note_late(problem)  # in a thread, the exception reaches no report
            raise RuntimeError(f"{problem}. {_LATE_ADVICE}")

    def _check_name(self, name: str) -> None:
        __tracebackhide__ = True
        if not isinstance(name, str):
            raise TypeError(f"the name of a score must be a text, not {name!r:.60}")
        if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
            raise ValueError(f"the name of a score has 1 to {_LONGEST_NAME} printable characters, not {name!r:.60}")
        if name == PASSED:
            raise ValueError(f"the score {PASSED!r} is the result of the assertions; use another name")
        if name in self.scores:
            raise ValueError(f"the test has a score {name!r:.60} already")


def describe_failures(case: EvalCase) -> list[str]:
    """A line for each score that is below its threshold."""
    scores = case.scores.items()
    return [
        _describe(name, evaluation)
        for name, evaluation in scores
        if evaluation is not None and evaluation.passed is False
    ]


def _describe(name: str, evaluation: Evaluation) -> str:
    reason = (evaluation.metadata or {}).get("reason")
    text = f" ({' '.join(str(reason).split())[:_LONGEST_REASON]})" if reason else ""
    return f"{name} {evaluation.score:.3g}, required: {evaluation.threshold}{text}"


CASE = pytest.StashKey[EvalCase]()
NOTE_LATE = pytest.StashKey[Callable[[pytest.Item, str], None]]()
"""In the stash of the configuration: receives what was given to the case of a test after its end."""


def open_case(item: pytest.Item) -> EvalCase:
    """The case of a test that runs now."""
    plugins = item.config.pluginmanager
    if not plugins.has_plugin(_PLUGIN):
        plugins.register(_ThresholdCheck(), _PLUGIN)
    note_late = item.config.stash.get(NOTE_LATE, lambda *_: None)
    item.stash[CASE] = EvalCase(partial(note_late, item))
    return item.stash[CASE]


class _ThresholdCheck:
    """Fails tests with scores below their thresholds. Registered when the first test uses the fixture."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Check the scores after the test; an exception of the test itself wins."""
        try:
            result = yield
        except BaseException:
            if lines := _failures(item):
                item.add_report_section("call", "scoregate", "\n".join(lines))
            raise
        if lines := _failures(item):
            raise BelowThreshold("\n".join(lines), pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Check the scores that fixtures gave after the test, and end the case."""
        known = _failures(item)
        try:
            result = yield
        finally:
            if (case := item.stash.get(CASE, None)) is not None:
                case.end(item.nodeid)
        # The thresholds of a test that is expected to fail don't count.
        if (lines := _failures(item)[len(known) :]) and item.get_closest_marker("xfail") is None:
            raise BelowThreshold("\n".join(lines), pytrace=False)
        return result


def _failures(item: pytest.Item) -> list[str]:
    case = item.stash.get(CASE, None)
    return [] if case is None else describe_failures(case)
