"""Failures of model calls: whether a retry may help, and errors with advice for the user."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any

from scoregate.errors import (
    BudgetSpent,
    ContentFiltered,
    MissingKey,
    ModelError,
    ModelGone,
    RateLimited,
    RefusedRequest,
    ScoregateError,
    Unreachable,
)
from scoregate.kernel.types.backoff import retry_after_s
from scoregate.models.calls import parse_object

# https://platform.openai.com/docs/deprecations
_RETIRED = {"gpt-4o": (date(2027, 1, 14), "gpt-6-luna")}


def model_advice(model: str) -> str:
    """Advice for a model that the server does not offer."""
    if model in _RETIRED:
        day, successor = _RETIRED[model]
        return (
            f"OpenAI retires {model} on {day.isoformat()} and names {successor} as its successor. "
            f'Set the project\'s model: model = "{successor}" in the settings, or SCOREGATE_MODEL={successor}.'
        )
    return 'Set the project\'s model: `model` in the settings or SCOREGATE_MODEL, as "provider/name".'


_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FILTERS = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
_NO_MODEL = {"model_not_found", "model_decommissioned", "DeploymentNotFound"}


class FailureKind(Enum):
    """`LIMIT`: a rate limit. `TRANSIENT`: a retry may succeed. `FINAL`: a retry can't succeed."""

    LIMIT = "limit"
    TRANSIENT = "transient"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt; `after_s` is the delay in seconds that the server asks for, None if it names none."""

    kind: FailureKind
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float | None = None


def classify_failure(error: BaseException) -> Failure:
    """Classify an exception of the openai package for the next attempt; any other exception is final."""
    if isinstance(error, ScoregateError):
        return Failure(FailureKind.FINAL)
    import openai

    if not isinstance(error, openai.APIStatusError):
        return Failure(FailureKind.TRANSIENT if isinstance(error, openai.APIConnectionError) else FailureKind.FINAL)
    return _classify_status(error.status_code, error.response.headers, error_code(error))


def classify_answer(status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """Classify an answer with an error for the next attempt.

    Args:
        status: the status of the answer, from 400 on.
        headers: its headers, with names in lower case.
        body: its body.
    """
    error = parse_object(body).get("error")
    code = error.get("code") or error.get("type") if isinstance(error, Mapping) else None
    return _classify_status(status, headers, str(code or ""))


def _classify_status(status: int, headers: Mapping[str, str], code: str) -> Failure:
    if code in _QUOTA or headers.get("x-should-retry") == "false":
        kind = FailureKind.FINAL
    # An overloaded server asks for a pause as a rate limit does.
    elif status == 429 or (status == 503 and "retry-after" in headers):
        kind = FailureKind.LIMIT
    else:
        kind = FailureKind.TRANSIENT if status in (408, 409) or status >= 500 else FailureKind.FINAL
    return Failure(kind, headers, retry_after_s(headers, time.time()))


def is_filtered(body: bytes) -> bool:
    """Whether an error says that the provider's content filter stopped the call, which is an answer of its own."""
    error = parse_object(body).get("error")
    if not isinstance(error, Mapping):
        return False
    inner = error.get("innererror")
    codes = (error.get("code"), error.get("type"), inner.get("code") if isinstance(inner, Mapping) else None)
    return any(isinstance(code, str) and code in _FILTERS for code in codes)


def error_code(error: Any) -> str:
    """The server's code of an error; empty if it has none."""
    body = getattr(error, "body", None)
    inner = body.get("innererror") if isinstance(body, Mapping) else None
    code = getattr(error, "code", None) or (inner.get("code") if isinstance(inner, Mapping) else None)
    return str(code or "")


def convert_error(error: BaseException, *, provider: str, model: str, keys: tuple[str, ...] = ()) -> BaseException:
    """Convert an exception of the openai package to an error of scoregate; return any other exception unchanged.

    Args:
        error: the exception.
        provider: the name of the provider, for the message.
        model: the name of the model, for the message.
        keys: the variables that may contain the API key, for the advice.
    """
    if isinstance(error, ScoregateError):
        return error
    import openai

    if isinstance(error, openai.APIStatusError):
        error_type, advice = _error_type_and_advice(error, model, keys)
        body = error.body
        message = str((body.get("message") if isinstance(body, Mapping) else body) or error.message)
        text = f"{provider}/{model}: the server answered {error.status_code}: {message[:500]}"
        return error_type(text, advice=advice)
    if isinstance(error, openai.APIConnectionError):
        cause = f" ({type(error.__cause__).__name__})" if error.__cause__ else ""
        address = error.request.url
        return Unreachable(
            f"{provider}/{model}: no answer from {address.scheme}://{address.netloc.decode()}: {error}{cause}",
            advice="Is the address right, and is the server up? SCOREGATE_MODEL_BASE_URL sets another.",
        )
    return error


_FAILED_ADVICE = "The server failed several times in a row; try again later."
_REFUSED_ADVICE = "The server will not answer this request as it is; asking again does not help."
_GATEWAY_ADVICE = (
    "The gateway of this run refused the call; its message names the reason.",
    "Raise the limit (--max-cost, --max-tokens), or run fewer cases (--max-cases).",
)


def _error_type_and_advice(error: Any, model: str, keys: tuple[str, ...]) -> tuple[type[ModelError], str]:
    status, code = error.status_code, error_code(error)
    variables = " or ".join(keys)
    if (refusal := error.response.headers.get("x-scoregate-error")) is not None:
        is_spent = refusal == "budget_spent"
        return (BudgetSpent if is_spent else RefusedRequest), _GATEWAY_ADVICE[is_spent]
    if status in (401, 403):
        return MissingKey, f"The key in {variables or 'use'} is wrong, or may not use this model."
    if status == 429:
        return RateLimited, (
            "The account's quota is used up: look at the provider's page for billing."
            if code in _QUOTA
            else "Lower max_concurrency, or ask the provider for a higher limit."
        )
    if code in _FILTERS:
        return ContentFiltered, "The provider's content filter stopped it: change the case, or use another model."
    if code in _NO_MODEL or status in (404, 410):
        return ModelGone, model_advice(model)
    is_down = status >= 500
    return (Unreachable, _FAILED_ADVICE) if is_down else (RefusedRequest, _REFUSED_ADVICE)


def add_advice(error: BaseException, *, model: str) -> None:
    """Add advice for reports to an exception of the openai package."""
    converted = convert_error(error, provider="", model=model)
    if converted is not error and isinstance(converted, ModelError):
        error.advice = converted.advice  # type: ignore[attr-defined]
