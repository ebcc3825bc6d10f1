"""`client.test_runs` and `Tracer`: the program calls its agent for each case of a test suite, as in judgeval 1.6."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from scoregate.engine.environment import events_folder, read_selection, select_cases
from scoregate.engine.exit_status import fail_now, is_called_by_script
from scoregate.errors import JudgmentValidationError, MissingExtra
from scoregate.judges import JudgesFactory
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.suite import Case
from scoregate.kernel.types.trace import Trace
from scoregate.offline_tests.agent import error_text
from scoregate.offline_tests.checked_run import CheckedRun, Recorded, holds, to_example
from scoregate.offline_tests.results import OfflineTestResult, ScoringResult
from scoregate.offline_tests.run import report_unmeasured, run_offline
from scoregate.offline_tests.suite import OfflineTest
from scoregate.offline_tests.test_suites import TestSuitesFactory, paginate, published_cases
from scoregate.offline_tests.tracer import OfflineTracer, Recording, observe
from scoregate.store import StoredSuiteCase, StoredTestSuite

Trigger = Literal["manual", "ci", "schedule", "api"]
_TRIGGERS = ("manual", "ci", "schedule", "api")


@dataclass(slots=True)
class _Run:
    """A run of a test suite in this process. It is judged as soon as the agent has been called for every case."""

    id: str
    suite: StoredTestSuite
    test: OfflineTest
    cases: Mapping[str, StoredSuiteCase]
    calls: Mapping[str, int]
    facts: Mapping[str, Any]
    is_main: bool
    recorded: dict[str, list[Recorded]] = field(default_factory=dict)
    traces: dict[str, Trace | None] = field(default_factory=dict)
    result: OfflineTestResult | None = None
    scored_at: str | None = None
    is_begun: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def missing(self) -> int:
        """The number of calls of the agent that have not ended."""
        return sum(self.calls.values()) - sum(map(len, self.recorded.values()))

    def add(self, case_id: str, recorded: Recorded) -> None:
        """Keep what the agent did; after the last call all cases are judged."""
        with self.lock:
            if len(self.recorded.setdefault(case_id, [])) == self.calls[case_id] or self.is_begun:
                raise JudgmentValidationError(
                    f"the case {case_id!r:.60} of the test suite {self.suite.name!r:.60} ran already in this run",
                    advice="Call the agent once for each entry of run['cases'].",
                )
            self.recorded[case_id].append(recorded)
            self.traces[case_id] = recorded.trace
            self.is_begun = self.missing == 0
        if self.is_begun:
            checked = CheckedRun(self.test, cases=self.cases, recorded=self.recorded)
            self.result = run_offline(self.suite.name, lambda: checked, title=self.facts["candidate"], run_id=self.id)
            self.scored_at = datetime.now(UTC).isoformat()

    def rows(self) -> Mapping[str, ScoringResult]:
        """The judged rows by the ids of their cases; of a repeated case the last."""
        return {str(row.data_object.example_id): row for row in self.result.results} if self.result else {}


_runs: dict[str, _Run] = {}


def _find_run(run_id: str) -> _Run:
    if (run := _runs.get(run_id)) is None:
        raise JudgmentValidationError(
            f"there is no test run {run_id!r:.60} in this process",
            advice="client.test_runs.start starts one. Runs of other processes are in the reports of scoregate.",
        )
    return run


def _report_unfinished() -> None:
    """Record an error for runs that began and did not end, so that they don't look like a success."""
    for run in _runs.values():
        if run.result is not None or not run.calls:
            continue
        total = sum(run.calls.values())
        error = ErrorInfo(
            "JudgmentValidationError",
            f"the agent was not called for {run.missing} of {total} cases of the test suite {run.suite.name!r:.60},"
            " so none was judged",
            advice="Call it for each case, within Tracer.test_case(run['run_id'], case['case_id']).",
        )
        report_unmeasured(run.suite.name, error)
        if run.is_main and events_folder() is None:
            fail_now()


