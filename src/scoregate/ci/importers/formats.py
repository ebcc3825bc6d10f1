"""The formats that are understood: who reads each, and which command writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from scoregate.ci.importers.result_file import ResultFile
from scoregate.core.events import Event

Read: TypeAlias = Callable[[ResultFile], Iterator[Event]]


@dataclass(frozen=True, slots=True)
class Format:
    """One format: the module that reads it, what writes it, in words."""

    module: str
    written_by: str

    @property
    def read(self) -> Read:
        """Its reader, imported when it is first needed."""
        found: Read = import_module(f"scoregate.ci.importers.{self.module}").read
        return found


IMPORTERS: Mapping[str, Format] = {
    "junit": Format("junit", "`pytest --junitxml FILE`, or the JUnit reporter of your test runner"),
    "promptfoo": Format("promptfoo", "`promptfoo eval -o FILE.json`"),
    "inspect": Format("inspect_ai", "`inspect eval --log-dir DIR`, as .eval or .json"),
    "deepeval": Format(
        "deepeval", "`deepeval test run` with DEEPEVAL_RESULTS_FOLDER set, or .deepeval/.latest_run_full.json"
    ),
    "pydantic-evals": Format("pydantic_evals", "EvaluationReportAdapter.dump_json(report) of pydantic_evals.reporting"),
}
