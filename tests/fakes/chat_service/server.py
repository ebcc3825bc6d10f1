"""The service itself: what it was asked, what it answers, and what goes wrong on demand."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from tests.fakes.chat_service.front import Front
from tests.fakes.chat_service.guard import Guard
from tests.fakes.chat_service.memory import Memory
from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.faults import Faulty
from tests.fakes.github.loopback import Loopback
from tests.fakes.openai.limits import Bucket
from uvicorn.config import WS_PROTOCOLS


class ChatService(Faulty):
    """A running service; `requests` has those to its paths. Faults are those of `Faulty`, with paths such as "/chat".

    | path | what |
    |:--|:--|
    | `POST /chat`, `GET /chat?input=` | input, conversation_id -> output, conversation_id, context, metadata |
    | `POST /v1/chat/completions` | messages -> choices, as OpenAI has it; remembers nothing |
    | `POST /echo` | what was sent, as `received`, with its `headers` |
    | `POST /token` | OAuth 2.0's client credentials -> access_token |
    | `/moved` | redirects to `self.moved_to` with `self.moved_status` |
    | WebSocket `/ws` | as /chat, a message each way, one conversation a connection |

    Args:
        latency: seconds that every answer takes. port: 0 takes a free one.
        requests_per_minute: more are refused with 429 and Retry-After. guard: who may come in; all if not given.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        port: int = 0,
        requests_per_minute: float | None = None,
        guard: Guard | None = None,
    ) -> None:
        super().__init__()
        self.latency, self.guard = latency, guard or Guard()
        self.bucket = Bucket(requests_per_minute) if requests_per_minute else None
        self.memory = Memory()
        self.answers = self.memory.answers
        self.requests: list[Exchange] = []
        self.at_once = self.most_at_once = self.connections = 0
        self.moved_to, self.moved_status = "/chat", 307
        # Older versions of uvicorn, with which other tests run, need parts of websockets that are gone.
        ws = "websockets-sansio" if "websockets-sansio" in WS_PROTOCOLS else "none"
        self._server = Loopback({"chat": Front(self)}, port=port, ws=ws)
        self.address = f"127.0.0.1:{self._server.ports['chat']}"
        self.url, self.ws_url = f"http://{self.address}", f"ws://{self.address}/ws"

    @classmethod
    def start(cls, **options: Any) -> ChatService:
        """Start it; the options are the class's."""
        return cls(**options)

    @property
    def paths(self) -> set[str]:
        """What it serves over HTTP."""
        return {"/token", "/moved", self.moved_to, *_ANSWERS}

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> ChatService:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def asked(self, path: str = "/chat") -> list[Any]:
        """The bodies of what was sent to a path."""
        return [exchange.json for exchange in self.requests if exchange.path == path]

    def answer(self, exchange: Exchange) -> Answer:
        """The service's answer to a request."""
        if exchange.path == "/token":
            issued = self.guard.issue(exchange.body, exchange.headers)
            return Answer(issued or {"error": "invalid_client"}, 200 if issued else 401)
        if exchange.path == "/moved":
            return Answer({}, self.moved_status, {"location": self.moved_to})
        if not self.guard.lets_in(exchange.headers, exchange.query):
            return Answer({"error": "who are you?", "authorization": exchange.headers.get("authorization")}, 401)
        answer = _ANSWERS.get(exchange.path)
        return answer(self, exchange) if answer else Answer({"error": f"no such path: {exchange.path}"}, 404)

    def _chat(self, exchange: Exchange) -> Answer:
        given = exchange.query if exchange.method == "GET" else exchange.json
        if not isinstance(given, dict) or "input" not in given:
            return Answer({"error": "there is no input", "received": given}, 422)
        return Answer(self.memory.say(given["input"], given.get("conversation_id")))

    def _completions(self, exchange: Exchange) -> Answer:
        messages = exchange.json["messages"]
        users = [message["content"] for message in messages if message["role"] == "user"]
        content = self.memory.output(users[-1], users[:-1])
        return Answer({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]})

    def _echo(self, exchange: Exchange) -> Answer:
        text = exchange.body.decode()
        try:
            received = exchange.json
        except ValueError:
            received = None
        return Answer({"received": received, "text": text, "headers": dict(exchange.headers), "output": "echoed"})


_ANSWERS = {
    "/chat": ChatService._chat,
    "/v1/chat/completions": ChatService._completions,
    "/echo": ChatService._echo,
}
