"""The gateway's application: authenticates a request, finds its provider, and has it answered."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, TypeAlias

from scoregate.errors import RecordError
from scoregate.features.gateway.proxy.answers import Send, send_refusal
from scoregate.features.gateway.proxy.attempts import BrokenStream
from scoregate.features.gateway.proxy.calls import Receive, answer_call
from scoregate.features.gateway.proxy.exchange import Exchange
from scoregate.features.gateway.proxy.providers import GatewayProvider
from scoregate.features.gateway.proxy.questions import (
    ClientGone,
    Question,
    Refusal,
    decode_body,
    find_token,
    read_body,
    read_origin,
    remove_key,
)
from scoregate.features.gateway.proxy.sessions import SuiteSession
from scoregate.features.gateway.proxy.state import GatewayState

Scope: TypeAlias = MutableMapping[str, Any]


class GatewayApp:
    """The ASGI application.

    Args:
        state: what calls share.
    """

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        session: SuiteSession | None = None
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            session = self._authenticate(scope, headers)
            provider, path = self._find_provider(scope)
            _check_upgrade(headers)
            body = await read_body(receive, headers.get("content-length")) if scope["method"] != "GET" else b""
            if encoding := headers.pop("content-encoding", ""):
                body = decode_body(body, encoding)
            question = Question(
                provider,
                scope["method"],
                path,
                remove_key(scope["query_string"].decode("latin-1")),
                headers.get("content-type", ""),
                body,
                read_origin(headers),
                headers.get("x-scoregate-counted") == "1",
            )
            await answer_call(Exchange(self._state, session, question, headers, send), receive)
        except Refusal as refusal:
            if session is not None:
                session.report_refusal(refusal.message, refusal.code)
            await send_refusal(send, refusal)
        except RecordError as error:
            damage = Refusal(424, "damaged_cassette", f"{error} {error.advice or ''}".strip())
            if session is not None:
                session.report_problem(damage.message, damage.code)
            await send_refusal(send, damage)
        except ClientGone:
            return
        except BrokenStream:
            raise  # a part of the answer was sent, so only the end of the connection shows the error
        except Exception as error:
            failure = Refusal(500, "gateway_failed", f"the gateway failed ({type(error).__name__}); please report this")
            if session is not None:
                session.report_problem(failure.message, failure.code)
            await send_refusal(send, failure)

    def _authenticate(self, scope: Scope, headers: Mapping[str, str]) -> SuiteSession:
        # A page in a browser can reach this port by a name of its own, but can't choose this header.
        if headers.get("host", "").lower() not in self._state.hosts:
            raise Refusal(421, "wrong_host", "the Host header does not name this gateway")
        token = find_token(headers, scope["query_string"].decode("latin-1"))
        session = self._state.sessions.find(token)
        if session is None:
            raise Refusal(
                401,
                "invalid_token",
                "this key is no token of a running suite. A suite gets one in the variable of each provider's key, "
                "such as OPENAI_API_KEY.",
            )
        return session

    def _find_provider(self, scope: Scope) -> tuple[GatewayProvider, str]:
        """The provider that a path names, and the path below its address."""
        # As it was sent: a decoded %2F would become a slash.
        raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
        name, _, path = raw.removeprefix("/").partition("/")
        provider = self._state.providers.get(name)
        if provider is None:
            known = ", ".join(sorted(self._state.providers)) or "none has a key"
            raise Refusal(404, "unknown_provider", f"no provider is at {raw[:100]!r}. Providers: {known}.")
        if provider.missing_key:
            raise Refusal(
                401,
                "missing_key",
                f"{provider.missing_key} is not set on the host, so {name} can't be asked "
                f"(set in gateway.providers.{name}.key_env)",
            )
        mount = provider.api.mount
        path = path.removeprefix(f"{mount[1:]}/") if mount else path
        if name == "anthropic" and not path.startswith("v1/"):
            path = f"v1/{path}"  # the address of its API that is compatible with OpenAI's has the version in it
        if not provider.api.allows(scope["method"], path):
            raise Refusal(
                404,
                "unknown_path",
                f"{scope['method']} {path[:100]!r} is no call of a model that the gateway forwards to {name}",
            )
        return provider, path


def _check_upgrade(headers: Mapping[str, str]) -> None:
    if "upgrade" in headers:
        raise Refusal(501, "no_websockets", "the gateway forwards no WebSocket connections, such as OpenAI's realtime")
