"""Spans that a program sends over OTLP, within limits; what is lost is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from scoregate.errors import MissingExtra, OtlpError
from scoregate.kernel.types.trajectories.otlp import (
    JSON,
    MOST_BYTES,
    PROTOBUF,
    OtlpSpan,
    parse_json,
    parse_protobuf,
    unpack,
)

MOST_REQUEST_BYTES = 16 * 1024 * 1024
MOST_SPANS = 5_000
TRACES, OTHER_SIGNALS = "/v1/traces", ("/v1/metrics", "/v1/logs")
_MOST_REASONS = 20


# How the kinds of losses begin, and the same for one of them; the longer beginnings come first.
_SINGULARS = {
    "spans that name": "span that names",
    "spans": "span",
    "other requests": "other request",
    "requests": "request",
    "attributes": "attribute",
    "trajectories": "trajectory",
}


class SpanBuffer:
    """The spans of one program or trial.

    Args:
        most_spans: the most spans that are kept.
        most_bytes: the most bytes of all requests together, unpacked.
        keep: gets the spans of each request; by default, they are in `spans`.

    Attributes:
        spans: the spans in the order of their arrival, without `keep`.
        losses: what is missing, with the number of times.
    """

    def __init__(
        self,
        most_spans: int = MOST_SPANS,
        most_bytes: int = MOST_BYTES,
        keep: Callable[[list[OtlpSpan]], None] | None = None,
    ) -> None:
        self.spans: list[OtlpSpan] = []
        self.losses: Counter[str] = Counter()
        self._spans_left, self._bytes_left = most_spans, most_bytes
        self._most_spans = most_spans
        self._keep = keep or self.spans.extend

    def add_request(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Add the spans of one export request.

        Args:
            body: the body.
            headers: the headers, with names in lower case.

        Raises:
            OtlpError: the request is not valid, too large, or of a type that can't be read. It is counted as lost.
        """
        try:
            spans = self._read(body, headers)
        except OtlpError as error:
            self.refuse(error)
            raise
        kept = spans[: self._spans_left]
        self._spans_left -= len(kept)
        self._keep(kept)
        if lost := len(spans) - len(kept):
            self.losses[f"spans over the limit of {self._most_spans:,}"] += lost
        if dropped := sum(each.dropped for each in kept):
            self.losses["attributes of spans with too many of them"] += dropped

    def refuse(self, error: OtlpError) -> None:
        """Count a request that is not read."""
        reason = f"requests refused: {error.message:.200}"
        self.losses[reason if reason in self.losses or len(self.losses) < _MOST_REASONS else "other requests"] += 1

    def _read(self, body: bytes, headers: Mapping[str, str]) -> list[OtlpSpan]:
        encoding = headers.get("content-encoding", "").strip().lower()
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if encoding not in ("", "identity", "gzip"):
            raise OtlpError(f"its encoding {encoding!r:.40} is unknown; gzip is known", status=415)
        if kind not in (JSON, PROTOBUF):
            raise OtlpError(f"its type must be {JSON} or {PROTOBUF}, not {kind!r:.60}", status=415)
        content = unpack(body, self._bytes_left)
        self._bytes_left -= len(content)
        try:
            return parse_json(content) if kind == JSON else parse_protobuf(content)
        except MissingExtra as error:
            raise OtlpError(f"{error.message}. {error.advice}", status=415) from None

    def describe_losses(self) -> str:
        """What is missing in words; empty if nothing is."""
        return "; ".join(_describe_loss(kind, count) for kind, count in self.losses.items())


def _describe_loss(kind: str, count: int) -> str:
    plural = next((each for each in _SINGULARS if kind.startswith(each)), "") if count == 1 else ""
    return f"{count:,} {_SINGULARS.get(plural, '')}{kind.removeprefix(plural)}"
