"""The fake itself: a server of OpenAI's protocol on loopback, with what it answers and what it was asked."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from math import inf
from types import TracebackType
from typing import Any

from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.faults import Faulty, matches
from tests.fakes.github.loopback import Loopback
from tests.fakes.openai import chat, embeddings, refusals, responses
from tests.fakes.openai.front import Front
from tests.fakes.openai.limits import Bucket
from tests.fakes.openai.question import Question, parse_chat, parse_responses
from tests.fakes.openai.reply import Reply, make_reply

KEY = "sk-fake-key"
Script = Callable[[Question], Any]


class OpenAIServer(Faulty):
    """A running fake; `requests` has every request. Faults are those of `Faulty`, with paths such as "*/embeddings".

    Args:
        latency: seconds that every answer takes. port: 0 takes a free one.
        requests_per_minute: more are refused with 429; None lets all pass. `bucket` says more about that.
        models: the names that exist; None lets every name be one.
        keys: those that are taken; None takes any. cached_tokens: how many of a prompt's tokens are reported as cached.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        port: int = 0,
        requests_per_minute: float | None = None,
        bucket: Bucket | None = None,
        models: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        cached_tokens: int = 0,
    ) -> None:
        super().__init__()
        self.latency, self.cached_tokens = latency, cached_tokens
        self.bucket = Bucket(requests_per_minute) if requests_per_minute and bucket is None else bucket
        self.models = None if models is None else list(models)
        self.keys = None if keys is None else list(keys)
        self.requests: list[Exchange] = []
        self.unsupported: set[str] = set()
        self._scripts: list[Script] = []
        self._numbers = itertools.count(1)
        self._server = Loopback({"api": Front(self)}, port=port)
        self.url = f"http://127.0.0.1:{self._server.ports['api']}/v1"

    @classmethod
    def start(cls, **options: Any) -> OpenAIServer:
        """Start it; the options are the class's."""
        return cls(**options)

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> OpenAIServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs in order to use it."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": KEY}

    def answers(self, pattern: str, answer: Any, *, times: float = inf) -> None:
        """Answer so where the pattern is found in the last message; later rules win.

        `answer` is a text, an object (completed to the schema that is asked for), a `Reply`, a `ToolCall`, a list of
        these (one a choice), or a function of the `Question` that gives one.
        """
        left = [times]

        def script(question: Question) -> Any:
            if left[0] <= 0 or not re.search(pattern, question.last):
                return None
            left[0] -= 1
            return answer(question) if callable(answer) else answer

        self._scripts.append(script)

    def answer_with(self, script: Script) -> None:
        """Ask this function first; where it gives None, the rules before it are asked."""
        self._scripts.append(script)

    def does_not_take(self, *features: str) -> None:
        """Refuse requests that use one of `refusals.FEATURES`: json_schema, json_object, tools, temperature, n."""
        self.unsupported |= set(features)

    def filters_content(self, pattern: str) -> None:
        """Answer with an empty text that the content filter ended, where the pattern is found."""
        self.answers(pattern, Reply("", finish_reason="content_filter"))

    def truncates(self, pattern: str) -> None:
        """Stop in the middle of the answer, as a limit of tokens does, where the pattern is found."""
        self.answers(pattern, lambda question: _truncate_reply(make_reply(None, question)))

    def asked(self, path: str = "*") -> list[Mapping[str, Any]]:
        """The bodies of what was posted to paths that match a glob."""
        return [exchange.json for exchange in self.requests if matches("POST", path, exchange)]

    def answer(self, exchange: Exchange) -> Answer:
        """The API's answer to a request."""
        if exchange.method == "GET" and exchange.path.endswith("/models"):
            names = self.models or ["gpt-4o"]
            return Answer({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})
        made = next((make for end, make in _ENDPOINTS.items() if exchange.path.endswith(end)), None)
        if exchange.method != "POST" or made is None:
            return refusals.error(f"Unknown request URL: {exchange}.", status=404, code="unknown_url")
        body = exchange.json or {}
        return self._refusal(exchange, body) or made(self, body)

    def _refusal(self, exchange: Exchange, body: Mapping[str, Any]) -> Answer | None:
        given = exchange.headers.get("authorization", "").removeprefix("Bearer ") or exchange.headers.get("api-key")
        if self.keys is not None and given not in self.keys:
            return refusals.no_key()
        if self.models is not None and body.get("model") not in self.models:
            return refusals.no_model(str(body.get("model")))
        used = (name for name in sorted(self.unsupported) if refusals.FEATURES[name](body))
        return next((refusals.unsupported(name) for name in used), None)

    def _replies(self, question: Question) -> list[Reply]:
        given = next((found for s in reversed(self._scripts) if (found := s(question)) is not None), None)
        listed = given if isinstance(given, list) else [given] * (question.body.get("n") or 1)
        return [make_reply(each, question) for each in listed]

    def _chat(self, body: Mapping[str, Any]) -> Answer:
        question = parse_chat(body, next(self._numbers))
        make = chat.build_chunks if body.get("stream") else chat.build_response
        return Answer(make(question, self._replies(question), self.cached_tokens))

    def _responses(self, body: Mapping[str, Any]) -> Answer:
        question = parse_responses(body, next(self._numbers))
        make = responses.build_chunks if body.get("stream") else responses.build_response
        return Answer(make(question, self._replies(question), self.cached_tokens))

    def _embeddings(self, body: Mapping[str, Any]) -> Answer:
        return Answer(embeddings.build_response(body))


_ENDPOINTS = {
    "/chat/completions": OpenAIServer._chat,
    "/responses": OpenAIServer._responses,
    "/embeddings": OpenAIServer._embeddings,
}


def _truncate_reply(reply: Reply) -> Reply:
    text = reply.text if reply.tool is None else reply.tool.text
    return Reply((text or "")[: len(text or "") // 2], finish_reason="length")
