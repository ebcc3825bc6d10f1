"""Send the results of a run to an OpenTelemetry collector, over OTLP/HTTP in JSON.

Each score is an event `gen_ai.evaluation.result`; means, pass rates and costs are metrics. The attributes are those of
OpenTelemetry's conventions for generative AI, tests and pipelines, and `scoregate.*` for what these don't have.
The protocol is stable and small, unlike the SDK's classes for logs, so that no package is needed.

Source: opentelemetry.io/docs/specs/otlp, github.com/open-telemetry/semantic-conventions-genai
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import anyio

from scoregate import __version__
from scoregate.features.otlp.declare import OTLP_ENDPOINT
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.settings import Settings, ShowOutputs
from scoregate.kernel.types.backoff import backoff_s
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_means import average_scores, count_evaluator_passes
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.text import replace_surrogates

if TYPE_CHECKING:
    import httpx

    from scoregate.kernel.report.view import ReportView

HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"
_BATCH = 500
_LIMIT_S, _REQUEST_S = 120.0, 15.0
_MOST_TRIES = 3
_RETRIED = (429, 502, 503, 504)
_LONGEST_NAME, _LONGEST_TEXT = 200, 1_000
_INFO = 9
_ANSWER_BYTES = 64 << 10


def parse_headers(text: str) -> dict[str, str]:
    """The headers in OpenTelemetry's variable: `name=value` with commas, values with escapes such as %20."""
    pairs = (each.partition("=") for each in text.split(","))
    return {name.strip(): unquote(value.strip()) for name, equals, value in pairs if equals and name.strip()}


@record
class OtlpTarget:
    """The OpenTelemetry collector that results are sent to: its address, and the headers of requests."""

    endpoint: str
    headers: Mapping[str, str] = field(repr=False)
    with_explanations: bool


def make_target(settings: Settings, endpoint: str, environ: Mapping[str, str]) -> OtlpTarget:
    """The collector at an address."""
    # A change could name another address in a file, and get the headers of the real one.
    is_trusted = not settings.is_from_file(OTLP_ENDPOINT.name)
    headers = parse_headers(environ.get(HEADERS_VARIABLE, "")) if is_trusted else {}
    return OtlpTarget(endpoint, headers, settings.show_outputs is ShowOutputs.FULL)


async def publish_to_collector(otlp: OtlpTarget, view: ReportView, target: PublishTarget) -> Delivery:
    """Send the results; what a collector refuses is a warning, and the verdict doesn't depend on it."""
    import httpx

    sender = _Sender(target, otlp)
    try:
        with anyio.fail_after(_LIMIT_S):
            async with httpx.AsyncClient(timeout=_REQUEST_S, follow_redirects=False) as client:
                await sender.send(client, view)
    except TimeoutError:
        return Delivery(warnings=(f"{otlp.endpoint}: results were not sent within {_LIMIT_S:.0f} s",))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
        # A message could repeat a header.
        return Delivery(warnings=(f"{otlp.endpoint}: results could not be sent: {type(error).__name__}",))
    return Delivery(warnings=tuple(sender.warnings))


class _Sender:
    def __init__(self, target: PublishTarget, otlp: OtlpTarget) -> None:
        self._target, self._otlp = target, otlp
        self.warnings: list[str] = []

    async def send(self, client: httpx.AsyncClient, view: ReportView) -> None:
        resource = {"attributes": _make_attributes(_describe_resource(view, self._target))}
        events = make_events(view, with_explanations=self._otlp.with_explanations)
        while batch := list(islice(events, _BATCH)):
            logs = {"resource": resource, "scopeLogs": [{"scope": _SCOPE, "logRecords": batch}]}
            if not await self._post(client, "/v1/logs", {"resourceLogs": [logs]}, "rejectedLogRecords"):
                return
        metrics = {"resource": resource, "scopeMetrics": [{"scope": _SCOPE, "metrics": list(make_metrics(view))}]}
        await self._post(client, "/v1/metrics", {"resourceMetrics": [metrics]}, "rejectedDataPoints")

    async def _post(self, client: httpx.AsyncClient, path: str, body: Mapping[str, Any], rejected: str) -> bool:
        """Send a request, again if the collector is busy; False with a warning if it refuses."""
        content = gzip.compress(self._target.redact(json.dumps(body)).encode("utf-8", "replace"), 1)
        headers = {**self._otlp.headers, "Content-Type": "application/json", "Content-Encoding": "gzip"}
        headers["User-Agent"] = f"scoregate/{__version__}"
        url = f"{self._otlp.endpoint}{path}"
        for number in range(1, _MOST_TRIES + 1):
            response = await client.post(url, content=content, headers=headers)
            if response.status_code not in _RETRIED or number == _MOST_TRIES:
                break
            await anyio.sleep(_pause_s(response, number))
        if not response.is_success:
            self.warnings.append(f"{url} answered {response.status_code}: results of this run are not there")
            return False
        if number := _count_rejected(response, rejected):
            self.warnings.append(f"{url} rejected {number:,} of the results")
        return True


def _pause_s(response: httpx.Response, number: int) -> float:
    header = response.headers.get("retry-after", "")
    # The header may also be a date.
    return min(float(header), 30.0) if header.isascii() and header.isdigit() else backoff_s(number, first_s=0.5)


