"""The exit code of a suite's file without a host: 3 if nothing was measured, in the process that measured nothing."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.engine import exit_status
from scoregate.engine.exit_status import fail_at_exit, fail_now, is_called_by_script, is_unmeasured


def call_from(names: dict[str, Any]) -> bool:
    """What code with these global names is told."""
    code = compile("found = is_called_by_script()", "evals/demo.py", "exec")
    scope = {**names, "is_called_by_script": is_called_by_script}
    exec(code, scope)
    return bool(scope["found"])


def test_a_script_is_the_file_that_python_was_started_with(monkeypatch: pytest.MonkeyPatch) -> None:
    script = {"__name__": "__main__", "__file__": "evals/demo.py"}
    assert call_from(script)
    assert not call_from({**script, "__name__": "evals.demo"}), "a module that a script imports"
    assert not call_from({"__name__": "__main__"}), "the cell of a notebook"
    with monkeypatch.context() as interactive:
        interactive.setattr(sys, "flags", SimpleNamespace(interactive=1))
        assert not call_from(script), "a prompt follows"
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert not call_from(script), "a prompt, in which a file was executed"


@pytest.fixture
def _project(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCOREGATE_EVENTS", raising=False)


@pytest.mark.usefixtures("_project")
def test_a_suite_is_measured_if_one_case_of_one_variant_has_a_score() -> None:
    def score(output: str) -> float | None:
        return 1.0 if output == "b" else None

    def run(data: list[str], task: Any = str) -> Any:
        return evaluate("demo", data=data, task=task, scorers=score)

    assert is_unmeasured(run(["a"]))
    assert not is_unmeasured(run(["a", "b"]))
    tasks: dict[str, Callable[[str], str]] = {"one": lambda _: "a", "two": lambda _: "b"}
    assert not is_unmeasured(run(["a"], tasks))
    assert is_unmeasured(run(["a"], {"one": tasks["one"], "two": tasks["one"]}))


class CLibrary:
    """Records what the C library is asked to do at exit."""

    def __init__(self) -> None:
        self._exit, self.fflush = object(), object()
        self.asked: list[tuple[object, int | None]] = []

    def __getattr__(self, name: str) -> Callable[[object, Any, None], None]:
        if name != "__cxa_atexit":
            raise AttributeError(name)
        return lambda function, argument, _: self.asked.append((function, argument and argument.value))


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> CLibrary:
    found = CLibrary()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: found)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    monkeypatch.delattr(sys, "last_traceback", raising=False)
    return found


def test_the_c_library_exits_with_3_after_it_has_written_everything(library: CLibrary) -> None:
    fail_now()
    assert library.asked == [(library._exit, 3), (library.fflush, None)], "the last one is called first"


def test_a_process_that_measured_nothing_fails_once(library: CLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: list[Callable[[], None]] = []
    monkeypatch.setattr(exit_status, "_failing", [])
    monkeypatch.setattr(atexit, "register", lambda function, *args: handlers.append(lambda: function(*args)))
    fail_at_exit()
    fail_at_exit()
    (end,) = handlers
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        end()
        assert library.asked == [], "a process that was forked has its own result"
    end()
    assert len(library.asked) == 2


def test_an_exception_of_the_script_has_set_the_exit_code(library: CLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scope: dict[str, Any], text: str) -> None:
        try:
            exec(compile(text, "evals/demo.py", "exec"), scope)
        except ZeroDivisionError as error:
            monkeypatch.setattr(sys, "last_traceback", error.__traceback__, raising=False)

    script = vars(sys.modules["__main__"])
    fail(script, "1 / 0")
    fail_now()
    assert library.asked == []
    fail({"__name__": "other"}, "1 / 0")  # as pytest shows failed tests
    fail_now()
    assert len(library.asked) == 2
    library.asked.clear()
    exec("def divide(): return 1 / 0", script)
    fail({"divide": script["divide"]}, "divide()")  # a function of the script that something else called
    fail_now()
    assert len(library.asked) == 2


def test_without_the_c_library_python_itself_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Any] = []

    class Stream:
        def __init__(self, name: str) -> None:
            self.name = name

        def flush(self) -> None:
            events.append(self.name)
            raise OSError("closed")

    monkeypatch.setitem(sys.modules, "ctypes", None)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    monkeypatch.delattr(sys, "last_traceback", raising=False)
    monkeypatch.setattr(os, "_exit", events.append)
    with monkeypatch.context() as streams:
        streams.setattr(sys, "stdout", Stream("stdout"))
        streams.setattr(sys, "stderr", Stream("stderr"))
        fail_now()
    assert events == ["stdout", "stderr", 3]
