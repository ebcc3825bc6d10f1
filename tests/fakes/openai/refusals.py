"""Parameters that a compatible server refuses, with its messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.github.exchange import Answer

# The features that can be switched off, and how a request is known to use each.
FEATURES = {
    "json_schema": lambda body: _form(body) == "json_schema",
    "json_object": lambda body: _form(body) == "json_object",
    "tools": lambda body: bool(body.get("tools")),
    "temperature": lambda body: body.get("temperature") not in (None, 1),
    "max_tokens": lambda body: "max_tokens" in body,
    "n": lambda body: (body.get("n") or 1) > 1,
    "images": lambda body: '"type": "image_url"' in json.dumps(body.get("messages")),
}
_MESSAGES = {
    "json_schema": ("response_format", "This model does not support response_format of type 'json_schema'."),
    "json_object": ("response_format", "This model does not support response_format of type 'json_object'."),
    "tools": ("tools", "This model does not support tools."),
    "temperature": (
        "temperature",
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
    ),
    "max_tokens": (
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "n": ("n", "This model does not support n greater than 1."),
    "images": ("messages.[1].content.[1].type", "Invalid content type. image_url is only supported by certain models."),
}


def _form(body: Mapping[str, Any]) -> str | None:
    form = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    kind = form.get("type")
    return None if kind is None else str(kind)


def error(message: str, *, status: int, code: str | None = None, param: str | None = None, kind: str = "") -> Answer:
    """An error as OpenAI writes it."""
    details = {"message": message, "type": kind or "invalid_request_error", "param": param, "code": code}
    return Answer({"error": details}, status)


def unsupported(feature: str) -> Answer:
    param, message = _MESSAGES[feature]
    return error(message, status=400, code="unsupported_value", param=param)


def no_model(name: str) -> Answer:
    message = f"The model `{name}` does not exist or you do not have access to it."
    return error(message, status=404, code="model_not_found")


def no_key() -> Answer:
    return error("Incorrect API key provided.", status=401, code="invalid_api_key")


def too_many() -> Answer:
    message = "Rate limit reached for requests per min (RPM). Please try again later."
    return error(message, status=429, code="rate_limit_exceeded", kind="requests")


def filtered() -> Answer:
    message = "The response was filtered due to the prompt triggering the content management policy."
    return error(message, status=400, code="content_filter")