def _count_rejected(response: httpx.Response, name: str) -> int:
    """How many results the collector did not take, as it answers in `partialSuccess`."""
    try:
        answer = json.loads(response.content[:_ANSWER_BYTES] or b"{}")
        return int(answer["partialSuccess"].get(name, 0))
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0


_SCOPE = {"name": "scoregate", "version": __version__}


def _describe_resource(view: ReportView, target: PublishTarget) -> dict[str, Any]:
    github = target.connection.github if target.connection else None
    return {
        "service.name": "scoregate",
        "service.version": __version__,
        "scoregate.run.id": view.run.id,
        "vcs.ref.head.revision": view.run.commit,
        "vcs.ref.head.name": view.run.branch,
        "vcs.repository.url.full": github.repository_url if github else None,
        "cicd.pipeline.run.id": str(github.run_id) if github else None,
        "cicd.pipeline.run.url.full": github.run_url if github else None,
    }


def _make_attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP has them in JSON; None is left out."""
    return [{"key": name, "value": _make_value(value)} for name, value in values.items() if value is not None]


def _make_value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # JSON of protobuf writes numbers of 64 bits as texts
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": replace_surrogates(str(value))}


def make_events(view: ReportView, *, with_explanations: bool = True) -> Iterator[dict[str, Any]]:
    """Yield an event for each score, label and error of an evaluator.

    Args:
        view: the run.
        with_explanations: whether reasons are sent, which may repeat outputs.
    """
    time_ns = _to_nanoseconds(view.run.finished)
    suites = [_cut(suite.label) for suite in view.paired_suites]
    for case in view.trials.read():
        case_fields = {
            "test.suite.name": suites[case.suite],
            "test.case.name": _cut(case.name or case.hash),
            "scoregate.case.hash": _cut(case.hash),
            "scoregate.case.repeat": case.repeat,
        }
        for own in _make_results(case, with_explanations=with_explanations):
            # Collectors that don't know the field `eventName` yet look for the attribute.
            fields = {"event.name": _EVENT, **own, **case_fields}
            yield {
                "timeUnixNano": time_ns,
                "observedTimeUnixNano": time_ns,
                "severityNumber": _INFO,
                "eventName": _EVENT,
                "attributes": _make_attributes(fields),
            }


_EVENT = "gen_ai.evaluation.result"


def _make_results(case: CaseResult, *, with_explanations: bool) -> Iterator[dict[str, Any]]:
    reasons = case.reasons if with_explanations else {}
    labels = {True: "pass", False: "fail", None: None}
    for name, evaluation in case.evaluations.items():
        usage = evaluation.usage
        yield {
            "gen_ai.evaluation.name": _cut(name),
            "gen_ai.evaluation.score.value": float(evaluation.score),
            "gen_ai.evaluation.score.label": labels[evaluation.passed],
            "gen_ai.evaluation.explanation": _cut(reasons[name], _LONGEST_TEXT) if name in reasons else None,
            "scoregate.evaluation.cost": usage.cost if usage is not None else None,
        }
    for name, label in case.labels.items():
        yield {"gen_ai.evaluation.name": _cut(name), "gen_ai.evaluation.score.label": _cut(label.label)}
    for error in case.errors:
        if error.evaluator is not None:
            yield {"gen_ai.evaluation.name": _cut(error.evaluator), "error.type": _cut(error.error.type)}


def make_metrics(view: ReportView) -> Iterator[dict[str, Any]]:
    """Yield the metrics of a run: gauges for each suite, and for each evaluator of a suite."""
    time_ns = _to_nanoseconds(view.run.finished)
    means, rates, cases, costs = (list[dict[str, Any]]() for _ in range(4))
    for suite in view.paired_suites:
        suite_fields, columns = {"test.suite.name": _cut(suite.label)}, suite.now
        for name in columns.scores:
            own = {**suite_fields, "gen_ai.evaluation.name": _cut(name)}
            if (mean := average_scores(columns, name)) is not None:
                means.append(_make_point(mean, own, time_ns))
            if (rate := count_evaluator_passes(columns, name).rate) is not None:
                rates.append(_make_point(rate, own, time_ns))
        for status in Status:
            cases.append(
                _make_point(columns.count(status), {**suite_fields, "scoregate.case.status": status.value}, time_ns)
            )
        known = [cost for cost in columns.costs if isfinite(cost)]
        costs += [_make_point(sum(known), suite_fields, time_ns)] if known else []
    yield from _make_gauge("scoregate.evaluation.score", "1", "The mean score of a scorer.", means)
    yield from _make_gauge("scoregate.evaluation.pass_rate", "1", "The share of scores that pass.", rates)
    yield from _make_gauge("scoregate.cases", "{trial}", "The number of trials, by status.", cases)
    yield from _make_gauge("scoregate.cost", "USD", "What model calls cost.", costs)


def _make_gauge(name: str, unit: str, description: str, points: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if points:
        yield {"name": name, "unit": unit, "description": description, "gauge": {"dataPoints": points}}


def _make_point(value: float, attributes: Mapping[str, Any], time_ns: str) -> dict[str, Any]:
    return {"timeUnixNano": time_ns, "asDouble": float(value), "attributes": _make_attributes(attributes)}


def _to_nanoseconds(seconds: float) -> str:
    return str(int(seconds * 1e6) * 1_000)  # a float has no nanoseconds of today


def _cut(text: str, limit: int = _LONGEST_NAME) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
