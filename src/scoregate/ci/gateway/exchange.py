"""A question of a suite at the gateway, and the way back to its client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_core import to_json

from scoregate.ci.gateway.answers import Send
from scoregate.ci.gateway.cassettes import RECORDED_HEADERS, RecordedCall, encode_body
from scoregate.ci.gateway.questions import Question
from scoregate.ci.gateway.sessions import SuiteSession
from scoregate.ci.gateway.state import GatewayState
from scoregate.core.evaluation import Usage

MAX_RECORDED_BYTES = 32 * 1024 * 1024


@dataclass(slots=True)
class Exchange:
    """A question, and where its answer goes.

    Attributes:
        state: what calls share.
        session: the suite that asks.
        question: the question.
        headers: the headers of the request.
        send: sends a message to the client, as in ASGI.
        number: how often the trial asked the same before.
    """

    state: GatewayState
    session: SuiteSession
    question: Question
    headers: Mapping[str, str]
    send: Send
    number: int = 0

    def count_usage(self, usage: Usage) -> None:
        """Count the usage for the case and evaluator, unless the client does."""
        if not self.question.is_counted:
            self.session.add_usage(self.question.origin, usage)

    def request_text(self) -> str:
        """The body of the request for a cassette: sorted, without secrets, and bounded."""
        data = self.question.data
        if data is None:
            return ""
        return self.state.redact(to_json(dict(sorted(data.items()))).decode("utf-8", "replace"))[:MAX_RECORDED_BYTES]

    def record(self, status: int, headers: Mapping[str, str], body: bytes, chunks: tuple[int, ...]) -> None:
        """Record an answer in the cassette of the suite."""
        writer, question = self.state.writer, self.question
        if writer is None:
            return
        if len(body) > MAX_RECORDED_BYTES:
            self.session.report_problem(f"an answer of {question.model} is too large to record")
            return
        kept = {name: value for name, value in headers.items() if name in RECORDED_HEADERS}
        try:
            safe = self.state.redact(body.decode()).encode()
        except UnicodeDecodeError:
            safe = body
        if len(safe) != len(body):
            chunks = (len(safe),) if chunks else ()
        call = RecordedCall(
            question.digest,
            self.session.suite,
            question.origin.trial,
            self.number,
            question.provider.name,
            question.path,
            question.model,
            self.request_text(),
            status,
            kept,
            *encode_body(safe),
            chunks,
        )
        writer.add(call)
