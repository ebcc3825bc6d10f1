"""`client.evaluation`: judge examples that are in no dataset, once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scoregate.core.suite import Limits
from scoregate.datasets import Example
from scoregate.engine.environment import selection
from scoregate.errors import JudgmentValidationError
from scoregate.judges import Judge, JudgeVersion, unstored
from scoregate.offline_tests.definition import OfflineTest
from scoregate.offline_tests.result import ScorerData, ScoringResult
from scoregate.offline_tests.running import run_test
from scoregate.offline_tests.types import PassConditionFn, Project

_NAME = "evaluation"


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Runs without a test config."""

    client: Project

    def create(self) -> Evaluations:
        """The same, for programs that were written for a server."""
        return self

    def run(
        self,
        examples: Iterable[Example],
        scorers: Sequence[str | Judge[Any] | type[Judge[Any]]],
        eval_run_name: str | None = None,
        assert_test: bool = False,
        timeout_seconds: float = 300,
        *,
        pass_condition_fn: PassConditionFn | None = None,
        max_concurrency: int = 10,
    ) -> list[ScoringResult]:
        """Judge examples as they are; a run like any other, with a record of its own.

        Args:
            scorers: judges of the project, by name or id, or code judges themselves; both may stand together.
            eval_run_name: the name of the suite. assert_test: raise unless every row passes.
            timeout_seconds: for all judges together. max_concurrency: examples at a time, for each judge.
            pass_condition_fn: as of `client.offline_tests.run`. If not given, a row passes when every judge that
                answers with Yes or No says Yes.

        Raises:
            TypeError: something in `examples` is no Example.
            JudgmentValidationError: there are no examples or no scorers, a judge is not there, or with `assert_test`
                and no pass condition no judge answers with Yes or No.
            JudgmentTestError: `assert_test` is set and a row does not pass; also an AssertionError.
            TimeoutError: the judges took longer than `timeout_seconds`.
        """
        versions, given = self._versions(scorers), list(examples)
        passes = pass_condition_fn or (_all_yes if any(each.score_type == "binary" for each in versions) else None)
        _check(given, versions, decided=passes is not None or not assert_test)
        name = eval_run_name or _NAME
        if not selection().includes(name):
            return []
        limits = Limits(max_concurrency, scoring_s=timeout_seconds)
        test = OfflineTest(name, eval_run_name, given, versions, passes=passes, limits=limits, trace=self._trace)
        return run_test(test, assert_test=assert_test).results

    def _trace(self, trace_id: str) -> Any:
        return self.client.traces.get(trace_id)

    def _versions(self, scorers: Sequence[Any]) -> list[JudgeVersion]:
        stored = self.client.judges.resolve([each for each in scorers if isinstance(each, str)])
        return [*stored, *(unstored(each) for each in scorers if not isinstance(each, str))]


def _check(examples: Sequence[Any], versions: Sequence[JudgeVersion], *, decided: bool) -> None:
    if wrong := [each for each in examples if not isinstance(each, Example)]:
        raise TypeError(f"examples are made by Example.create(…); this is none: {wrong[0]!r:.100}")
    if not examples or not versions:
        raise JudgmentValidationError("an evaluation needs at least one example and one scorer")
    if len({version.name for version in versions}) < len(versions):
        raise JudgmentValidationError("two scorers have one name", advice="Set `name` of one of them.")
    if not decided:
        raise JudgmentValidationError(
            "assert_test needs a judge that answers with Yes or No, or a pass_condition_fn",
            advice="A number or a category alone does not say whether a row passes.",
        )


def _all_yes(fields: dict[str, Any], scorers: list[ScorerData]) -> bool:  # noqa: ARG001
    return all(scorer.score == 1 for scorer in scorers if scorer.score_type == "binary")
