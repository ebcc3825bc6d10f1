"""Logs of inspect_ai: `.eval`, a zip with a file for each sample, and `.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.ci.importers.fields import error, table, text, told
from scoregate.ci.importers.inspect_samples import trial
from scoregate.ci.importers.judgement import scales_of
from scoregate.ci.importers.members import Archive, is_zip, opened
from scoregate.ci.importers.parts import parsed, whole
from scoregate.ci.importers.result_file import ResultFile
from scoregate.ci.importers.trials import Suite, excerpt
from scoregate.core.events import Errored, ErrorInfo, Event, SuiteFinished, SuiteStarted
from scoregate.errors import ImportFailed

_SAMPLES, _HEADER, _START = "samples/", "header.json", "_journal/start.json"


def read(result: ResultFile) -> Iterator[Event]:
    """The events of one log: one suite, its epochs as repeats.

    Raises:
        ImportFailed: it is no such log. ValueError: it is damaged.
    """
    if is_zip(result.file):
        with opened(result.file) as archive:
            yield from _archived(archive, result)
    else:
        document = whole(result.read()).members()
        if "eval" not in document or "status" not in document:
            raise ImportFailed("it has no `eval` beside a `status`")
        header = {name: part.value for name, part in document.items() if name in ("eval", "status", "error")}
        samples = document["samples"].elements() if "samples" in document else iter(())
        yield from _log(header, (table(sample.value) for sample in samples), result)


def _archived(archive: Archive, result: ResultFile) -> Iterator[Event]:
    """A log without a header was never finished: what it has is told all the same."""
    names = archive.names()
    if (start := next((name for name in (_HEADER, _START) if name in names), None)) is None:
        raise ImportFailed(f"it is a zip with neither {_HEADER} nor {_START}")
    samples = (name for name in names if name.startswith(_SAMPLES) and name.endswith(".json"))
    header = table(parsed(archive.read(start)))
    yield from _log(header, (table(parsed(archive.read(name))) for name in samples), result)


def _log(header: Mapping[str, Any], samples: Iterator[Mapping[str, Any]], result: ResultFile) -> Iterator[Event]:
    spec = table(header.get("eval"))
    suite = Suite(result.named(excerpt(text(spec.get("task")) or result.stem)))
    version = text(table(spec.get("packages")).get("inspect_ai"))
    yield SuiteStarted(suite=suite.id, sdk=f"inspect_ai {version}".strip(), params=_params(spec, alone=result.alone))
    scales = scales_of(spec.get("metadata"))
    for sample in samples:
        yield from suite.tell(trial(sample, scales))
    if header.get("status") == "success":
        yield SuiteFinished(suite=suite.id)
    else:
        yield Errored(suite=suite.id, stage="suite", error=_why(header))


def _params(spec: Mapping[str, Any], *, alone: bool) -> dict[str, Any] | None:
    """What tells this run of the task from others: the arguments that were passed, among several logs the model too."""
    arguments = dict(table(spec.get("task_args_passed")))
    return told(**{} if alone else {"model": text(spec.get("model"))}) | arguments or None


def _why(header: Mapping[str, Any]) -> ErrorInfo:
    status, failure = text(header.get("status")) or "not finished", table(header.get("error"))
    if failure:
        return error("EvalError", failure.get("message"), failure.get("traceback"))
    return ErrorInfo("Incomplete", f"the log says that the eval is {excerpt(status, 40)}, not that it succeeded")
