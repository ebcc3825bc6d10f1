"""How the run of a suite ends: its exit code as a script, a full disk, and suites that don't start."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from scoregate import evaluate
from scoregate.engine import client_headers, driver, run
from scoregate.engine.driver import Front, run_to_end
from scoregate.engine.environment import Selection
from scoregate.engine.eval_result import EvalResult
from scoregate.engine.event_log import EventLog
from scoregate.engine.exit_status import is_unmeasured
from scoregate.engine.run import finish_suite, report_failed_suite
from scoregate.engine.summary import summary
from scoregate.errors import DiskFull
from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE
from scoregate.kernel.types.evaluation import Evaluation, Usage
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import MOST_TOOLS, ErrorInfo, EvaluatorInfo, ListedTool, Pending
from scoregate.kernel.types.events import Errored, Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.suite import Case, Description, RunLimits, Scorer, Suite
from scoregate.kernel.types.usage import UsageMeter, current_meter

pytestmark = pytest.mark.usefixtures("project")


def make_suite(*scorers: Any, **fields: Any) -> Suite:
    score = [Scorer(EvaluatorInfo(f"s{number}"), function) for number, function in enumerate(scorers)]
    name = fields.pop("id", "demo")
    return Suite(name, [Case("a", "A")], str, lambda case: Description("", case.value), str, score, **fields)


def read_events(folder: Path) -> list[Event]:
    return [parse_event(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_bytes().splitlines()]


def read_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("*.jsonl"))


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """An entry for each time that the process was told to end with exit code 3; a script calls."""
    told: list[None] = []
    monkeypatch.setattr(driver, "is_called_by_script", lambda: True)
    monkeypatch.setattr(driver, "fail_at_exit", lambda: told.append(None))
    return told


def test_a_script_that_measured_nothing_fails(
    failing: list[None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (scorer, count) in enumerate([(lambda: None, 1), ((), 1), (lambda output: output == "a", 0)]):
        evaluate(f"demo-{number}", data=["a"], task=str, scorers=scorer)
        assert len(failing) == count, number
        failing.clear()
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    evaluate("with a host", data=["a"], task=str, scorers=lambda: None)
    assert failing == [], "the host judges the run"


def test_a_suite_in_a_notebook_or_a_test_ends_no_process(failing: list[None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "is_called_by_script", lambda: False)
    evaluate("demo", data=["a"], task=str, scorers=lambda: None)
    assert failing == []


def test_an_api_may_run_suites_without_scorers(failing: list[None]) -> None:
    class Lenient(Front):
        needs_scores = False

    def silent(*_: Any) -> None:
        return None

    for front, scorers, count in ((Lenient, (), 0), (Lenient, (silent,), 1), (Front, (), 1)):
        name = f"demo-{front.__name__}-{len(scorers)}"
        run_to_end(name, front(lambda _, scorers=scorers, name=name: make_suite(*scorers, id=name)))  # type: ignore[misc]
        assert len(failing) == count, name
        failing.clear()


def test_a_suite_that_is_not_selected_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Selection] = []

    def build(selection: Selection) -> Suite:
        built.append(selection)
        return make_suite()

    monkeypatch.setenv("SCOREGATE_FILTERS_TEST_SUITES", '["other"]')
    assert run_to_end("demo", Front(build)).skipped
    assert built == []
    monkeypatch.setenv("SCOREGATE_FILTERS_TEST_SUITES", '["demo"]')
    result = run_to_end("demo", Front(build))
    assert (result.skipped, [each.globs for each in built]) == (False, [("demo",)])


def test_a_suite_without_the_chosen_cases_does_not_start_if_its_api_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Skipping(Front):
        may_skip = True

    def build(_: Selection) -> Suite:
        return Suite("demo", [], str, lambda case: Description("", case.value), str)

    monkeypatch.setenv("SCOREGATE_SELECTION", json.dumps({"keyword": "nothing"}))
    assert run_to_end("demo", Skipping(build)).skipped
    assert not run_to_end("demo", Front(build)).skipped


def test_the_title_of_a_run_is_that_of_the_environment_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    monkeypatch.delenv("SCOREGATE_TEST_RUN_MESSAGE", raising=False)
    run_to_end("demo", Front(lambda _: make_suite(), title="of the API"))
    monkeypatch.setenv("SCOREGATE_TEST_RUN_MESSAGE", "of the host")
    run_to_end("demo", Front(lambda _: make_suite(), title="of the API"))
    titles = {event.message for event in read_events(tmp_path) if isinstance(event, SuiteStarted)}
    assert titles == {"of the API", "of the host"}


def test_a_full_disk_is_one_error_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case meets it, so a group of errors would say it many times. Other groups stay as they are."""

    def fail_with(error: Exception) -> None:
        def emit(_: EventLog, kind: str, **fields: Any) -> None:  # noqa: ARG001
            if kind == "case_finished":
                raise error

        monkeypatch.setattr(EventLog, "emit", emit)
        run_to_end("demo", Front(lambda _: make_suite(limits=RunLimits(max_case_concurrency=3))))

    with pytest.raises(DiskFull, match="the disk is full"):
        fail_with(DiskFull("the disk is full"))
    with pytest.raises(ExceptionGroup) as raised:
        fail_with(ValueError("other"))
    assert raised.value.subgroup(ValueError) is not None


