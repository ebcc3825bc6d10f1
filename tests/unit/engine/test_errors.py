"""What is recorded of an exception of the user's code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import scoregate
from scoregate.engine.errors import EXIT_EXCEPTIONS, make_error_info
from scoregate.errors import EndpointError
from scoregate.kernel.types.event_values import MAX_TRACEBACK

PACKAGE = Path(scoregate.__file__).parent


def catch(function: Callable[[], Any]) -> BaseException:
    with pytest.raises(BaseException) as raised:  # noqa: PT011
        function()
    return raised.value


def compile_in(file: str, text: str, **names: Any) -> dict[str, Any]:
    scope: dict[str, Any] = dict(names)
    exec(compile(text, file, "exec"), scope)
    return scope


def list_files(text: str) -> list[str]:
    return [line.split('"')[1] for line in text.splitlines() if line.startswith("  File")]


def begin_in(file: str, error: BaseException) -> BaseException:
    """The error with the traceback that it has where this file catches it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != file:
        frame = frame.tb_next
    return error.with_traceback(frame)


def test_a_traceback_begins_in_the_users_code() -> None:
    """Frames of scoregate and anyio above it say nothing; those below it are a part of what happened."""
    text, evals, below = "def call(f): return f()", "/home/ana/evals/demo.py", f"{PACKAGE}/below.py"
    user = compile_in(evals, "def task(): return call(lambda: 1 / 0)", call=compile_in(below, text)["call"])["task"]
    for above in (f"{PACKAGE}/engine/calls.py", "/site-packages/anyio/to_thread.py"):
        call = compile_in(above, text)["call"]
        info = make_error_info(begin_in(above, catch(partial(call, user))))
        assert (info.type, info.message) == ("ZeroDivisionError", "division by zero")
        assert list_files(info.traceback) == [evals, below, evals]
    ours = f"{PACKAGE}/engine/calls.py"
    only_ours = begin_in(ours, catch(partial(compile_in, ours, "1 / 0")))
    assert list_files(make_error_info(only_ours).traceback) == [ours]


def test_a_deep_traceback_has_its_last_twenty_frames() -> None:
    calls = [f"def f{number}(): return f{number + 1}()" for number in range(60)]
    scope = compile_in("/evals/demo.py", "\n".join([*calls, "def f60(): return 1 / 0"]))
    info = make_error_info(catch(scope["f0"]))
    names = [line.rpartition(" in ")[2] for line in info.traceback.splitlines() if line.startswith("  File")]
    assert names == [f"f{number}" for number in range(41, 61)]
    assert len(info.traceback) <= MAX_TRACEBACK


def test_an_interrupt_or_the_end_of_the_loop_ends_the_run_and_others_are_results() -> None:
    for kind in (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
        assert issubclass(kind, EXIT_EXCEPTIONS), kind
    for error in (SystemExit(2), TimeoutError(), ValueError()):
        assert not isinstance(error, EXIT_EXCEPTIONS), error
        assert make_error_info(error).type == type(error).__name__


def test_every_error_has_a_text() -> None:
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise OSError("closed")

    group = ExceptionGroup("two", [ValueError("a"), KeyError("b")])
    for error, text in (
        (ValueError("no"), "no"),
        (ValueError(), "ValueError"),
        (EndpointError(""), "EndpointError"),
        (Unreadable(), "(its message cannot be shown: OSError)"),
        (group, "two (2 sub-exceptions): ValueError: a; KeyError: 'b'"),
    ):
        assert make_error_info(error).message == text


def test_an_error_of_ours_has_its_message_and_its_advice() -> None:
    info = make_error_info(EndpointError("no answer", advice="Start the server."))
    assert (info.message, info.advice) == ("no answer", "Start the server.")
    assert make_error_info(ValueError("x")).advice == ""


def test_the_advice_of_a_foreign_error_is_recorded_as_text() -> None:
    error: Any = ValueError("x")
    error.advice = 5
    assert make_error_info(error).advice == "5"
    error.advice = ""
    assert make_error_info(error).advice == ""


def closed(cause: BaseException | None = None, context: BaseException | None = None, depth: int = 0) -> BaseException:
    error: BaseException = cause or context or RuntimeError("Event loop is closed")
    for _ in range(depth):
        outer = ConnectionError("lost")
        outer.__cause__ = error
        error = outer
    return error


def test_a_client_of_a_closed_loop_has_an_advice() -> None:
    """Clients wrap this error, so it is among the causes of the one that is raised."""
    advice = make_error_info(closed()).advice
    assert advice.startswith("The client was opened in an event loop that is closed now.")
    assert make_error_info(closed(depth=9)).advice == advice
    assert make_error_info(closed(depth=10)).advice == "", "a chain is followed for ten errors, as it may have no end"
    during = ConnectionError("lost")
    during.__context__ = closed()
    assert make_error_info(during).advice == advice
    for other in (RuntimeError("other"), ValueError("Event loop is closed")):
        assert make_error_info(other).advice == ""
