"""The progress bar of a suite in a terminal."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from scoregate.engine.terminal import show_progress


class Bar:
    """Records what rich is asked for."""

    made: list[Bar]

    def __init__(self, **options: Any) -> None:
        self.options, self.tasks, self.steps, self.is_open = options, dict[int, tuple[str, int]](), list[int](), False
        self.made.append(self)

    def __enter__(self) -> None:
        self.is_open = True

    def __exit__(self, *_: object) -> None:
        self.is_open = False

    def add_task(self, name: str, *, total: int) -> int:
        self.tasks[7] = name, total
        return 7

    def advance(self, task: int) -> None:
        self.steps.append(task)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """The bars that were made; stderr is a terminal."""
    console, progress = ModuleType("rich.console"), ModuleType("rich.progress")
    console.Console = dict  # type: ignore[attr-defined]
    progress.Progress = Bar  # type: ignore[attr-defined]
    for module in (ModuleType("rich"), console, progress):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Bar, "made", [], raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    return Bar.made


def test_each_step_advances_the_bar(bars: list[Bar]) -> None:
    with show_progress("[red]hours\n" + "x" * 60, 3, shown=True) as advance:
        (bar,) = bars
        assert (bar.is_open, bar.options) == (True, {"console": {"stderr": True}, "transient": True})
        assert bar.tasks == {7: (f"(red]hours {'x' * 48}…", 3)}, "one line, without markup"
        advance()
        advance()
    assert (bar.is_open, bar.steps) == (False, [7, 7])


def test_there_is_no_bar_where_nobody_sees_it(bars: list[Bar], monkeypatch: pytest.MonkeyPatch) -> None:
    with show_progress("hours", 3, shown=False) as advance:
        advance()
    with monkeypatch.context() as without_rich:
        without_rich.setitem(sys.modules, "rich.console", None)
        with show_progress("hours", 3, shown=True) as advance:
            advance()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with show_progress("hours", 3, shown=True) as advance:
        advance()
    assert bars == []
