"""The run of a test suite: recorded outputs of an agent, judged, and compared with the checks of their cases."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from scoregate.datasets import Example
from scoregate.engine.calls import is_async
from scoregate.engine.fingerprint import fingerprint_function
from scoregate.errors import ScoregateError
from scoregate.grading.prompts import digest_texts
from scoregate.judges import JudgeVersion
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.json_io import dump, sort_sets
from scoregate.kernel.types.suite import Case, Description, Scorer
from scoregate.kernel.types.text import LONGEST_NAME, case_name
from scoregate.kernel.types.trace import Trace
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.suite import PASS_CONDITION, OfflineRun
from scoregate.store.judges import Operator, StoredCheck, StoredSuiteCase


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an agent did for a case: its output and trace, or its error."""

    output: Any = None
    has_output: bool = False
    trace: Trace | None = None
    error: str | None = None


class AgentError(ScoregateError):
    """The agent raised an exception, or its output is unknown."""


_COMPARE: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
    "in": lambda value, expected: value in expected,
    "not_in": lambda value, expected: value not in expected,
}
_ANSWERS = {True: "Yes", False: "No"}


def holds(check: StoredCheck, value: str | float | None) -> bool:
    """Whether the value of a judge is the expected one. `true` and `false` are the Yes and No of binary judges."""
    expected = check.expected
    plain = [_name_answer(each) for each in expected] if isinstance(expected, list) else _name_answer(expected)
    return _COMPARE[check.op](value, plain)


def _name_answer(expected: Any) -> Any:
    return _ANSWERS[expected] if isinstance(expected, bool) else expected


def to_example(case: StoredSuiteCase) -> Example:
    """A case as judges see it: the fields of its input, and the input as a whole."""
    fields = dict(case.input) if isinstance(case.input, Mapping) else {}
    return Example({"input": case.input, **fields}, case.name or "", case.case_id)


@dataclass(slots=True)
class CheckedRun(OfflineRun):
    """Judges the recorded outputs of the cases of a test suite.

    Attributes:
        cases: the cases by id.
        recorded: for each case what the agent did, once for each repeat.
    """

    cases: Mapping[str, StoredSuiteCase] = field(default_factory=dict)
    recorded: Mapping[str, list[Recorded]] = field(default_factory=dict)

    def _duration_form(self) -> Callable[[Any], float | None]:
        return _measure_call

    def build_cases(self, repeats: int) -> list[Case]:
        """The cases, which are known by their ids in the suite."""
        return [Case(str(example.example_id), example, repeats) for example in self.test.examples]

    def describe(self, case: Case) -> Description:
        """A case as it is recorded. Its checks are a part of its definition."""
        stored: StoredSuiteCase = self.cases[case.hash]
        body = case.value.properties
        definition = [stored.input, {key: check.model_dump() for key, check in stored.expected.items()}]
        digest = f"{crc32(dump(sort_sets(definition))):08x}"
        name = stored.name or case_name("0" * 32, body) or dump(body).decode()
        return Description(name[:LONGEST_NAME], body, digest, stored.tags)

    def _build_scorers(self) -> Sequence[Scorer]:
        # slots=True makes another class, which `super()` without arguments doesn't know.
        scorers = OfflineRun._build_scorers(self)
        return [
            scorer._replace(score=self._limit_to_checks(scorer, version))
            for scorer, version in zip(scorers, self.test.versions, strict=True)
        ]

    def _limit_to_checks(self, scorer: Scorer, version: JudgeVersion) -> Callable[[Example, Attempt], Any]:
        def score(example: Example, attempt: Attempt) -> Any:
            return scorer.score(example, attempt) if self._is_for(example, version) else None

        async def score_in_loop(example: Example, attempt: Attempt) -> Any:
            return await scorer.score(example, attempt) if self._is_for(example, version) else None

        return score_in_loop if is_async(scorer.score) else score

    def _is_for(self, example: Example, version: JudgeVersion) -> bool:
        check = self.cases[str(example.example_id)].expected.get(version.id)
        return check is not None and check.version == version.version

    def _build_conclusion(self, scorers: Sequence[Scorer]) -> Scorer:
        names = [scorer.info.id for scorer in scorers]

        def conclude(example: Example, attempt: Attempt) -> Evaluation | None:
            """1 if all checks of the case hold; nothing if it has none or a judge has no result."""
            own = [
                (name, each)
                for name, each in zip(names, self.test.versions, strict=True)
                if self._is_for(example, each)
            ]
            results = [(each.id, attempt.results.get(name)) for name, each in own]
            if not results or any(result is None or result.error is not None for _, result in results):
                return None
            checks = self.cases[str(example.example_id)].expected
            values = {judge: None if result is None else result.grade.value for judge, result in results}
            attempt.success = all(holds(checks[judge], value) for judge, value in values.items())
            return Evaluation(float(attempt.success), Threshold(gte=1), metadata=values)

        own = fingerprint_function(holds)
        parameters = digest_texts(
            own.parameters or "", *(f"{each.info.id} {each.info.fingerprint}" for each in scorers)
        )
        info = EvaluatorInfo(PASS_CONDITION, replace(own, parameters=parameters))
        return Scorer(info, conclude, self.test.limits.max_case_concurrency)

    def _task(self) -> Callable[[Example], Attempt]:
        return self._recall

    def _recall(self, example: Example) -> Attempt:
        """The attempt that was recorded.

        Raises:
            AgentError: the agent failed.
        """
        recorded = self.recorded[str(example.example_id)].pop(0)
        attempt = self._begin(example)
        attempt.success = False if self.cases[str(example.example_id)].expected else None
        attempt.output, attempt.has_output = recorded.output, recorded.has_output
        attempt.known_trace = recorded.trace
        attempt.trace_id = None if recorded.trace is None else recorded.trace.trace_id
        if recorded.error is not None:
            attempt.error = recorded.error
            self._failed(attempt)
            raise AgentError(recorded.error)
        return attempt


def _measure_call(attempt: Attempt) -> float | None:
    """The milliseconds of the agent's call; None without a trace."""
    if attempt.known_trace is None:
        return None
    call = attempt.known_trace.spans[0]
    return (call.end_ns - call.start_ns) / 1e6
