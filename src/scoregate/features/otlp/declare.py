"""The setting `otlp_endpoint`."""

from __future__ import annotations

from urllib.parse import urlsplit

from scoregate.kernel.types.declarations.declaration import ANY_TEXT, Feature, Setting


def _check_address(value: str | None) -> str | None:
    parts = urlsplit(value or "")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address that starts with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must have no user, password or query; headers belong in OTEL_EXPORTER_OTLP_HEADERS")
    return (value or "").rstrip("/")


OTLP_ENDPOINT = Setting[str | None](
    "otlp_endpoint",
    ANY_TEXT,
    None,
    """The address of an OpenTelemetry collector, such as `http://localhost:4318`. Each run's results are sent to it:
    events `gen_ai.evaluation.result` to `/v1/logs`, means and costs to `/v1/metrics`, both over HTTP as JSON.
    """,
    "Reports",
    "address",
    check=_check_address,
    after="check_run",
)
FEATURE = Feature("otlp", settings=(OTLP_ENDPOINT,), is_on=lambda facts: OTLP_ENDPOINT.is_set(facts.settings))
