"""Logs of inspect_ai: `.eval`, a zip archive with a file for each sample, and `.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    Grade,
    Scales,
    Trial,
    count,
    defined_fields,
    error,
    excerpt,
    list_rows,
    milliseconds,
    read_scales,
    read_table,
    show_position,
    table,
    tables,
    text,
    to_unit_scale,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import (
    Archive,
    Part,
    ResultFile,
    is_zip,
    open_archive,
    parse_document,
    parse_value,
)
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo, Setup, SetupPart
from scoregate.kernel.types.events import Errored, Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import digest, split_position
from scoregate.kernel.types.text import is_whole_number, parse_amount, parse_number

# The values of inspect's own `value_to_float`.
_WORD_SCORES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_YES, _NO = ("yes", "true"), ("no", "false")
_FAILED_REASONS = ("grader_failed", "scoring_failed")
_ATTACHED = "attachment://"
_LONGEST_LABEL = 100
_RANDOM = ("id", "tool_call_id")


_SAMPLES, _HEADER, _START = "samples/", "header.json", "_journal/start.json"


def read(result: ResultFile) -> Iterator[Event]:
    """The events of one log: one suite, its epochs as repeats.

    Raises:
        ImportFailed: it is not such a log.
        ValueError: it is damaged.
    """
    if is_zip(result.file):
        with open_archive(result.file) as archive:
            names = archive.names()
            # A log without a header was never finished. Its samples are imported all the same.
            if (start := next((name for name in (_HEADER, _START) if name in names), None)) is None:
                raise ImportFailed(f"it is a zip file without {_HEADER} and {_START}")
            members = [name for name in names if name.startswith(_SAMPLES) and name.endswith(".json")]
            header = table(parse_value(archive.read(start)))
            with open_archive(result.file) as other:  # with a limit of its own
                keys = _case_keys(header, _read_samples(other, members))
            yield from _read_log(header, _read_samples(archive, members), keys, result)
    else:
        document = parse_document(result.read()).members()
        if "eval" not in document or "status" not in document:
            raise ImportFailed("it has no `eval` and `status`")
        header = {name: part.value for name, part in document.items() if name in ("eval", "status", "error")}
        keys = _case_keys(header, _list_samples(document))
        yield from _read_log(header, _list_samples(document), keys, result)


def _list_samples(document: Mapping[str, Part]) -> Iterator[Mapping[str, Any]]:
    return list_rows(document["samples"], "samples") if "samples" in document else iter(())


def _read_samples(archive: Archive, members: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for name in members:
        sample = parse_value(archive.read(name))
        if not isinstance(sample, dict):
            raise ValueError(f"{name} is not an object")
        yield sample


def _case_keys(header: Mapping[str, Any], samples: Iterator[Mapping[str, Any]]) -> CaseKeys:
    size = table(table(header.get("eval")).get("dataset")).get("samples")
    return CaseKeys.of(read_trial(sample, {}, size) for sample in samples)


def _read_log(
    header: Mapping[str, Any], samples: Iterator[Mapping[str, Any]], keys: CaseKeys, result: ResultFile
) -> Iterator[Event]:
    spec = table(header.get("eval"))
    task = excerpt(text(spec.get("task")) or result.stem)
    suite = Suite(result.suite_id(task), keys)
    version = text(table(spec.get("packages")).get("inspect_ai"))
    # With several logs, the model distinguishes them.
    model = {} if result.alone else defined_fields(model=text(spec.get("model")))
    arguments = dict(table(spec.get("task_args_passed")))
    setup = Setup(
        task,
        result.stable_name,
        model=SetupPart(value=text(spec.get("model"))),
        arguments=SetupPart(value=digest(arguments) if arguments else ""),
    )
    yield SuiteStarted(
        suite=suite.id, sdk=f"inspect_ai {version}".strip(), params=model | arguments or None, setup=setup
    )
    scales, samples_of_dataset = read_scales(spec.get("metadata")), table(spec.get("dataset")).get("samples")
    cluster = _find_cluster_field(spec)
    for sample in samples:
        trial = read_trial(sample, scales, samples_of_dataset)
        yield from suite.events_of(replace(trial, cluster=text(trial.metadata.get(cluster)) or None))
    if header.get("status") == "success":
        yield SuiteFinished(suite=suite.id)
        return
    status, failure = text(header.get("status")) or "not finished", table(header.get("error"))
    suite_error = ErrorInfo("Incomplete", f"the status of the eval is {excerpt(status, 40)}, not success")
    if failure:
        suite_error = error("EvalError", failure.get("message"), failure.get("traceback"))
    yield Errored(suite=suite.id, stage="suite", error=suite_error)


def _find_cluster_field(spec: Mapping[str, Any]) -> str:
    """The field of samples' metadata by which inspect clusters its standard errors; empty without one."""
    own = [scorer.get("metrics") for scorer in tables(spec.get("scorers"))]
    options = (table(metric.get("options")) for metric in _list_metrics([*own, spec.get("metrics")]))
    return next(filter(None, (text(each.get("cluster")) for each in options)), "")


