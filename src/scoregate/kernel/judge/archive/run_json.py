"""`run.json`: a run without its cases, with their counts and means."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import field, fields, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive.folder import RUN_FILE
from scoregate.kernel.types.event_values import ListedTool
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import STATUSES
from scoregate.kernel.types.runs.dependencies import CarriedFrom, RunDependencies, check_dependencies
from scoregate.kernel.types.runs.evidence import TrialOrigin
from scoregate.kernel.types.runs.fallen import FELL
from scoregate.kernel.types.runs.past_runs import (
    MAX_TEXT_LENGTH,
    MOST_RUNS,
    MOST_SERIES,
    History,
    PastRun,
    Score,
    SuiteMetrics,
)
from scoregate.kernel.types.runs.reuse import ReusedRun
from scoregate.kernel.types.runs.run import Run, RunInfo, SuiteInfo, SuiteResult
from scoregate.kernel.types.runs.suite_states import LONGEST_STATE

_LATEST_TIME = 1e11
_LONGEST_NAMES = 1 << 20


@record
class SuiteHead(SuiteInfo):
    """A suite without its trials: the number, statuses and means of its cases.

    `carried` is the run that measured it, if it didn't run; `kept` the one that measured its reused cases.
    """

    carried: CarriedFrom | None = None
    kept: CarriedFrom | None = None
    tools: tuple[ListedTool, ...] = ()
    cases: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    means: Mapping[str, float | None] = field(default_factory=dict)


@record
class RunHead(RunInfo):
    """A run without its cases: what `run.json` stores, with the checksum (CRC-32) of the lines in the cases file.

    `slots` holds every key of the file that the kernel doesn't know, as it was read: a newer or an older version may
    have written it.
    """

    suites: tuple[SuiteHead, ...] = ()
    cases: int = 0
    crc32: int | None = None
    slots: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_fallen(self) -> bool:
        """Whether a gate that compared it with its baseline failed, or could not be measured."""
        return self.slots.get(FELL.name) is True


@record
class _Checked:
    """Keys of the file that are no fields of the head, but without which no report can be made."""

    schema_version: int
    reused_from: ReusedRun | None = None


RECORD_VERSION = 1
# Far above real runs: a forged run must not use up all time or memory.
MOST_OF_EACH = 10_000
MOST_EVALUATORS = 20_000
_LATEST_RUN_TIME = 1e11
RUN_FIELDS = tuple(each.name for each in fields(RunInfo))
_PARTS = ("code", "end", "scope")  # records whose fields are keys at the top
_OLD_SLOTS = ("reused_from", "estimate")  # slots that have a place among the other keys, and are null if they are empty
_KEYS = (
    *("schema_version", "id", "started", "finished", "version", "message", "commit", "branch", "dirty", "attempt"),
    *("complete", "cases", "crc32", "suites", "scripts", "notices", "policy", "settings", "filters", "file_filters"),
    *("skipped", "left_out", "narrowed", "exec_call", "selection", "stopped", "compared_with", "conditions"),
    *("reused_from", "model_calls", "shard", "estimate"),
)
_KNOWN_KEYS = {*_KEYS, "history", "dependencies"} - {*_OLD_SLOTS}
SUITE_FIELDS = (*(each.name for each in fields(SuiteInfo)), "tools")


def read_head(path: Path) -> RunHead:
    """Read `run.json`.

    Raises:
        RecordError: it is missing, damaged or of a newer version.
    """
    data = _read_json(path)
    _check_lengths(path, data)
    notices: tuple[str, ...] = ()
    try:
        if isinstance(data, dict):
            history, notices = read_history(data.get("history"))
            dependencies, damage = read_dependencies(data.get("dependencies"))
            slots = {name: value for name, value in data.items() if name not in _KNOWN_KEYS and value is not None}
            parts = dict.fromkeys(_PARTS, data)
            data = {**data, **parts, "history": history, "dependencies": dependencies, "slots": slots}
            notices = (*notices, *damage)
        _adapter(_Checked).validate_python(data)
        head: RunHead = _adapter(RunHead).validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = first["loc"][1:] if first["loc"][:1] in [(part,) for part in _PARTS] else first["loc"]
        raise _damage_error(path, f"{'.'.join(map(str, place))}: {first['msg']}") from None
    except ValueError as error:
        raise _damage_error(path, str(error)) from None
    if not (_is_time(head.started) and _is_time(head.end.finished)):
        raise _damage_error(path, "its times are not valid")
    return replace(head, notices=(*head.notices, *(f"{path.name}: {notice}" for notice in notices)))


def _read_json(path: Path) -> Any:
    try:
        data = from_json(path.read_bytes(), allow_inf_nan=False)
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error.strerror}") from None
    except ValueError as error:
        raise _damage_error(path, str(error)) from None
    _check_version(path, data)
    return data


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    """Built once, because building takes longer than reading a head."""
    return TypeAdapter(kind)


def _check_version(path: Path, data: object) -> None:
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > RECORD_VERSION:
        raise RecordError(
            f"{path} has schema version {version}; this scoregate reads versions up to {RECORD_VERSION}",
            advice="Update scoregate.",
        )


def _check_lengths(path: Path, data: object) -> None:
    lists = {name: value for name, value in data.items() if isinstance(value, list)} if isinstance(data, dict) else {}
    for name, value in lists.items():
        if len(value) > MOST_OF_EACH:
            raise _damage_error(path, f"it has {len(value):,} {name}, more than {MOST_OF_EACH:,}")
    tables = (suite.get("evaluators") for suite in lists.get("suites", ()) if isinstance(suite, dict))
    if (number := sum(len(table) for table in tables if isinstance(table, dict))) > MOST_EVALUATORS:
        raise _damage_error(path, f"its suites have {number:,} scorers, more than {MOST_EVALUATORS:,}")


def read_history(data: Any) -> tuple[History, tuple[str, ...]]:
    """Read the history in `run.json`; None is an empty one.

    Returns:
        The history, or an empty one with a notice of the damage.
    """
    if data is None:
        return History(), ()
    try:
        history: History = _adapter(History).validate_python(data)
        _check_history(history)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return History(), (f"its history is ignored: {'.'.join(map(str, first['loc']))[:100]}: {first['msg']}",)
    except ValueError as error:
        return History(), (f"its history is ignored: {error}",)
    return history, ()


def read_dependencies(data: Any) -> tuple[RunDependencies, tuple[str, ...]]:
    """Read what scripts depend on; None is nothing.

    Returns:
        The dependencies, or none with a notice of the damage.
    """
    if data is None:
        return RunDependencies(), ()
    try:
        dependencies: RunDependencies = _adapter(RunDependencies).validate_python(data)
        check_dependencies(dependencies)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return RunDependencies(), (f"its dependencies are ignored: {first['msg']}",)
    except ValueError as error:
        return RunDependencies(), (f"its dependencies are ignored: {error}",)
    return dependencies, ()


def _check_history(history: History) -> None:
    """Raise a ValueError for anything that scoregate does not write."""
    number = len(history.runs)
    series = list(history.series())
    _require(number <= MOST_RUNS, f"it has {number:,} runs")
    _require(len(series) <= MOST_SERIES + len(history.suites), f"it has {len(series):,} columns")
    names = [*history.suites, *(name for suite in history.suites.values() for name in suite.scores)]
    _require(sum(map(len, names)) <= _LONGEST_NAMES, "its names are too long")
    states = [suite.states for suite in history.suites.values() if suite.states]
    _require(all(len(each) == number for each in (*series, *states)), "its columns are not as long as it has runs")
    texts = (text for each in states for text in each if text is not None)
    _require(all(len(text) <= LONGEST_STATE for text in texts), "one of its digests is not valid")
    _require(all(map(_is_valid_run, history.runs)), "one of its runs is not valid")
    _require(all(map(_is_valid_point, (point for each in series for point in each))), "one of its numbers is not valid")


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _is_valid_run(past: PastRun) -> bool:
    texts = (past.id, past.commit, past.branch, past.message)
    return (
        0 <= past.finished < _LATEST_TIME
        and all(text is None or len(text) <= MAX_TEXT_LENGTH for text in texts)
        and _is_valid_point(past.took)
    )


def _is_valid_point(point: SuiteMetrics | Score | None) -> bool:
    if point is None:
        return True
    if isinstance(point, Score):
        return 0 <= point.mean <= 1 and point.n > 0 and len(point.made_by) <= MAX_TEXT_LENGTH
    amounts = (point.cost, point.p50_ms)
    return 0 <= (point.pass_rate or 0) <= 1 and all(each is None or (isfinite(each) and each >= 0) for each in amounts)


def _is_time(seconds: float) -> bool:
    return 0 <= seconds < _LATEST_RUN_TIME


def _damage_error(path: Path, why: str) -> RecordError:
    return RecordError(f"{path} is damaged: {why}", advice="Run it again, or name another run.")


def amend_run(folder: Path, run: Run) -> None:
    """Replace `run.json`; the cases stay as they are.

    Raises:
        RecordError: the folder holds no run, or can't be written to.
    """
    crc32 = _read_checksum(folder / RUN_FILE)
    partial = folder / f".run-{secrets.token_hex(4)}.partial"
    try:
        partial.write_bytes(dump_head(make_head(run, crc32)))
        partial.replace(folder / RUN_FILE)
    except OSError as error:
        raise RecordError(f"{folder / RUN_FILE} can't be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def _read_checksum(path: Path) -> int | None:
    """The checksum of the cases. The rest is replaced, so it is not validated, which takes 11 ms (measured)."""
    data = _read_json(path)
    crc32 = data.get("crc32") if isinstance(data, dict) else ""
    if not isinstance(crc32, int | None):
        raise _damage_error(path, "it has no checksum")
    return crc32


def dump_head(head: RunHead) -> bytes:
    """The text of `run.json`; history and dependencies, which only programs read, are on one line each at its end."""
    stored: dict[str, Any] = {"schema_version": RECORD_VERSION, **head.slots}
    for each in (head, head.code, head.end, head.scope):
        stored |= {own.name: getattr(each, own.name) for own in fields(each)}
    text = _dump({name: stored.get(name) for name in _KEYS}, indent=2).removesuffix(b"\n}")
    for name, value in head.slots.items():
        text += b",\n  " + to_json(name) + b": " + _dump(value) if name not in _KEYS else b""
    if head.dependencies.is_recorded:
        text += b',\n  "dependencies": ' + to_json(head.dependencies)
    if head.history.runs:
        text += b',\n  "history": ' + _dump(head.history)
    return text + b"\n}\n"


def _dump(value: object, *, indent: int | None = None) -> bytes:
    return to_json(value, indent=indent, inf_nan_mode="null", serialize_unknown=True)


def make_head(run: Run, crc32: int | None) -> RunHead:
    """The head of a run."""
    suites = tuple(
        SuiteHead(
            **_dump_suite(suite),
            cases=len(suite.columns),
            statuses={status.value: suite.columns.count(status) for status in STATUSES},
            means={name: suite.mean(name) for name in suite.evaluators},
        )
        for suite in run.suites
    )
    return RunHead(**_dump_run(run), suites=suites, cases=sum(suite.cases for suite in suites), crc32=crc32)


def _dump_run(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in RUN_FIELDS} | {"slots": dict(run.slots.to_stored())}


def _dump_suite(suite: SuiteResult) -> dict[str, Any]:
    sources = {each.value: suite.trials.find_run(each) for each in (TrialOrigin.CARRIED, TrialOrigin.KEPT)}
    return {name: getattr(suite, name) for name in SUITE_FIELDS} | sources


def make_unfinished_head(run: Run) -> RunHead:
    """The head of an unfinished run. It has no counts; the reader of the run counts its cases."""
    own = _dump_run(run) | {"end": replace(run.end, complete=False)}
    return RunHead(**own, suites=tuple(SuiteHead(**_dump_suite(suite)) for suite in run.suites))
