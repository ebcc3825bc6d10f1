"""The protocol: what each call does, and what is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scoregate.ci.listen.calls import Call
from scoregate.ci.listen.desk import Desk
from scoregate.ci.listen.scores import evaluation_of, remarks
from scoregate.ci.listen.suite_run import SuiteRun
from scoregate.ci.listen.texts import error_info
from scoregate.ci.listen.turning import digest
from scoregate.core.events import ErrorInfo
from scoregate.core.figures import amount

_OK = "ok"
_LONGEST_PARAMS = 20_000
Reply = Any


def _start(desk: Desk, call: Call) -> Reply:
    params = call.data.get("gridSearchParamsCombo")
    if params is not None and not (isinstance(params, Mapping) and len(call.body) < _LONGEST_PARAMS):
        desk.notices.tell(f"suite {call.suite!r:.100} gives parameters that are no object, or too long: left out")
        params = None
    return {"id": desk.begin(call.suite, call.sdk, params).id}


def _grids(desk: Desk, call: Call) -> Reply:  # noqa: ARG001
    return {"id": desk.grid()}


def _results(desk: Desk, call: Call) -> Reply:
    case, run = call.case, _speaking(desk, call)
    if run is None:
        return {"id": "unheard"}
    row = run.index.result(case, desk.spool.add(call.body), digest(call.data))
    if call.says("testCaseDurationMs") and amount(call.data["testCaseDurationMs"]) is None:
        desk.notices.tell(f"suite {run.suite!r:.100} gives durations that are none, which were left out")
    desk.touched(run)
    return {"id": f"{run.id}-{row + 1}"}


def _evals(desk: Desk, call: Call) -> Reply:
    case, evaluator, run = call.case, call.evaluator, _speaking(desk, call)
    if run is not None:
        run.index.scored(case, evaluator, place=desk.spool.add(call.body), found=evaluation_of(call.data))
        for remark in remarks(call.data):
            desk.notices.tell(f"suite {run.suite!r:.100}, evaluator {evaluator!r:.100}: it {remark}")
        desk.touched(run)
    return _OK


def _errors(desk: Desk, call: Call) -> Reply:
    if not call.data.get("testCaseHash"):
        desk.problem(desk.run_of(call), error_info(call.data.get("error")))
        return _OK
    case, evaluator = call.case, call.evaluator if call.data.get("evaluatorExternalId") else None
    if (run := _speaking(desk, call)) is not None:
        place = desk.spool.add(call.body)
        if evaluator is None:
            run.index.failure(case, place)
        else:
            run.index.erred(case, evaluator, place)
        desk.touched(run)
    return _OK


def _end(desk: Desk, call: Call) -> Reply:
    run = desk.known(call)
    if run is None:
        desk.notices.tell(f"suite {call.suite!r:.100} ended, but never started")
    elif run.open:
        desk.end(run)
    return _OK


def _nothing(desk: Desk, call: Call) -> Reply:  # noqa: ARG001
    return _OK


def _speaking(desk: Desk, call: Call) -> SuiteRun | None:
    """The run of which a case is told; None where that is not recorded."""
    if (run := desk.known(call)) is None:
        run = desk.begin(call.suite, call.sdk)
        desk.notices.tell(f"suite {run.suite!r:.100} told of cases, but never started")
    if run.open or not run.heard:
        return run if run.heard else None
    why = f"{call.path} told of case {call.case!r:.100} when the suite had ended, too late to be recorded"
    desk.problem(run, ErrorInfo("TooLate", why))
    return None


ENDPOINTS: Mapping[str, Callable[[Desk, Call], Reply]] = {
    "/start": _start,
    "/grids": _grids,
    "/results": _results,
    "/evals": _evals,
    "/errors": _errors,
    "/end": _end,
    "/events": _nothing,
    "/info": _nothing,
}