def _list_metrics(value: object, depth: int = 4) -> Iterator[Mapping[str, Any]]:
    """The metrics in lists and in tables by score."""
    if isinstance(value, Mapping) and "name" in value:
        yield value
    elif isinstance(value, list | Mapping) and depth:
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _list_metrics(each, depth - 1)


def read_trial(sample: Mapping[str, Any], scales: Scales, dataset_size: object = None) -> Trial:
    """One epoch of a sample. Its scores are grades, not verdicts: inspect passes or fails nothing by itself.

    Args:
        sample: the sample.
        scales: the scales of scores.
        dataset_size: the number of samples in the dataset; None if unknown.
    """
    attachments = table(sample.get("attachments"))
    sample_input = _without_ids(_with_attachments(sample.get("input"), attachments))
    sample_id = text(sample.get("id"))
    is_position = _is_position(sample.get("id"), dataset_size)
    failure = read_table(sample.get("error"), "error")
    grades, unscored = _read_grades(read_table(sample.get("scores"), "scores"), scales)
    return Trial(
        "" if is_position else sample_id,
        own=sample_id,
        name=show_position(sample_id, sample_input) if is_position or split_position(sample_id) else sample_id,
        repeat=max(0, count(sample.get("epoch")) - 1),
        input=sample_input,
        definition=[sample_input, sample.get("target"), sample.get("choices")],
        output=_without_ids(_with_attachments(_find_output(table(sample.get("output"))), attachments)),
        duration_ms=milliseconds(_find_seconds(sample)),
        attempts=1 + sum(1 for _ in tables(sample.get("error_retries"))),
        usage=_read_usage(table(sample.get("model_usage"))),
        grades=grades,
        unscored=unscored,
        error=error("SampleError", failure.get("message"), failure.get("traceback")) if failure else None,
        metadata=table(sample.get("metadata")),
    )


def _is_position(sample_id: object, dataset_size: object) -> bool:
    """Whether an id may be from inspect, which numbers samples without an id from 1."""
    if not is_whole_number(sample_id, 1):
        return False
    # An id above the size of the dataset is its author's.
    return not is_whole_number(dataset_size, 1) or sample_id <= dataset_size


def _without_ids(value: Any) -> Any:
    """A list of messages or of their parts without ids, which inspect and providers make at random."""
    if not isinstance(value, list):
        return value
    return [_without_id(each) if isinstance(each, dict) else each for each in value]


def _without_id(part: dict[str, Any]) -> dict[str, Any]:
    is_made = "role" in part or "function" in part or "type" in part
    kept = {name: each for name, each in part.items() if not (is_made and name in _RANDOM)}
    return {name: _without_ids(each) if name in ("content", "tool_calls") else each for name, each in kept.items()}


