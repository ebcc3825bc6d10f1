"""The plug-in of pytest: the fixture and the mark `scoregate`. Under `scoregate run` and `exec`, tests are recorded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from scoregate.pytest_plugin.eval_case import EvalCase

__all__ = ["EvalCase"]

_MARK = (
    "scoregate(suite=None, repeats=None, tags=(), cluster=None): "
    "a case of a suite, which scoregate records, compares and gates"
)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Record what tests log with LangSmith's plug-in, before a file imports its functions."""
    if os.environ.get("SCOREGATE_EVENTS") and "langsmith.testing" in sys.modules:
        from scoregate.pytest_plugin.langsmith_feedback import record_logged

        record_logged()


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, and record tests if a host collects them."""
    config.addinivalue_line("markers", _MARK)
    if os.environ.get("SCOREGATE_EVENTS") and not config.option.collectonly:
        from scoregate.pytest_plugin.recorder import Recorder

        config.pluginmanager.register(Recorder(config), "scoregate-recorder")
        if os.environ.get("DEEPEVAL_RESULTS_FOLDER"):  # the host sets it, if it reads results of deepeval
            from scoregate.pytest_plugin.deepeval_tests import DeepevalTests

            config.pluginmanager.register(
                DeepevalTests(config, Path(os.environ["SCOREGATE_EVENTS"])), "scoregate-deepeval"
            )


@pytest.fixture
def scoregate(request: pytest.FixtureRequest) -> EvalCase:
    """Scores, output and input of this test, as a case of a suite of scoregate."""
    from scoregate.pytest_plugin.eval_case import open_case

    return open_case(request.node)


def __getattr__(name: str) -> object:
    """The type of the fixture's value: imported when it is asked for."""
    if name != "EvalCase":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scoregate.pytest_plugin.eval_case import EvalCase

    return EvalCase
