"""Why a call failed: whether to wait and ask again, and what to tell whoever wanted the answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any

from scoregate.core.backoff import retry_after_s
from scoregate.errors import (
    ContentFiltered,
    MissingKey,
    ModelError,
    ModelGone,
    RateLimited,
    RefusedRequest,
    ScoregateError,
    Unreachable,
)

# https://platform.openai.com/docs/deprecations
_RETIRED = {"gpt-4o": (date(2027, 1, 14), "gpt-6-luna")}


def advice_for(model: str) -> str:
    """What to do where the server does not have this model."""
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


class Kind(Enum):
    """`LIMIT`: the server wants fewer calls. `PASSING`: it may answer the next time. `FINAL`: it never will."""

    LIMIT = "limit"
    PASSING = "passing"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Failure:
    """`after_s`: how long the server wants to be left alone, None where it does not say."""

    kind: Kind
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float | None = None


def diagnose(error: BaseException) -> Failure:
    """What an exception of the openai package means for the next attempt; any other is final."""
    if isinstance(error, ScoregateError):
        return Failure(Kind.FINAL)
    import openai

    if isinstance(error, openai.APIStatusError):
        headers = error.response.headers
        return Failure(_kind(error.status_code, code_of(error), headers), headers, retry_after_s(headers, time.time()))
    return Failure(Kind.PASSING if isinstance(error, openai.APIConnectionError) else Kind.FINAL)


def _kind(status: int, code: str, headers: Mapping[str, str]) -> Kind:
    if code in _QUOTA or headers.get("x-should-retry") == "false":
        return Kind.FINAL
    if status == 429 or (status == 503 and "retry-after" in headers):
        return Kind.LIMIT
    return Kind.PASSING if status in (408, 409) or status >= 500 else Kind.FINAL


def code_of(error: Any) -> str:
    """The server's own word for what is wrong; empty where it has none."""
    body = getattr(error, "body", None)
    inner = body.get("innererror") if isinstance(body, Mapping) else None
    code = getattr(error, "code", None) or (inner.get("code") if isinstance(inner, Mapping) else None)
    return str(code or "")


def explained(error: BaseException, *, provider: str, model: str, keys: tuple[str, ...] = ()) -> BaseException:
    """Our error for an exception of the openai package; any other exception as it is."""
    if isinstance(error, ScoregateError):
        return error
    import openai

    if isinstance(error, openai.APIStatusError):
        kind, advice = _meaning(error, model, keys)
        return kind(f"{provider}/{model}: {_said(error)}", advice=advice)
    if isinstance(error, openai.APIConnectionError):
        cause = f" ({type(error.__cause__).__name__})" if error.__cause__ else ""
        address = error.request.url
        return Unreachable(
            f"{provider}/{model}: no answer from {address.scheme}://{address.netloc.decode()}: {error}{cause}",
            advice="Is the address right, and is the server up? SCOREGATE_MODEL_BASE_URL sets another.",
        )
    return error


def _meaning(error: Any, model: str, keys: tuple[str, ...]) -> tuple[type[ModelError], str]:
    status, code = error.status_code, code_of(error)
    variables = " or ".join(keys)
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
        return ModelGone, advice_for(model)
    if status >= 500:
        return Unreachable, "The server failed several times in a row; try again later."
    return RefusedRequest, "The server will not answer this request as it is; asking again does not help."


def _said(error: Any) -> str:
    return f"the server answered {error.status_code}: {_message(error)[:500]}"


def _message(error: Any) -> str:
    body = error.body
    told = body.get("message") if isinstance(body, Mapping) else body
    return str(told or error.message)


def advise(error: BaseException, *, model: str) -> None:
    """Leave a foreign exception as it is, but with advice that reports show."""
    told = explained(error, provider="", model=model)
    if told is not error and isinstance(told, ModelError):
        error.advice = told.advice  # type: ignore[attr-defined]
