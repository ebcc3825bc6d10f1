"""Every exception that scoregate raises, with its exit code and its advice."""

from __future__ import annotations

from typing import Any


class ScoregateError(Exception):
    """Base of all our errors.

    Args:
        message: what happened and where the value came from.
        advice: what to do about it; empty where the message says it all.

    `so_far` is what had come of a case before, as plain data, which is kept in the record; None where nothing had.
    """

    exit_code = 4

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.so_far: Any = None

    def __str__(self) -> str:
        return f"{self.message}\n{self.advice}" if self.advice else self.message


class UsageError(ScoregateError):
    """A command line that cannot be carried out."""

    exit_code = 2


class SettingsError(ScoregateError):
    """A setting that is unknown or has a value it may not have."""

    exit_code = 2


class RecordError(ScoregateError):
    """A run on disk that is missing, damaged or of a version we cannot read."""

    exit_code = 2


class RunUnfinished(RecordError):
    """The last run of a folder has not ended, or was stopped before anything was measured."""

    exit_code = 3


class StoreError(ScoregateError):
    """Something in the store that cannot be read, or could not be written."""

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
    """Git is missing, or refused what was asked of it."""

    exit_code = 2


class GitHubRefused(ScoregateError):
    """GitHub did not do what was asked of it.

    Args:
        message: what was asked, and the answer. status: of the answer; None where none came.
    """

    exit_code = 3

    def __init__(self, message: str, *, advice: str = "", status: int | None = None) -> None:
        super().__init__(message, advice=advice)
        self.status = status


class InvalidEvent(ScoregateError):
    """A line of an event log that is not an event.

    Args:
        message: what is wrong with it. optional: the line says that a reader that doesn't know it may skip it.
    """

    exit_code = 3

    def __init__(self, message: str, *, advice: str = "", optional: bool = False) -> None:
        super().__init__(message, advice=advice)
        self.optional = optional


class ImportFailed(ScoregateError):
    """A result file of another framework that is missing, old, damaged, or of another format."""

    exit_code = 3


class InstallError(ScoregateError):
    """The environment that the suites need cannot be made."""

    exit_code = 3


class InvalidSuite(ScoregateError):
    """A test suite whose definition cannot be run as it stands."""

    exit_code = 3


class NotRecordable(ScoregateError, ValueError):
    """A test case, an output or metadata that has no JSON form, so that no record can hold it."""

    exit_code = 3

    def __init__(self, what: str, why: ValueError) -> None:
        advice = "Use plain data, dataclasses or pydantic models, or a method `serialize` that returns such."
        super().__init__(f"{what} cannot be recorded as JSON: {why}", advice=advice)


class MediaError(ScoregateError, ValueError):
    """An image or audio that can't be used: of no known type, too large, cut off, or not readable."""

    exit_code = 3


class SuiteFailed(ScoregateError, AssertionError):
    """Raised by `run_test_suite(..., assert_test=True)` when a case fails or errs."""

    exit_code = 1


class JudgmentError(ScoregateError):
    """Base of what goes wrong with datasets, judges, test configs and their runs."""

    exit_code = 2


class JudgmentAPIError(JudgmentError):
    """Base of what Judgment's platform would refuse. A failed test is none of these."""


class JudgmentValidationError(JudgmentAPIError):
    """What was given does not fit: an unknown or incompatible judge, a row that breaks its schema, no rows."""


class InvalidDataset(JudgmentError, ValueError):
    """A dataset's name, schema or version that cannot be one."""


class JudgmentConflictError(JudgmentAPIError):
    """There is one of this name already."""


class JudgmentTestError(JudgmentError, AssertionError):
    """Raised by `run(..., assert_test=True)` when a row fails, errs, or there is none."""

    exit_code = 1


class EntityError(ScoregateError, ValueError):
    """A test, a test set or what belongs to them that is missing something, is not there, or is there twice."""

    exit_code = 2


class MetricError(ScoregateError, ValueError):
    """A metric that cannot be made of what was given, or cannot judge what it was given."""

    exit_code = 2


class InvalidTests(EntityError):
    """A file of tests that cannot be read as such."""


class SourceError(ScoregateError, ValueError):
    """A source that tests were to be generated from, and that cannot be read."""

    exit_code = 2


class SynthesisError(ScoregateError, ValueError):
    """A model was asked for tests, and not one came of it."""

    exit_code = 3


class EndpointError(ScoregateError):
    """What is under test gave no reply that can be judged; never a score.

    Args:
        message: what was sent where, and what came of it. kind: what went wrong, such as `http_error`.
        status: the HTTP status of the answer; None if no answer came.
    """

    exit_code = 3

    def __init__(
        self, message: str, *, advice: str = "", kind: str = "unexpected_error", status: int | None = None
    ) -> None:
        super().__init__(message, advice=advice)
        self.kind = kind
        self.status = status


class AgentError(ScoregateError):
    """An agent that can't run, failed, or exceeded a limit; `trajectory` has its steps until then."""

    trajectory: Any = None


class McpServerError(AgentError):
    """An MCP server that can't be reached, or that answers with something that can't be judged.

    Args:
        message: the server, and what happened. kind: what went wrong, as of an `EndpointError`.
    """

    exit_code = 3

    def __init__(self, message: str, *, advice: str = "", kind: str = "unexpected_error") -> None:
        super().__init__(message, advice=advice)
        self.kind = kind


class SkillError(ScoregateError):
    """The cases of a skill, or of other files for agents, can't be read."""

    exit_code = 3


class OtlpError(ScoregateError):
    """Data that is no OTLP, or too large.

    Args:
        message: what is wrong.
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
    """A model gave no answer that can be used; never a score."""

    exit_code = 3


class MissingKey(ModelError):
    """No key for a provider, or one that it does not take."""


class ModelGone(ModelError):
    """The server has no such model, or has it no longer."""


class RefusedSchema(ModelError):
    """The server takes no way of asking for a structured answer."""


class RefusedRequest(ModelError):
    """The server will not answer this request, however often it is asked."""


class ContentFiltered(ModelError):
    """A content filter stopped the question or the answer, or the model refused to answer."""


class MalformedAnswer(ModelError):
    """The answer was cut off, empty, or not what the schema asks for."""


class RateLimited(ModelError):
    """The server still refuses after all the waiting that we do, or says that the quota is used up."""


class Unreachable(ModelError):
    """The server did not answer: a time-out, a broken connection, an error of its own."""


class BudgetSpent(ModelError):
    """The run's budget of dollars or tokens is spent; no further call is made."""
