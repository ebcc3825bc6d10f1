"""Read a result file of any format; its content is untrusted, and limited like a suite's own events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import BinaryIO, TypeAlias

from scoregate.errors import ImportFailed, InvalidEvent, UsageError
from scoregate.kernel.run.documents.files import OpenFile, ResultFile
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.event_json import parse_event, truncate_event
from scoregate.kernel.types.events import CaseFinished, Event
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump_event
from scoregate.kernel.types.records import record
from scoregate.kernel.types.test_outcomes import TestOutcomes

ReadFile: TypeAlias = Callable[[ResultFile], Iterator[Event]]


@record
class Format:
    """One format: the module that reads it, and a description of the command that writes it."""

    module: str
    written_by: str

    @property
    def read(self) -> ReadFile:
        """Its reader, imported when it is first needed."""
        read: ReadFile = import_module(f"scoregate.features.imports.{self.module}").read
        return read


IMPORTERS: Mapping[str, Format] = {
    "junit": Format("junit", "`pytest --junitxml FILE`, or the JUnit reporter of your test runner"),
    "promptfoo": Format("promptfoo", "`promptfoo eval -o FILE.json`"),
    "inspect": Format("inspect_ai", "`inspect eval --log-dir DIR`, as .eval or .json"),
    "deepeval": Format(
        "deepeval", "`deepeval test run` or `evaluate()`, as .deepeval/.latest_run_full.json or FOLDER/test_run_*.json"
    ),
    "rows": Format(
        "rows",
        "any tool, as rows of JSON lines, JSON, CSV or Parquet; the table `rows` of the command names the columns",
    ),
    "lm-eval": Format("lm_eval", "`lm_eval --log_samples --output_path DIR`, as DIR/*/samples_*.jsonl"),
    "ctrf": Format("ctrf", "the CTRF reporter of your test runner, such as `pytest --ctrf FILE`"),
    "vitest": Format("vitest", "`vitest run --reporter=json --outputFile=FILE`"),
    "evalite": Format("evalite", "`evalite run --outputPath FILE.json`"),
    "skill-benchmark": Format("skill_benchmark", "skill tools, as benchmark.json or grading.json"),
    "pydantic-evals": Format("pydantic_evals", "EvaluationReportAdapter.dump_json(report) of pydantic_evals.reporting"),
}


@record
class Reader:
    """Reads files. `redact` removes secrets from every event first."""

    redact: Callable[[bytes], bytes]

    def __call__(
        self,
        format_name: str,
        file: BinaryIO,
        *,
        name: str,
        alone: bool = True,
        more: tuple[OpenFile, ...] = (),
        scores: tuple[str, ...] = (),
        columns: RowColumns | None = None,
        recorded: frozenset[str] = frozenset(),
        notes: list[str] | None = None,
        tests: TestOutcomes | None = None,
    ) -> Iterator[Event]:
        """The events of a file.

        Args:
            format_name: the name of the format, such as `junit`.
            file: the open file.
            name: the name of the file, for messages.
            alone: whether it is the only file to import.
            more: open further files whose test runs belong to the same suites.
            scores: globs of the properties that are scores.
            columns: the columns of rows, if the settings name them.
            recorded: `SUITE::CASE` of tests that are in the record already; they are left out.
            notes: receives what the report should say about the file.
            tests: how the tests of the command ended, if its test runner recorded it.

        Raises:
            ImportFailed: the file is not of that format, is damaged, or has no case.
            UsageError: there is no such format.
        """
        if (form := IMPORTERS.get(format_name)) is None:
            raise UsageError(f"results of {format_name!r} can't be imported; supported: {', '.join(IMPORTERS)}")
        notes = [] if notes is None else notes
        result, cases = ResultFile(name, file, alone, more, scores, recorded, columns, notes, tests), 0
        try:
            for event in form.read(result):
                yield self._to_logged_event(event)
                cases += isinstance(event, CaseFinished)
        except ImportFailed as error:
            raise _import_error(result, format_name, error.message, form=form, advice=error.advice) from None
        except (ValueError, OSError, InvalidEvent) as error:
            raise _import_error(result, format_name, f"it can't be read: {error}", form=form) from None
        if not cases and not recorded:  # the plug-in may have recorded all of them
            raise _import_error(result, format_name, "it holds no case", form=form)

    def _to_logged_event(self, event: Event) -> Event:
        """The event as if a suite had written it to its log: limited in size, and without secrets."""
        try:
            line = dump_event(event)
        except ValueError as error:
            line = dump_event(truncate_event(event, str(error)))
        if len(line) >= MAX_EVENT_BYTES:
            line = dump_event(truncate_event(event, f"{len(line):,} bytes are over the limit of {MAX_EVENT_BYTES:,}"))
        return parse_event(self.redact(line))


def _import_error(
    result: ResultFile, format_name: str, why: str, *, form: Format, advice: str | None = None
) -> ImportFailed:
    advice = advice or f"Results of {format_name} are written by {form.written_by}."
    return ImportFailed(
        f"{result.name[:300]!r} can't be imported as results of {format_name}: {why}"[:2000], advice=advice
    )
