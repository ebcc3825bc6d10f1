"""Gateways in front of a provider on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.features.gateway.provider import Prepared, Provider, Received, open_provider

from scoregate.features.gateway.declare import GatewayMode, GatewayProviderSettings
from scoregate.features.gateway.proxy import Gateway, GatewayOptions, find_providers, open_gateway

KEY = "sk-real-key-0123456789"
StartGateway = Callable[..., "Client"]


class Client:
    """A client of a suite at a gateway.

    Args:
        gateway: the gateway.
        suite: the name of the suite.
        stack: ends its session.
    """

    def __init__(self, gateway: Gateway, suite: str, stack: ExitStack) -> None:
        self.gateway = gateway
        self._stack = stack
        self.session = stack.enter_context(gateway.open_session(suite))
        self.environment = gateway.suite_environment(self.session)
        self.http = stack.enter_context(httpx.Client(base_url=gateway.address, timeout=60, trust_env=False))

    def other(self, suite: str) -> Client:
        """A client of another suite at the same gateway."""
        return Client(self.gateway, suite, self._stack)

    def post(self, path: str = "/openai/v1/chat/completions", data: Any = None, **headers: str) -> httpx.Response:
        """Post JSON, by default a question to a model."""
        data = question("Hello") if data is None else data
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(path, json=data, headers={"authorization": f"Bearer {self.session.token}", **named})

    def counts(self) -> Any:
        """The counts of all calls together."""
        (counts,) = self.gateway.counts().values()
        return counts


def question(text: str, **parameters: Any) -> dict[str, Any]:
    """The body of a chat completion."""
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **parameters}


def completion(text: str = "Hi", tokens: tuple[int, int] = (10, 5)) -> bytes:
    """The body of an answer."""
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return json.dumps({"object": "chat.completion", "model": "gpt-4o", "choices": [choice], "usage": usage}).encode()


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider that answers each call with a completion."""
    with open_provider() as running:
        running.respond = answer_question
        yield running


def answer_question(request: Received) -> Prepared:
    """Answer a chat completion with its own last message, in capital letters."""
    data = json.loads(request.body) if request.body else {}
    last = data["messages"][-1]["content"] if "messages" in data else ""
    return Prepared(completion(last.upper()))


@pytest.fixture
def start_gateway(provider: Provider, tmp_path: Path) -> Iterator[StartGateway]:
    """Starts gateways with a client each; they end with the test."""
    with ExitStack() as stack:

        def start(suite: str = "suite", *, custom: dict[str, str] | None = None, **options: Any) -> Client:
            mode = options.pop("mode", GatewayMode.ON)
            environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}
            environ |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": provider.url}
            environ |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": provider.url}
            environ |= {"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_ENDPOINT": provider.url}
            settings = {name: GatewayProviderSettings(base_url=url) for name, url in (custom or {}).items()}
            replays = mode is GatewayMode.REPLAY
            providers = find_providers({} if replays else environ, settings, replays=replays)
            scratch = tmp_path / f"scratch-{len(list(tmp_path.iterdir()))}"
            scratch.mkdir()
            chosen = {"redact": lambda text: text.replace(KEY, "***"), "scratch": scratch, **options}
            gateway = stack.enter_context(open_gateway(GatewayOptions(mode, providers, **chosen)))
            return Client(gateway, suite, stack)

        yield start