def _find_seconds(sample: Mapping[str, Any]) -> object:
    """The working time, without waiting for its turn, if it is known; else the total time."""
    return sample.get("total_time") if parse_amount(sample.get("working_time")) is None else sample.get("working_time")


def _find_output(output: Mapping[str, Any]) -> object:
    first = next(tables(output.get("choices")), {})
    return output.get("completion") or table(first.get("message")).get("content")


def _with_attachments(value: Any, attachments: Mapping[str, Any], depth: int = 0) -> Any:
    """The value with the texts that the log stores as attachments."""
    if depth > 20:
        return value
    if isinstance(value, str):
        known = value.startswith(_ATTACHED)
        return attachments.get(value.removeprefix(_ATTACHED), value) if known else value
    if isinstance(value, list):
        return [_with_attachments(each, attachments, depth + 1) for each in value]
    if isinstance(value, dict):
        return {name: _with_attachments(each, attachments, depth + 1) for name, each in value.items()}
    return value


def _read_usage(by_model: Mapping[str, Any]) -> Usage | None:
    used = [table(each) for each in by_model.values()]
    if not used:
        return None
    costs = [cost for each in used if (cost := parse_amount(each.get("total_cost"))) is not None]
    cached = sum(count(each.get("input_tokens_cache_read")) for each in used)
    written = sum(count(each.get("input_tokens_cache_write")) for each in used)
    return Usage(
        # Inspect counts those of a cache apart.
        sum(count(each.get("input_tokens")) for each in used) + cached + written,
        sum(count(each.get("output_tokens")) for each in used),
        cached,
        sum(costs) if costs else None,
        next(iter(by_model)) if len(by_model) == 1 else None,
    )


def _read_grades(scores: Mapping[str, Any], scales: Scales) -> tuple[tuple[Grade, ...], tuple[str, ...]]:
    """The grades, and the scorers without one, which is allowed."""
    grades: list[Grade] = []
    unscored: list[str] = []
    for scorer, entry in scores.items():
        score = read_table(entry, f"scores.{scorer}")
        labels, values = {}, dict(_list_values(scorer, score.get("value")))
        for name, value in values.items():
            number = _number(value)
            if number is None and value is not None:
                labels[name] = value
            elif number is None or isnan(number):
                unscored.append(name)
            else:
                grades.append(Grade(name, number))
        metadata = defined_fields(
            reason=score.get("explanation"),
            answer=score.get("answer"),
            why=score.get("reason"),
            labels=labels,
            metadata=score.get("metadata"),
        )
        if len(labels) == len(values):  # next to a number, a text explains it
            grades += [Grade(name, label=excerpt(value, _LONGEST_LABEL) or "(empty)") for name, value in labels.items()]
            metadata.pop("labels", None)
        grades = [replace(each, metadata=metadata) if each.evaluator in values else each for each in grades]
        if unscored and text(score.get("reason")) in _FAILED_REASONS:
            why = text(score.get("explanation")) or text(score.get("reason"))
            problem = ErrorInfo("NoScore", f"its grader returned no score: {why[:2000]}")
            grades += [Grade(name, error=problem) for name in unscored if name in values]
            unscored = [name for name in unscored if name not in values]
    return tuple(to_unit_scale(grade, scales) for grade in grades), tuple(unscored)


def _list_values(scorer: str, value: object) -> Iterator[tuple[str, object]]:
    """The values of a scorer by name. If it returns several, the names have their keys or positions."""
    if isinstance(value, Mapping):
        yield from ((f"{scorer}.{key}", each) for key, each in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}.{place}", each) for place, each in enumerate(value))
    else:
        yield scorer, value


def _number(value: object) -> float | None:
    """The value as a number, or as the bool that it is; None for a label."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return parse_number(value)
    if value in _WORD_SCORES or value.lower() in (*_YES, *_NO):
        return _WORD_SCORES.get(value, float(value.lower() in _YES))
    try:
        number = float(value)
    except ValueError:
        return None
    return number if isfinite(number) else None
