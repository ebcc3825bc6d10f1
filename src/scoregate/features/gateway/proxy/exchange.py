"""A question of a suite at the gateway, and the way back to its client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice

from pydantic_core import to_json

from scoregate.features.gateway.proxy.answers import Send
from scoregate.features.gateway.proxy.cassettes import RECORDED_HEADERS, RecordedCall, encode_body
from scoregate.features.gateway.proxy.event_streams import EVENT_END
from scoregate.features.gateway.proxy.questions import Question
from scoregate.features.gateway.proxy.sessions import CallCounts, SuiteSession
from scoregate.features.gateway.proxy.state import Cassettes, GatewayState
from scoregate.kernel.types.evaluation import Usage

MAX_RECORDED_BYTES = 32 * 1024 * 1024
_MOST_EVENTS = 10_000


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
        has_failed: whether the call ended without an answer; `has_answer`: whether the provider began one.
    """

    state: GatewayState
    session: SuiteSession
    question: Question
    headers: Mapping[str, str]
    send: Send
    number: int = 0
    has_failed: bool = False
    has_answer: bool = False

    @property
    def cassettes(self) -> Cassettes:
        """Where the call is recorded, and where its answer comes from."""
        return self.state.base_cassettes if self.session.is_base else self.state.cassettes

    def count_failure(self, counts: CallCounts) -> None:
        """Count that the call ended without an answer."""
        counts.failed += 1
        self.has_failed = True

    def count_usage(self, usage: Usage) -> None:
        """Count the usage for the case and evaluator, unless the client does."""
        if not self.question.is_counted:
            model = usage.model and self.state.redact(usage.model)  # suites choose the names of models
            self.session.add_usage(self.question.origin, replace(usage, model=model))

    def count_stored(self, answer: str) -> None:
        """Count a call that was answered from a store: it used no tokens and no money.

        Args:
            answer: the id of the answer.
        """
        self.count_usage(Usage(cost=0.0, model=self.question.model, answer=answer, cached=True))

    def request_text(self) -> str:
        """The body of the request for a cassette: sorted, without secrets, and bounded."""
        data = self.question.data
        if data is None:
            return ""
        return self.state.redact(to_json(dict(sorted(data.items()))).decode("utf-8", "replace"))[:MAX_RECORDED_BYTES]

    def name_answer(self, body: bytes, *, is_stream: bool = False) -> str | None:
        """The id of an answer that is recorded, which a replay gives it too; None if it isn't recorded.

        Args:
            body: the answer; of a stream, at least its first event.
            is_stream: whether it is a stream.
        """
        if self.cassettes.writer is None or (is_stream and not EVENT_END.search(body)):
            return None
        part = find_named_part(body, is_stream=is_stream)
        return name_answer(self.question.digest, self.question.origin.trial, self.number, self._redact(part))

    def _redact(self, body: bytes) -> bytes:
        try:
            return self.state.redact(body.decode()).encode()
        except UnicodeDecodeError:
            return body

    def record(self, status: int, headers: Mapping[str, str], body: bytes, *, is_stream: bool = False) -> None:
        """Record an answer in the cassette of the suite."""
        writer, question = self.cassettes.writer, self.question
        if writer is None:
            return
        if len(body) > MAX_RECORDED_BYTES:
            self.session.report_problem(f"an answer of {question.model} is too large to record")
            return
        kept = {name: value for name, value in headers.items() if name in RECORDED_HEADERS}
        safe = self._redact(body)
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
            split_events(safe) if is_stream else (),
        )
        writer.add(call)


def split_events(body: bytes) -> tuple[int, ...]:
    """The sizes of the events of a stream, whatever pieces the network made of it; from 10,000 on they are one part."""
    ends = [match.end() for match in islice(EVENT_END.finditer(body), _MOST_EVENTS)]
    if body and (not ends or ends[-1] != len(body)):
        ends.append(len(body))
    return tuple(end - start for start, end in zip((0, *ends), ends, strict=False))


def name_answer(digest: str, trial: str, number: int, body: bytes) -> str:
    """The id of a recorded answer: the same in each replay, and another one if it is recorded again.

    Answers of providers have ids of their own, so equal texts of two calls differ in their bodies.

    Args:
        digest: the digest of the question.
        trial: the case and its trial that asked.
        number: how often the trial asked the same before.
        body: the answer, or its part that `find_named_part` found.
    """
    name = blake2b(digest_size=8)
    for part in (digest.encode(), trial.encode("utf-8", "replace"), str(number).encode(), body):
        name.update(blake2b(part, digest_size=16).digest())
    return name.hexdigest()


def find_named_part(body: bytes, *, is_stream: bool) -> bytes:
    """The part of an answer that its id depends on: all of it, or the first event of a stream.

    A stream is named before its last bytes arrive, because its client may go on then.
    """
    return EVENT_END.split(body, maxsplit=1)[0] if is_stream else body
