"""Every exception that scoregate raises, with its exit code and its advice."""

from __future__ import annotations

import errno
from typing import Any


class ScoregateError(Exception):
    """Base of all errors of scoregate.

    Args:
        message: what happened and where the value came from.
        advice: what to do about it; empty if the message makes it clear.

    Attributes:
        partial_output: the output of a case before the error, as plain data. The record keeps it. None without one.
    """

    exit_code = 4

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.partial_output: Any = None

    def __str__(self) -> str:
        return f"{self.message}\n{self.advice}" if self.advice else self.message


class UsageError(ScoregateError):
    """A command line that cannot be carried out."""

    exit_code = 2


class SettingsError(ScoregateError):
    """A setting that is unknown, or whose value is not valid."""

    exit_code = 2


class RecordError(ScoregateError):
    """A run on disk that is missing, damaged, or of a version that this scoregate can't read."""

    exit_code = 2


class DiskFull(RecordError):
    """A disk has no space for what scoregate has to write."""

    @staticmethod
    def is_cause(error: BaseException) -> bool:
        """Whether a full disk or quota caused an error of the system or of SQLite."""
        if isinstance(error, OSError):
            return error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
        return getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"


class RunUnfinished(RecordError):
    """The last run of a folder has not ended, or was stopped before it measured anything."""

    exit_code = 3


class StoreError(ScoregateError):
    """A file of the store that can't be read or written."""

    exit_code = 2


class ReadOnlyStore(StoreError):
    """The store can be read here, but nothing can be written to it."""


class HistoryError(ScoregateError):
    """A history of runs that cannot be opened, read or written."""

    exit_code = 2


class RunRefused(ScoregateError):
    """A run that was not started, because it would exceed a limit."""

    exit_code = 3


class GitError(ScoregateError):
    """Git is missing, or a command of git failed."""

    exit_code = 2


class GitHubRefused(ScoregateError):
    """GitHub's API refused a request, or did not answer it.

    Args:
        message: the request and the answer.
        advice: what to do about it.
        status: the HTTP status of the answer; None without an answer.
    """

    exit_code = 3

    def __init__(self, message: str, *, advice: str = "", status: int | None = None) -> None:
        super().__init__(message, advice=advice)
        self.status = status


class InvalidEvent(ScoregateError):
    """A line of an event log that is not an event.

    Args:
        message: what is wrong with it.
        advice: what to do about it.
        optional: whether the line says that a reader that doesn't know the event may skip it.
    """

    exit_code = 3

    def __init__(self, message: str, *, advice: str = "", optional: bool = False) -> None:
        super().__init__(message, advice=advice)
        self.optional = optional


class ImportFailed(ScoregateError):
    """A result file of another framework that is missing, old, damaged, or of another format."""

    exit_code = 3


class InstallError(ScoregateError):
    """The environment of the suites can't be created."""

    exit_code = 3


class InvalidSuite(ScoregateError):
    """A suite whose definition is not valid, so it can't be run."""

    exit_code = 3


class NotRecordable(ScoregateError, ValueError):
    """A test case, an output or metadata that has no JSON form, so it can't be recorded."""

    exit_code = 3

    def __init__(self, what: str, why: ValueError) -> None:
        advice = "Use plain data, dataclasses or pydantic models, or a method `serialize` that returns such."
        super().__init__(f"{what} cannot be recorded as JSON: {why}", advice=advice)


class MediaError(ScoregateError, ValueError):
    """An image or audio that can't be used: of no known type, too large, cut off, or not readable."""

    exit_code = 3


class SuiteFailed(ScoregateError, AssertionError):
    """Raised by `evaluate` and `run_test_suite` with `assert_test=True` if a case fails or has an error."""

    exit_code = 1


class JudgmentError(ScoregateError):
    """Base of the errors of datasets, judges, test configs and their runs."""

    exit_code = 2