class TestRunsFactory:
    """The runs of test suites of this process: `client.test_runs`.

    `start` returns the cases. Call the agent for each of them within `Tracer.test_case`. After the last one, all are
    judged. If a case is left out, the run can't be measured.
    """

    __test__ = False

    def __init__(self, suites: TestSuitesFactory, judges: JudgesFactory) -> None:
        self._suites, self._judges = suites, judges

    def start(
        self,
        test_suite_id: str,
        case_filter: Mapping[str, Any] | None = None,
        candidate: str | None = None,
        candidate_meta: Mapping[str, Any] | None = None,
        trigger: Trigger | None = None,
    ) -> dict[str, Any]:
        """Start a run of the newest version of a test suite.

        Args:
            test_suite_id: the id or the name of the suite.
            case_filter: `{"kind": "all"}`, `{"kind": "tags", "tags": […]}` for cases with one of the tags,
                `{"kind": "case_ids", "case_ids": […]}`, or `{"kind": "last_failures", "run_id": …}`.
            candidate: the name of what is tested, such as a commit.
            candidate_meta: facts about it.
            trigger: "manual", "ci", "schedule" or "api".

        Returns:
            `run_id`, `test_suite_version` and `cases`: for each call of the agent `case_id`, `input` and `headers`,
            which is empty: a deployed agent can't be tested this way.

        Raises:
            ValueError: the filter or the trigger is invalid.
            JudgmentValidationError: there is no such suite or judge, or no case is left.
        """
        if trigger not in (None, *_TRIGGERS):
            raise ValueError(f"trigger is one of {', '.join(_TRIGGERS)}, not {trigger!r:.60}")
        suite = self._suites.load(test_suite_id)
        chosen = _filter_cases(published_cases(suite, len(suite.versions)), case_filter)
        if not chosen:
            raise JudgmentValidationError(
                f"no case of the test suite {suite.name!r:.60} is left by {case_filter!r:.200}"
            )
        cases = {case.case_id: case for case in chosen}
        facts = {"candidate": candidate, "candidate_meta": dict(candidate_meta or {}), "trigger": trigger or "manual"}
        facts |= {"case_filter": dict(case_filter or {"kind": "all"}), "created_at": datetime.now(UTC).isoformat()}
        test = OfflineTest(suite.name, [to_example(case) for case in chosen], self._versions(chosen))
        selected = _select(CheckedRun(test, cases=cases))
        calls = {case.hash: case.repeats for case in selected}
        run = _Run(str(uuid4()), suite, test, cases, calls, facts, is_called_by_script())
        if not _runs:
            atexit.register(_report_unfinished)
        _runs[run.id] = run
        rows = [
            {"case_id": case.hash, "input": cases[case.hash].input, "headers": {}}
            for case in selected
            for _ in range(case.repeats)
        ]
        return {"run_id": run.id, "test_suite_version": len(suite.versions), "cases": rows}

    def list(self, test_suite_id: str, offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """The runs of a test suite in this process, the newest first: `runs`, and `next_offset` or None."""
        suite = self._suites.load(test_suite_id)
        rows = [self.get(run.id) for run in reversed(_runs.values()) if run.suite.id == suite.id]
        return paginate("runs", rows, offset, limit)

    def get(self, run_id: str) -> dict[str, Any]:
        """A run and how many of its cases have an output, are judged, passed and failed."""
        run = _find_run(run_id)
        outcomes = [row.success for row in run.rows().values()]
        return {
            "run_id": run.id,
            "test_suite_id": run.suite.id,
            "test_suite_version": len(run.suite.versions),
            "scored_from_run_id": None,
            **run.facts,
            "cases_total": len(run.calls),
            "cases_with_output": len(run.recorded),
            "cases_scored": len(outcomes),
            "cases_passed": outcomes.count(True),
            "cases_failed": outcomes.count(False),
        }

    def results(self, run_id: str) -> dict[str, Any]:
        """The `results` of a run: each case with its trace, whether it passed, and its checks."""
        run = _find_run(run_id)
        rows = run.rows()
        return {"results": [_to_result(run, case_id, rows.get(case_id)) for case_id in run.calls]}

    def _versions(self, cases: Sequence[StoredSuiteCase]) -> Sequence[Any]:
        pins = {(judge, check.version): None for case in cases for judge, check in case.expected.items()}
        if not pins:
            raise JudgmentValidationError(
                "no case names a judge, so none can be judged", advice="Give cases `expected`."
            )
        judges = list(dict.fromkeys(judge for judge, _ in pins))
        return self._judges.resolve(judges, [{"judge_id": judge, "version": version} for judge, version in pins])


def _filter_cases(cases: Sequence[StoredSuiteCase], case_filter: Mapping[str, Any] | None) -> list[StoredSuiteCase]:
    given = dict(case_filter or {"kind": "all"})
    kind = given.pop("kind", None)
    if kind == "all" and not given:
        return list(cases)
    if kind == "tags" and given.keys() == {"tags"}:
        return [case for case in cases if set(case.tags) & set(given["tags"])]
    if kind == "case_ids" and given.keys() == {"case_ids"}:
        return [case for case in cases if case.case_id in given["case_ids"]]
    if kind == "last_failures" and given.keys() == {"run_id"}:
        failed = {case_id for case_id, row in _find_run(given["run_id"]).rows().items() if row.success is False}
        return [case for case in cases if case.case_id in failed]
    raise ValueError(f"case_filter is of kind all, tags, case_ids or last_failures, not {case_filter!r:.200}")


def _select(checked: CheckedRun) -> Sequence[Case]:
    """The cases that this process runs: none if its suite is left out."""
    selection, name = read_selection(), checked.test.name
    if not selection.includes(name):
        return []
    cases = checked.build_cases(selection.repeats or 1)
    return list(select_cases(cases, name, selection, checked.describe))


def _to_result(run: _Run, case_id: str, row: ScoringResult | None) -> dict[str, Any]:
    trace = run.traces.get(case_id)
    scores = {} if row is None else {data.id: data for data in row.scorers_data}
    checks = [
        {
            "judge_id": judge,
            **check.model_dump(),
            "judge_output": scores[judge].value,
            "passed": scores[judge].error is None and holds(check, scores[judge].value),
            "reason": scores[judge].reason or None,
            "error_message": scores[judge].error,
        }
        for judge, check in run.cases[case_id].expected.items()
        if judge in scores
    ]
    return {
        "case_id": case_id,
        "trace_id": None if trace is None else trace.trace_id,
        "scored_at": None if row is None else run.scored_at,
        "passed": None if row is None else row.success,
        "checks": checks,
        "pending_checks": [],
    }


class TracedCase(AbstractContextManager["TracedCase"]):
    """The call of an agent for a case. `output` is the agent's output, if no observed function returns it."""

    def __init__(self, run_id: str, case_id: str) -> None:
        self._run, self._case_id = _find_run(run_id), case_id
        if case_id not in self._run.calls:
            raise JudgmentValidationError(f"the run {run_id!r:.60} has no case {case_id!r:.60}")
        self.output: Any = None
        self._recording: Recording | None = None

    def __enter__(self) -> TracedCase:
        with suppress(MissingExtra):
            recording = OfflineTracer().begin(self._run.suite.name, self._run.cases[self._case_id].input)
            self._active = recording.active()
            self._active.__enter__()
            self._recording = recording
        return self

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        trace = None
        if self._recording is not None:
            self._active.__exit__(kind, error, where)  # type: ignore[arg-type]
            self._recording.end(self.output)
            trace = self._recording.trace
        if error is None:
            self._run.add(self._case_id, _to_recorded(self.output, trace))
        elif isinstance(error, Exception):
            self._run.add(self._case_id, Recorded(trace=trace, error=error_text(error)))


def _to_recorded(output: Any, trace: Trace | None) -> Recorded:
    """The output that was given, else that of the last observed function that the block called."""
    if output is None and trace is not None:
        spans = [
            span for span in trace.spans if span.parent_id == trace.spans[0].span_id and "output" in span.attributes
        ]
        output = spans[-1].attributes["output"] if spans else None
    if output is None:
        return Recorded(
            trace=trace,
            error="the output of the agent is unknown: decorate the agent with @Tracer.observe(), which needs"
            " scoregate[traces], or set it, as in `with Tracer.test_case(…) as case: case.output = agent(…)`",
        )
    return Recorded(output, True, trace)


class Tracer:
    """Observes functions and records the calls of an agent, with the names of judgeval's tracer."""

    @classmethod
    def init(
        cls,
        project_name: str | None = None,  # noqa: ARG003
        api_key: str | None = None,  # noqa: ARG003
        organization_id: str | None = None,  # noqa: ARG003
        api_url: str | None = None,  # noqa: ARG003
        environment: str | None = None,  # noqa: ARG003
    ) -> type[Tracer]:
        """Return itself, for programs that were written for a server. The arguments are accepted and ignored."""
        return cls

    @staticmethod
    def observe(func: Any = None, span_type: str | None = "span", span_name: str | None = None) -> Any:
        """Make every call of a function a span; see `scoregate.offline_tests.observe`.

        Args:
            func: the function, if `observe` is used without parentheses.
            span_type: "agent", "tool", "llm", or a term of your own.
            span_name: the name of the span; the function's if not given.
        """
        return observe(func, span_type=span_type or "span", name=span_name)

    @staticmethod
    def test_case(run_id: str, case_id: str) -> TracedCase:
        """A block that calls the agent for one case of a run.

        Args:
            run_id: the `run_id` from `client.test_runs.start`.
            case_id: the `case_id` of one of its cases.

        Raises:
            JudgmentValidationError: there is no such run in this process, or it has no such case.
        """
        return TracedCase(run_id, case_id)