def test_the_first_error_of_a_run_decides_whether_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_with(*errors: Exception) -> None:
        def run_sync(*_: Any, **__: Any) -> None:
            raise ExceptionGroup("tasks", [ExceptionGroup("scoring", errors)])

        monkeypatch.setattr(driver, "run_sync", run_sync)
        run_to_end("demo", Front(lambda _: make_suite()))

    with pytest.raises(DiskFull):
        fail_with(DiskFull("the disk is full"), ValueError("other"))
    with pytest.raises(ExceptionGroup):
        fail_with(ValueError("other"), DiskFull("the disk is full"))


def test_the_end_of_a_suite_has_what_belongs_to_no_case(tmp_path: Path) -> None:
    spent = Usage(3, cost=0.5, model="m")
    meter = UsageMeter()
    meter.add(spent)
    log = EventLog("demo", tmp_path, meter)
    log.tools.update(dict.fromkeys(ListedTool("server", f"t{number}") for number in range(MOST_TOOLS + 1)))
    finish_suite(log, 0.0, assertion_failed=True)
    (event,) = read_events(tmp_path)
    assert isinstance(event, SuiteFinished)
    assert (event.usage, event.assertion_failed, len(event.tools)) == (spent, True, MOST_TOOLS)
    assert event.duration_s is not None
    assert meter.take() is None, "of several variants, the first one has it"


def test_the_end_of_a_suite_has_no_field_without_a_value(tmp_path: Path) -> None:
    finish_suite(EventLog("demo", tmp_path), 0.0)
    (event,) = read_events(tmp_path)
    assert isinstance(event, SuiteFinished)
    assert not event.assertion_failed
    assert not {b"usage", b"tools"} & set(read_bytes(tmp_path).split(b'"'))


def test_the_duration_of_a_suite_is_rounded_to_a_tenth_of_a_millisecond(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "perf_counter", lambda: 10.123456)
    finish_suite(EventLog("demo", tmp_path), 4.0)
    (event,) = read_events(tmp_path)
    assert isinstance(event, SuiteFinished)
    assert event.duration_s == 6.1235


def test_a_budget_that_was_spent_outside_of_cases_is_an_error_of_the_suite(tmp_path: Path) -> None:
    meter = UsageMeter()
    meter.stop()
    finish_suite(EventLog("demo", tmp_path, meter), 0.0)
    error, finished = read_events(tmp_path)
    assert isinstance(error, Errored)
    assert (error.error.type, error.stage, finished.type) == ("BudgetSpent", "suite", "suite_finished")


@pytest.mark.parametrize("place", ["task", "sync", "async"])
def test_a_budget_that_was_spent_in_a_case_is_an_error_of_the_suite(place: str) -> None:
    def spend(name: str) -> None:
        if name == place:
            current_meter().stop()

    def task(case: str) -> str:
        spend("task")
        return case

    def score(*_: Any) -> Evaluation:
        spend("sync")
        return Evaluation(1.0)

    async def score_async(*_: Any) -> Evaluation:
        spend("async")
        return Evaluation(1.0)

    result = run_to_end("demo", Front(lambda _: replace(make_suite(score, score_async), task=task)))
    assert [error.type for error in result.errors] == ["BudgetSpent"]


def test_a_suite_says_which_part_of_it_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    suite = replace(make_suite(), cases=[Case(name, name) for name in "abcd"])
    monkeypatch.setenv("SCOREGATE_PARTS", json.dumps({"take": {"demo": [[2], 2]}, "leave": [], "others": True}))
    assert len(run_to_end("demo", Front(lambda _: suite)).cases) == 2
    started = read_events(tmp_path)[0]
    assert isinstance(started, SuiteStarted)
    assert started.part is not None
    assert (started.cases, started.part.numbers, started.part.of, started.part.cases) == (2, (2,), 2, 4)