class JudgmentAPIError(JudgmentError):
    """Base of the errors that Judgment's platform reports for a request. A failed test is not one of them."""


class JudgmentValidationError(JudgmentAPIError):
    """An argument is not valid: an unknown or incompatible judge, a row that does not fit the schema, no rows."""


class InvalidDataset(JudgmentError, ValueError):
    """The name, schema or version of a dataset is not valid."""


class JudgmentConflictError(JudgmentAPIError):
    """The name is in use already."""


class JudgmentTestError(JudgmentError, AssertionError):
    """Raised by `run(..., assert_test=True)` if a row fails or has an error, or if there is no row."""

    exit_code = 1


class EntityError(ScoregateError, ValueError):
    """A test set, a test or another entity is incomplete, does not exist, or has the same name as another one."""

    exit_code = 2


class MetricError(ScoregateError, ValueError):
    """The definition of a metric is not valid, or the metric can't judge its input."""

    exit_code = 2


class InvalidTests(EntityError):
    """A file of tests that can't be read, or in which a test is not valid."""


class SourceError(ScoregateError, ValueError):
    """A source for generated tests that can't be read."""

    exit_code = 2


class SynthesisError(ScoregateError, ValueError):
    """A model generated no valid test."""

    exit_code = 3


class EndpointError(ScoregateError):
    """The application under test gave no answer that can be judged. It is an error of the case and never a score.

    Args:
        message: the request, and what happened.
        advice: what to do about it.
        kind: the kind of failure, such as `http_error`.
        status: the HTTP status of the answer; None without an answer.
    """

    exit_code = 3

    def __init__(
        self, message: str, *, advice: str = "", kind: str = "unexpected_error", status: int | None = None
    ) -> None:
        super().__init__(message, advice=advice)
        self.kind = kind
        self.status = status


class AgentError(ScoregateError):
    """An agent that can't run, failed, or exceeded a limit.

    Attributes:
        trajectory: its steps until then; None without any.
    """

    trajectory: Any = None


class McpServerError(AgentError):
    """An MCP server that can't be reached, or that answers with something that can't be judged.

    Args:
        message: the server, and what happened.
        advice: what to do about it.
        kind: the kind of failure, as of an `EndpointError`.
    """

    exit_code = 3

    def __init__(self, message: str, *, advice: str = "", kind: str = "unexpected_error") -> None:
        super().__init__(message, advice=advice)
        self.kind = kind


class SkillError(ScoregateError):
    """The cases of a skill, or of other files for agents, can't be read."""

    exit_code = 3


class OtlpError(ScoregateError):
    """Data that is not OTLP, or too large.

    Args:
        message: what is wrong.
        advice: what to do about it.
        status: the HTTP status that answers a request with this body.
    """

    exit_code = 2

    def __init__(self, message: str, *, advice: str = "", status: int = 400) -> None:
        super().__init__(message, advice=advice)
        self.status = status


class MissingExtra(ScoregateError):
    """A package that this needs is not installed."""

    exit_code = 2


class ModelError(ScoregateError):
    """A model gave no usable answer. It is an error and never a score."""

    exit_code = 3


class MissingKey(ModelError):
    """There is no key for a provider, or the provider refused it."""


class ModelGone(ModelError):
    """The server has no such model, or has it no longer."""


class RefusedSchema(ModelError):
    """The server supports no form of structured answers."""


class RefusedRequest(ModelError):
    """The server refused this request; a retry would not help."""


class ContentFiltered(ModelError):
    """A content filter stopped the question or the answer, or the model refused to answer."""


class MalformedAnswer(ModelError):
    """The answer was cut off, empty, or does not fit the schema."""


class RateLimited(ModelError):
    """The server still refuses after the longest wait, or reports that the quota is used up."""


class Unreachable(ModelError):
    """The server did not answer: a time-out, a broken connection, or a server error."""


class BudgetSpent(ModelError):
    """The run's budget of dollars or tokens is spent; no further call is made."""
