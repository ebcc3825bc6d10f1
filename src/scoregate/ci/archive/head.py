"""`run.json`: a run without its cases, with what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from scoregate.ci.archive.past import read_history
from scoregate.core.case import STATUSES
from scoregate.core.confirmation import Confirmation
from scoregate.core.evaluation import Usage
from scoregate.core.events import ErrorInfo, EvaluatorInfo, Origin
from scoregate.core.history import History
from scoregate.core.record import RECORD_VERSION, BaseReference, Conditions, ReusedRun, Run, Script, SuiteResult
from scoregate.errors import RecordError


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHead:
    """A suite without its columns: the fields of `SuiteResult`, how many cases it has, and what they come to.

    Variants are left out: within a run each is a suite of its own.
    """

    id: str
    label: str
    origin: Origin | None = None
    script: str | None = None
    evaluators: Mapping[str, EvaluatorInfo] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    planned: int | None = None
    unfinished: int = 0
    errors: tuple[ErrorInfo, ...] = ()
    reviews: tuple[str, ...] = ()
    complete: bool = False
    assertion_failed: bool = False
    duration_s: float | None = None
    usage: Usage | None = None
    sdk: str | None = None
    skipped: bool = False
    cases: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    means: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """A run without its cases: the fields of `Run`, and the checksum (CRC-32) of the lines in the cases file."""

    schema_version: int
    id: str
    started: float
    finished: float
    version: str
    message: str | None = None
    commit: str | None = None
    branch: str | None = None
    dirty: bool = False
    attempt: int = 1
    complete: bool = False
    cases: int = 0
    crc32: int | None = None
    suites: tuple[SuiteHead, ...] = ()
    scripts: tuple[Script, ...] = ()
    notices: tuple[str, ...] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None
    filters: tuple[str, ...] = ()
    file_filters: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    narrowed: bool = False
    confirmations: tuple[Confirmation, ...] = ()
    compared_with: BaseReference | None = None
    history: History = field(default_factory=History)
    conditions: Conditions | None = None
    reused_from: ReusedRun | None = None


# Far beyond what anybody has; a run that somebody made up must not take all time and memory.
MOST_OF_EACH = 10_000
MOST_EVALUATORS = 20_000
_END_OF_TIME = 1e11
RUN_FIELDS = {each.name for each in fields(Run)} & {each.name for each in fields(RunHead)} - {"suites"}
SUITE_FIELDS = {each.name for each in fields(SuiteResult)} & {each.name for each in fields(SuiteHead)}


def head_of(run: Run, crc32: int | None) -> RunHead:
    """What is written of a run."""
    suites = tuple(map(_suite_head, run.suites))
    shared = {name: getattr(run, name) for name in RUN_FIELDS}
    return RunHead(**shared, suites=suites, cases=sum(suite.cases for suite in suites), crc32=crc32)


def uncounted_head(run: Run) -> RunHead:
    """What is written of a run while it is made: whoever reads it counts the cases that are there."""
    shared = {name: getattr(run, name) for name in RUN_FIELDS}
    suites = (SuiteHead(**{name: getattr(suite, name) for name in SUITE_FIELDS}) for suite in run.suites)
    return RunHead(**{**shared, "complete": False}, suites=tuple(suites))


def _suite_head(suite: SuiteResult) -> SuiteHead:
    return SuiteHead(
        **{name: getattr(suite, name) for name in SUITE_FIELDS},
        cases=len(suite.columns),
        statuses={status.value: suite.columns.count(status) for status in STATUSES},
        means={name: suite.mean(name) for name in suite.evaluators},
    )


def dump_head(head: RunHead) -> bytes:
    """The text of `run.json`; the history, whose numbers nobody reads one by one, stands on one line at its end."""
    text = to_json(head, indent=2, exclude={"history"}, inf_nan_mode="null", serialize_unknown=True)
    if not head.history.runs:
        return text + b"\n"
    return text.removesuffix(b"\n}") + b',\n  "history": ' + to_json(head.history, inf_nan_mode="null") + b"\n}\n"


def read_head(path: Path) -> RunHead:
    """Read `run.json`.

    Raises:
        RecordError: it is missing, damaged or of a newer version.
    """
    try:
        data = from_json(path.read_bytes(), allow_inf_nan=False)
        _check_version(path, data)
        _check_lengths(path, data)
        data, notices = _with_history(data)
        head = TypeAdapter(RunHead).validate_python(data)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _damaged(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    if not (_is_time(head.started) and _is_time(head.finished)):
        raise _damaged(path, "its times are no times")
    return replace(head, notices=(*head.notices, *(f"{path.name}: {notice}" for notice in notices)))


def _with_history(data: Any) -> tuple[Any, tuple[str, ...]]:
    """The data with its history as one, and what is wrong with that."""
    if not isinstance(data, dict):
        return data, ()
    history, notices = read_history(data.get("history"))
    return {**data, "history": history}, notices


def _is_time(seconds: float) -> bool:
    return 0 <= seconds < _END_OF_TIME


def _damaged(path: Path, why: str) -> RecordError:
    return RecordError(f"{path} is damaged: {why}", advice="Make the run anew, or name another.")


def _check_lengths(path: Path, data: object) -> None:
    lists = {name: value for name, value in data.items() if isinstance(value, list)} if isinstance(data, dict) else {}
    for name, value in lists.items():
        if len(value) > MOST_OF_EACH:
            raise _damaged(path, f"it has {len(value):,} {name}, more than {MOST_OF_EACH:,}")
    tables = (suite.get("evaluators") for suite in lists.get("suites", ()) if isinstance(suite, dict))
    if (number := sum(len(table) for table in tables if isinstance(table, dict))) > MOST_EVALUATORS:
        raise _damaged(path, f"its suites have {number:,} evaluators, more than {MOST_EVALUATORS:,}")


def _check_version(path: Path, data: object) -> None:
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > RECORD_VERSION:
        raise RecordError(
            f"{path} is of schema {version}; this scoregate reads up to {RECORD_VERSION}",
            advice="Update scoregate.",
        )
