"""The session of one launched command: the calls of its SDKs, and the runs of its suites from start to end."""

from __future__ import annotations

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio.to_thread

from scoregate.features.foreign.bodies import Call, bounded_id, find_oddities, parse_call, read_error, read_evaluation
from scoregate.features.foreign.case_index import Spool
from scoregate.features.foreign.cloud import BaselineLookup, FirstBaseline, PlatformRequest, ReviewJob, answer
from scoregate.features.foreign.suite_run import ErrorFilter, ListenerCallbacks, SuiteRun, input_digest, replay
from scoregate.kernel.host.request_bodies import Refused
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Errored, ReviewRequested
from scoregate.kernel.types.text import matches_filters, parse_amount

_MOST_NOTICES = 30
_MOST_REVIEWS = 100
_LONGEST_PARAMS = 20_000
_PROGRESS_EVERY_S = 0.1
_SUITE, _CASE, _EVALUATOR = "testExternalId", "testCaseHash", "evaluatorExternalId"
_OK = "ok"


class SdkSession:
    """The calls of one launched command.

    Args:
        callbacks: receive what its suites report.
        lookup: answers what the SDKs ask their platform for.
        suites: globs; a suite must match one of them to be recorded. Without any, all are recorded.
        redact: removes secrets from bytes.
    """

    def __init__(
        self,
        callbacks: ListenerCallbacks,
        lookup: BaselineLookup,
        *,
        suites: Sequence[str],
        redact: Callable[[bytes], bytes],
    ) -> None:
        self.redact = redact
        self.closed = False
        self._callbacks, self._lookup, self._suites = callbacks, lookup, tuple(suites)
        self._spool = Spool()
        self._runs: dict[str, SuiteRun] = {}
        self._suite_runs: defaultdict[str, list[SuiteRun]] = defaultdict(list)
        self._errors = ErrorFilter()
        self._notices: set[str] = set()
        self._dropped_notices = 0
        self._grids = 0
        self._replays: list[asyncio.Task[None]] = []

    # Calls of the protocol

    def call(self, path: str, body: bytes, agent: str) -> tuple[int, Any]:
        """The status and content that answer a call of an SDK.

        Args:
            path: what it calls, such as `/start`.
            body: the body as it was sent, without secrets.
            agent: the client's user agent.
        """
        call = None
        try:
            if (handler := _HANDLERS.get(path)) is None:
                raise Refused("there is no such call in the protocol", status=404)
            call = parse_call(path, body, agent)
            return 200, handler(self, call)
        except Refused as refused:
            return self.refuse(path, refused, call)
        except Exception as error:  # an internal error: the suite and the report show it
            self._report_failed_call(call, path, _internal_error(error))
            return 500, {"error": f"scoregate failed: {type(error).__name__}"}

    def refuse(self, path: str, refused: Refused, call: Call | None = None) -> tuple[int, Any]:
        """The status and content that answer a call that is not valid; the report shows it, too."""
        advice = "If you didn't write this call yourself, update scoregate."
        self._report_failed_call(call, path, ErrorInfo("Refused", refused.reason, advice=advice))
        return refused.status, {"error": refused.reason}

    def _start(self, call: Call) -> Any:
        suite, params = call.id(_SUITE), call.data.get("gridSearchParamsCombo")
        if params is not None and not (isinstance(params, Mapping) and len(call.body) < _LONGEST_PARAMS):
            self._notice(f"suite {suite!r:.100} has parameters that are no object or too long; they are ignored")
            params = None
        return {"id": self._begin(suite, call.sdk, params).id}

    def _grid(self, _: Call) -> Any:
        self._grids += 1
        return {"id": f"grid-{self._grids}"}

    def _result(self, call: Call) -> Any:
        case, run = call.id(_CASE), self._open_run(call)
        if run is None:
            return {"id": "not-recorded"}
        row = run.index.add_result(case, self._spool.add(call.body), input_digest(call.data))
        duration = call.data.get("testCaseDurationMs")
        if duration is not None and parse_amount(duration) is None:
            self._notice(f"suite {run.suite!r:.100} reports durations that are not valid; they are ignored")
        self._schedule_progress(run)
        return {"id": f"{run.id}-{row + 1}"}

    def _evaluation(self, call: Call) -> Any:
        case, evaluator, run = call.id(_CASE), call.id(_EVALUATOR), self._open_run(call)
        if run is not None:
            run.index.add_score(case, evaluator, self._spool.add(call.body), read_evaluation(call.data))
            for oddity in find_oddities(call.data):
                self._notice(f"suite {run.suite!r:.100}, scorer {evaluator!r:.100}: it {oddity}")
            self._schedule_progress(run)
        return _OK

    def _error(self, call: Call) -> Any:
        if not call.data.get(_CASE):
            run = self._find_run(call) or self._begin(call.id(_SUITE), call.sdk)
            self._report_suite_error(run, read_error(call.data.get("error")))
            return _OK
        case, evaluator = call.id(_CASE), call.id(_EVALUATOR) if call.data.get(_EVALUATOR) else None
        if (run_of_case := self._open_run(call)) is not None:
            run_of_case.index.add_error(case, evaluator, self._spool.add(call.body))
            self._schedule_progress(run_of_case)
        return _OK

    def _end(self, call: Call) -> Any:
        run = self._find_run(call)
        if run is None:
            self._notice(f"suite {call.id(_SUITE)!r:.100} ended, but never started")
        elif run.open:
            run.end()
            self._replays.append(asyncio.get_running_loop().create_task(self._replay(run)))
        return _OK

    def _ignore(self, _: Call) -> Any:
        return _OK

    # Runs of suites

    def _begin(self, suite: str, sdk: str | None, params: Mapping[str, Any] | None = None) -> SuiteRun:
        run = SuiteRun(f"http-{len(self._runs) + 1}", suite, matches_filters(suite, self._suites), sdk, params)
        self._runs[run.id] = run
        is_repeated = any(other.params == params for other in self._suite_runs[suite])
        self._suite_runs[suite].append(run)
        if run.recorded:
            self._callbacks.on_events(run.id, [run.start_event()])
            self._callbacks.on_progress(run.tally())
            if is_repeated:  # a comparison pairs suites by name
                text = f"suite {suite!r:.100}: a suite with this name ran before; give each a name of its own"
                self._report_suite_error(run, ErrorInfo("InvalidSuite", text))
        else:
            self._callbacks.on_filtered(suite)
        return run

    def _find_run(self, call: Call) -> SuiteRun | None:
        """The run of a call: by its id, else the last open one of its suite, else the last."""
        run = call.data.get("runId")
        if isinstance(run, str) and run in self._runs:
            return self._runs[run]
        runs = self._suite_runs[call.id(_SUITE)]
        return next((run for run in reversed(runs) if run.open), runs[-1] if runs else None)

    def _open_run(self, call: Call) -> SuiteRun | None:
        """The run that a case belongs to; None if the case is not recorded."""
        if (run := self._find_run(call)) is None:
            run = self._begin(call.id(_SUITE), call.sdk)
            self._notice(f"suite {run.suite!r:.100} reports cases, but never started")
        if run.open or not run.recorded:
            return run if run.recorded else None
        message = f"{call.path} reports case {call.id(_CASE)!r:.100} too late to be recorded: the suite has ended"
        self._report_suite_error(run, ErrorInfo("TooLate", message))
        return None

    def _schedule_progress(self, run: SuiteRun) -> None:
        if run.timer is None:
            run.timer = asyncio.get_running_loop().call_later(_PROGRESS_EVERY_S, self._report_progress, run)

    def _report_progress(self, run: SuiteRun) -> None:
        run.timer = None
        self._callbacks.on_progress(run.tally())

    async def _replay(self, run: SuiteRun) -> None:
        if run.timer is not None:
            run.timer.cancel()
        if run.recorded:
            await replay(run, self._spool, self.redact, self._callbacks)

    # Errors and notices

    def _report_failed_call(self, call: Call | None, path: str, error: ErrorInfo) -> None:
        """A call was answered by an error: its suite is incomplete; if that is unknown, the command."""
        error = ErrorInfo(error.type, f"POST {path:.100}: {error.message}", error.traceback, error.advice)
        suite = call.data.get(_SUITE) if call is not None else None
        if call is not None and isinstance(suite, str) and suite:
            self._report_suite_error(self._find_run(call) or self._begin(bounded_id(suite), call.sdk), error)
        else:
            self._report_error(error)

    def _report_suite_error(self, run: SuiteRun, error: ErrorInfo) -> None:
        if run.recorded and (passed := run.errors.pass_once(error)) is not None:
            self._callbacks.on_events(run.id, [Errored(suite=run.suite, stage="suite", error=passed)])

    def _report_error(self, error: ErrorInfo, suite: str = "") -> None:
        """Report an error of the last run of a suite, of the only suite that is running, else of the command."""
        running = [run for run in self._runs.values() if run.open]
        if suite and (runs := self._suite_runs.get(suite)):
            self._report_suite_error(runs[-1], error)
        elif len(running) == 1 and running[0].recorded:
            self._report_suite_error(running[0], error)
        elif (passed := self._errors.pass_once(error)) is not None:
            self._callbacks.on_error(passed)

    def _notice(self, notice: str) -> None:
        if notice in self._notices:
            return
        if len(self._notices) >= _MOST_NOTICES:
            self._dropped_notices += 1
            return
        self._notices.add(notice)
        self._callbacks.on_notice(notice)

    # Requests for the platform

    async def ask_platform(self, request: PlatformRequest) -> tuple[int, Any]:
        """The status and content that answer a request for Autoblocks' platform; the lookup blocks a thread."""
        try:
            response = await anyio.to_thread.run_sync(partial(answer, request, self._lookup))
        except Exception as error:  # an internal error: the report shows it, whatever the SDK does with the response
            if not self.closed:
                self._report_error(_internal_error(error))
            return 500, {"error": f"scoregate failed: {type(error).__name__}"}
        if self.closed:
            return response.status, response.content
        if response.unknown:
            self._notice(
                f"a call to Autoblocks' platform was not sent there, and scoregate doesn't know it: "
                f"{request.method:.10} {request.path or '/':.100}"
            )
        if response.review is not None:
            self._request_review(response.review)
        if response.first_baseline is not None:
            self._add_first_baseline(response.first_baseline)
        if response.failure is not None:
            self._report_error(response.failure.error, response.failure.suite)
        return response.status, response.content

    def _request_review(self, review: ReviewJob) -> None:
        """Report a review once: the SDKs send a request for each person, and again if a response was lost."""
        run = self._runs.get(review.run)
        if run is None:
            self._notice(f"a review {review.name!r:.100} was requested for a run that never started")
        elif run.recorded and review.name not in run.reviews and len(run.reviews) < _MOST_REVIEWS:
            run.reviews.add(review.name)
            request = ReviewRequested(suite=run.suite, name=review.name, assignees=review.assignees)
            self._callbacks.on_events(run.id, [request])

    def _add_first_baseline(self, first: FirstBaseline) -> None:
        """A battle had no baseline output and gave no score; its case belongs to the last run of the suite."""
        runs = self._suite_runs.get(first.suite) or ()
        run = next((run for run in reversed(runs) if run.open and run.recorded), None)
        if run is not None:
            run.first_baselines.add(bounded_id(first.case))
            self._notice(
                f"suite {first.suite!r:.100} had no baseline outputs for its battles; "
                "this run's outputs are the baseline of the next run"
            )

    async def close(self) -> None:
        """Report the cases of runs that never ended, without an end.

        Whatever the callbacks raise is raised here.
        """
        self.closed = True
        unfinished = [self._replay(run) for run in self._runs.values() if run.open]
        failures = await asyncio.gather(*self._replays, *unfinished, return_exceptions=True)
        if self._dropped_notices:
            self._callbacks.on_notice(f"… and {self._dropped_notices:,} more such notices")
        self._spool.close()
        for failure in filter(None, failures):
            raise failure


def _internal_error(error: Exception) -> ErrorInfo:
    return ErrorInfo(type(error).__name__, f"scoregate failed: {error!s:.500}", traceback.format_exc(limit=-20))


_HANDLERS: Mapping[str, Callable[[SdkSession, Call], Any]] = {
    "/start": SdkSession._start,
    "/grids": SdkSession._grid,
    "/results": SdkSession._result,
    "/evals": SdkSession._evaluation,
    "/errors": SdkSession._error,
    "/end": SdkSession._end,
    "/events": SdkSession._ignore,
    "/info": SdkSession._ignore,
}
