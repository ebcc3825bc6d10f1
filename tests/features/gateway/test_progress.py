"""The line about calls of models while suites run."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from rich.console import Console

from scoregate.cli import progress as progress_module
from scoregate.cli.gateway_command import _print_calls
from scoregate.cli.output import Output, OutputOptions
from scoregate.cli.progress import show_progress
from scoregate.cli.progress_state import RunProgress, format_calls, format_costs
from scoregate.cli.progress_table import ProgressTable, ProgressView, draw_calls
from scoregate.features.gateway.counts import CallCounter
from scoregate.features.gateway.layer import GatewayLayer
from scoregate.features.gateway.proxy.sessions import Sessions, SuiteSession, sum_counts
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import Started
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.runs.model_calls import CallTotals, ModelCalls, sum_calls
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.runs.tally import Tally

RecordCalls = Callable[..., RunRecorder]


class CountingGateway:
    """The parts of a gateway that the call counter reads."""

    def __init__(self) -> None:
        self.sessions = Sessions()

    @property
    def opened(self) -> int:
        return self.sessions.opened

    def counts(self, first: int = 0) -> Any:
        return sum_counts(self.sessions.list_from(first))

    def sum_calls(self, first: int = 0) -> CallTotals:
        return sum_calls(counts for each in self.sessions.list_from(first) for counts in each.list_counts())


def call(session: SuiteSession, model: str = "gpt-4o", evaluator: str = "", *, cost: float = 0.01) -> None:
    counts = session.find_counts(evaluator, "openai", model)
    counts.calls, counts.input_tokens, counts.cost = counts.calls + 1, counts.input_tokens + 100, counts.cost + cost
    counts.add_duration(0.5)


@pytest.fixture
def gateway() -> CountingGateway:
    return CountingGateway()


@pytest.fixture
def record_calls(tmp_path: Path, gateway: CountingGateway) -> Iterator[RecordCalls]:
    """Starts recordings whose calls are counted from the start."""
    with ExitStack() as stack:

        def start(name: str = "run") -> RunRecorder:
            counter = CallCounter(gateway, gateway.opened)  # type: ignore[arg-type]
            layer = GatewayLayer(Mock(notices=()), counter, is_base=False)
            return RunRecorder(stack.enter_context(RunWriter(tmp_path / name)), launches=1, layers=[layer])

        yield start


def test_a_log_has_a_line_after_calls_change(
    record_calls: RecordCalls, gateway: CountingGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "_EVERY_S", 0.0)
    monkeypatch.setattr(progress_module, "_UPDATE_S", 0.0)
    out = io.StringIO()
    with show_progress(Output(OutputOptions(), Console(file=out, width=200))) as display:
        recording, session = record_calls(), gateway.sessions.open("run")
        display.observe(Started("run"), recording)
        display.tick()  # no call, no line
        for number in (1, 2):
            call(session, cost=0.2 * number)
            deadline = time.monotonic() + 60
            while out.getvalue().count("models:") < number and time.monotonic() < deadline:
                display.tick()  # updates take at most a twentieth of the time
        for _ in range(100):
            display.tick()
    lines = ["  models: 1 call, 100 tokens, $0.20 so far", "  models: 2 calls, 200 tokens, $0.60 so far"]
    assert out.getvalue().splitlines() == ["▸ run", *lines]


def draw(progress: RunProgress, width: int) -> list[str]:
    console = Console(width=width, height=24, file=io.StringIO())
    with console.capture() as captured:
        console.print(ProgressView(console, progress))
    return captured.get().splitlines()


def test_the_line_of_the_live_table_updates_without_events(record_calls: RecordCalls, gateway: CountingGateway) -> None:
    progress = RunProgress()
    table = ProgressTable(lambda _: None, False, progress)
    recording, session = record_calls(), gateway.sessions.open("run")
    table(Started("run"), recording)
    assert len(draw(progress, 80)) == 1
    call(session)
    session.find_counts("", "openai", "gpt-4o").waited_s = 2.0
    table.tick()
    line, status = draw(progress, 80)
    assert line == "models: 1 call · 100 tokens · $0.01 · waited 2.0 s for limits"
    assert "1 script running" in status
    assert len(draw(progress, 30)) == 2
    (short,) = draw_calls(progress, width=30, plain=True)
    assert short.plain == "models: 1 call - 100 toke…"


def list_calls(recording: RunRecorder) -> tuple[ModelCalls, ...]:
    """The calls that a run gets from the layers of its recording."""
    run = Run("run", 0.0, RunEnd(1.0), RunCode("0"))
    for layer in recording.layers:
        run = layer.add_to_run(run)
    return run.model_calls


def test_each_recording_counts_its_own_calls(record_calls: RecordCalls, gateway: CountingGateway) -> None:
    first = record_calls("1")
    session = gateway.sessions.open("run")
    call(session)
    gateway.sessions.close(session)
    second = record_calls("2")
    call(gateway.sessions.open("run"), "other")
    assert [row.model for row in list_calls(second)] == ["other"]
    assert [calls and calls.calls for calls in (second.count_calls(), first.count_calls())] == [1, 2]


def test_many_models_are_counted_fast(record_calls: RecordCalls, gateway: CountingGateway) -> None:
    recording = record_calls()
    for suite in range(4):
        session = gateway.sessions.open(f"suite {suite}")
        for number in range(1_500):
            call(session, f"model {number}")
    fastest = min(_measure(recording.count_calls) for _ in range(5))
    totals = recording.count_calls()
    assert totals is not None
    assert totals.calls == 6_000
    assert fastest < 0.1  # it takes 5 ms
    rows = list_calls(recording)
    assert len(rows) == 2_001
    assert (rows[-1].model, sum(row.calls for row in rows)) == ("(others)", 6_000)
    assert sum(row.calls for row in rows if row.suite == "suite 0") == 1_500


def _measure(function: Callable[[], object]) -> float:
    started = time.thread_time()
    function()
    return time.thread_time() - started


def test_nothing_is_shown_without_calls() -> None:
    assert format_calls(None) == ""
    assert format_calls(CallTotals()) == ""


def test_a_cost_below_a_cent_is_shown() -> None:
    assert list(format_costs(Tally("log", "demo", cost=0.003))) == ["$0.003"]


def test_the_gateway_alone_counts_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    _print_calls((ModelCalls("sh", "", "openai", "gpt-4o", calls=1, input_tokens=10, cost=0.00125),))
    assert capsys.readouterr().err == "scoregate: openai/gpt-4o: 1 call, 10 tokens, $0.0013\n"
