"""The progress of a suite in a notebook, with a shell that records what it shows."""

from __future__ import annotations

import asyncio
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.engine import script_front
from scoregate.engine.script_front import NotebookProgress
from scoregate.errors import SuiteFailed
from scoregate.kernel.types.suite import Case, Description, Suite


class Shell:
    """The used parts of IPython: `shown` has displays, `updates` their changes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, kernel: object = "a kernel") -> None:
        self.shown: list[dict[str, str]] = []
        self.updates: list[dict[str, str]] = []
        self.kernel, self.fails = kernel, False
        ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
        ipython.get_ipython = lambda: self  # type: ignore[attr-defined]
        displays.display = self.display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", displays)

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw and display_id  # noqa: PT018
        self.shown.append(data)
        return SimpleNamespace(update=self.update)

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        if self.fails:
            raise RuntimeError("the notebook is gone")
        self.updates.append(data)


@pytest.fixture(autouse=True)
def _project(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCOREGATE_EVENTS", raising=False)


def run(count: int = 3, **options: Any) -> Any:
    return evaluate("<b>hours", data=range(count), task=str, scorers=lambda output: output != "1", **options)


def test_one_line_is_updated_and_nothing_else_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(monkeypatch)
    monkeypatch.setattr(script_front, "_UPDATE_INTERVAL_S", 0.0)
    result = run()
    assert [each["text/plain"] for each in shell.shown] == ["… <b>hours · 0 of 3 cases"]
    *steps, last = (each["text/plain"] for each in shell.updates)
    assert steps == [f"… <b>hours · {done} of 3 cases" for done in (1, 2, 3)]
    assert last.startswith("✗ <b>hours · 3 of 3 cases · ")
    assert shell.updates[0]["text/html"] == '<progress value="1" max="3"></progress> … &lt;b&gt;hours · 1 of 3 cases'
    assert "progress" not in shell.updates[-1]["text/html"]
    assert capsys.readouterr().out == ""
    assert "failed" in result._repr_html_()


def test_the_number_of_updates_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(monkeypatch)
    monkeypatch.setattr(script_front, "_UPDATE_INTERVAL_S", 60.0)
    run(500, repeats=2)
    assert len(shell.shown) == len(shell.updates) == 1
    assert "1000 of 1000 trials" in shell.updates[0]["text/plain"]


def test_a_closed_notebook_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(monkeypatch)
    shell.fails = True
    assert len(run().cases) == 3
    monkeypatch.setattr(Shell, "display", lambda *_, **__: 1 / 0)
    assert len(run().cases) == 3
    with pytest.raises(SuiteFailed, match="2 passed"):
        run(assert_test=True)


def test_elsewhere_the_summary_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for make in (lambda: Shell(monkeypatch, kernel=None), lambda: monkeypatch.delitem(sys.modules, "IPython")):
        shell = make()
        run()
        assert "3 cases · 2 passed · 1 failed" in capsys.readouterr().out
        assert shell is None or shell.shown == []


def test_a_line_counts_trials_of_variants_and_one_case(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(monkeypatch)
    monkeypatch.setattr(script_front, "_UPDATE_INTERVAL_S", 60.0)
    passing: dict[str, Any] = {"data": ["a"], "scorers": lambda: 1.0}
    evaluate("one", task=str, **passing)
    evaluate("two", task={"x": str, "y": str}, **passing)
    evaluate("n" * 61, data=["a", "b"], task=str, scorers=lambda: 1.0)
    ends = [each["text/plain"].rpartition(" · ")[0] for each in shell.updates]
    assert ends == ["✓ one · 1 of 1 case", "✓ two · 2 of 2 trials", f"✓ {'n' * 59}… · 2 of 2 cases"]


def test_a_line_changes_at_most_five_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(script_front, "perf_counter", lambda: now[0])
    shell = Shell(monkeypatch)
    suite = Suite("demo", [Case(str(number), number) for number in range(9)], str, lambda _: Description("", 1), str)
    progress = NotebookProgress(suite, shell.display)
    for seconds, updates in ((0.19, 0), (0.02, 1), (0.19, 1), (0.02, 2), (0.5, 3)):
        now[0] += seconds
        progress.advance()
        assert len(shell.updates) == updates
    assert shell.updates[-1]["text/plain"] == "… demo · 5 of 9 cases"
    progress.finish(passed=True)
    assert shell.updates[-1]["text/plain"] == "✓ demo · 5 of 9 cases · 0.9 s"


def test_a_line_changes_once_the_interval_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(script_front, "perf_counter", lambda: now[0])
    monkeypatch.setattr(script_front, "_UPDATE_INTERVAL_S", 0.25)
    shell = Shell(monkeypatch)
    progress = NotebookProgress(Suite("demo", [], str, lambda _: Description("", 1), str), shell.display)
    now[0] += 0.25
    progress.advance()
    assert len(shell.updates) == 1
    assert 'max="1"' in shell.updates[0]["text/html"], "of no cases, too"


def test_a_host_gets_no_summary_but_a_failed_test_does(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    assert len(run(1, assert_test=True).cases) == 1
    with pytest.raises(SuiteFailed, match="2 passed"):
        run(assert_test=True)
    assert capsys.readouterr().out == ""


def test_a_script_runs_its_suites_in_its_own_thread_and_one_loop() -> None:
    async def find_loop(_: str) -> str:
        return f"{threading.get_ident()} {id(asyncio.get_running_loop())}"

    found = [evaluate("demo", data=["a"], task=find_loop, scorers=lambda: 1.0).cases[0].output for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].split()[0] == str(threading.get_ident())


def test_a_suite_without_the_chosen_cases_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_SELECTION", '{"keyword": "nothing"}')
    assert run().skipped