def test_a_whole_suite_says_nothing_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    run_to_end("demo", Front(lambda _: make_suite()))
    assert not {b"part", b"total", b"concurrency"} & set(read_bytes(tmp_path).split(b'"'))


def test_a_suite_that_could_not_run_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    report_failed_suite("demo", ErrorInfo("ImportError", "no module"))
    started, error, finished = read_events(tmp_path)
    assert isinstance(started, SuiteStarted)
    assert isinstance(error, Errored)
    assert isinstance(finished, SuiteFinished)
    assert (started.cases, error.stage, error.error.message) == (0, "suite", "no module")


@pytest.mark.parametrize("kind", ["async", "awaited"])
def test_scorers_over_their_time_limit_end_the_run_with_an_error(kind: str) -> None:
    logs: list[EventLog] = []

    class Noting(Front):
        def end_log(self, log: EventLog) -> bool:
            logs.append(log)
            return False

    async def slow(*_: Any) -> Evaluation:
        await anyio.sleep(300)
        return Evaluation(1.0)

    score = slow if kind == "async" else lambda *_: slow()
    result = run_to_end("demo", Noting(lambda _: make_suite(score, limits=RunLimits(scoring_s=0.01))))
    (error,) = result.errors
    assert (error.type, error.message) == (
        "TimeoutError",
        "the scorers took longer than 0.01 s; unfinished evaluations were cancelled",
    )
    assert [each.error.type for case in result.cases for each in case.errors] == ["Unfinished"]
    assert [log.timed_out for log in logs] == [True]
    assert not result.passed


def test_a_run_with_a_gateway_names_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[None] = []
    monkeypatch.setattr(client_headers, "name_calls", lambda: named.append(None))
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    run_to_end("demo", Front(lambda _: make_suite()))
    assert named == []
    monkeypatch.setenv(ADDRESS_VARIABLE, "http://127.0.0.1:1")
    run_to_end("demo", Front(lambda _: make_suite()))
    assert named == [None]


def test_an_api_knows_whether_a_host_reads_the_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []

    class Noting(Front):
        def start(self, suite: Suite, *, alone: bool) -> Any:
            told.append(alone)
            return super().start(suite, alone=alone)

        def conclude(self, result: EvalResult, *, alone: bool) -> None:
            told.append(alone)
            super().conclude(result, alone=alone)

    run_to_end("demo", Noting(lambda _: make_suite()))
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    run_to_end("demo", Noting(lambda _: make_suite()))
    assert told == [True, True, False, False]
    (*_, finished) = read_events(tmp_path)
    assert isinstance(finished, SuiteFinished)
    assert not finished.assertion_failed


def test_a_suite_runs_in_a_thread_that_does_not_keep_the_process_if_its_api_or_its_time_limit_needs_it() -> None:
    """A worker thread may hang after its time is over."""

    class InCaller(Front):
        in_new_thread = False

    async def find_thread(_: Any) -> str:
        return threading.current_thread().name

    for front, timeout_s, thread in (
        (Front, None, "scoregate"),
        (Front, 60.0, "scoregate"),
        (InCaller, None, threading.current_thread().name),
        (InCaller, 60.0, "scoregate"),
    ):
        suite = replace(make_suite(limits=RunLimits(timeout_s=timeout_s)), task=find_thread)
        (case,) = run_to_end("demo", front(lambda _, suite=suite: suite)).cases  # type: ignore[misc]
        assert case.output == thread, (front, timeout_s)


def test_a_suite_that_waits_for_people_is_measured() -> None:
    result = run_to_end("demo", Front(lambda _: make_suite(lambda *_: Pending("Is it kind?"))))
    assert not is_unmeasured(result)
    assert summary(result).splitlines() == ["✓ demo: 1 case · 1 unscored · 1 waiting for people"]


def test_a_battle_without_an_earlier_output_says_what_it_needs() -> None:
    def nothing(*_: Any) -> None: ...

    duel, other = (Scorer(EvaluatorInfo(name, battles=name == "duel"), nothing) for name in ("duel", "other"))
    need = "    nothing was scored: duel needs the output of an earlier run"
    for scorers, text in (((duel,), f"{need}. `"), ((duel, other), f"{need}, and the other scorers returned None. `")):
        result = run_to_end("demo", Front(lambda _, scorers=scorers: replace(make_suite(), scorers=scorers)))  # type: ignore[misc]
        (line,) = summary(result).splitlines()[1:]
        assert line.startswith(text)
