"""Authentication: headers and query parameters with a token or an API key."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.http import ClientPool, send_request
from scoregate.endpoints.request import RequestTemplate
from scoregate.endpoints.retry import unmeasured_wait
from scoregate.errors import EndpointError
from scoregate.store.endpoints import ApiKey, BearerToken, ClientCredentials, StoredEndpoint


@dataclass(frozen=True, slots=True)
class Access:
    """The credentials of requests.

    Args:
        token: the value of `auth_token` in templates; empty if it has to be fetched with `credentials`.
        headers: headers of every request.
        query: query parameters of every request.
        credentials: how to fetch a token.
        adds_bearer: whether to add the header Authorization, because no template uses the token.
    """

    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    credentials: ClientCredentials | None = None
    adds_bearer: bool = False


def resolve_access(definition: StoredEndpoint, outgoing: RequestTemplate) -> Access:
    """The credentials of an endpoint.

    Raises:
        EndpointError: a variable is not set.
    """
    auth, endpoint = definition.auth, outgoing.endpoint
    adds = "auth_token" not in outgoing.names and not any(
        name.lower() == "authorization" for name in definition.request_headers
    )
    if isinstance(auth, ClientCredentials):
        return Access(credentials=auth, adds_bearer=adds)
    if isinstance(auth, ApiKey):
        key = endpoint.fill(auth.key)
        return Access(key, query={auth.query: key}) if auth.query else Access(key, headers={auth.header: key})
    token = endpoint.fill(auth.token if isinstance(auth, BearerToken) else definition.auth_token)
    token = token.removeprefix("Bearer ")
    endpoint.hide(token)
    return Access(token, headers=bearer_header(token) if token and adds else {})


def bearer_header(token: str) -> dict[str, str]:
    """The Authorization header for a token."""
    return {"Authorization": f"Bearer {token}"}


_EARLY_REFRESH_S, _EARLY_REFRESH_SHARE = 30.0, 0.1
_DEFAULT_LIFETIME_S = 3600.0
# One response may be late, but not every test should wait for a server that never responds.
_MOST_TIMEOUTS = 3


class AccessTokens:
    """Fetches and renews the access tokens of one endpoint in one event loop.

    Args:
        clients: send the requests.
        auth: the client credentials.
        endpoint: the endpoint, for messages.
        timeout_s: the time limit of a request in seconds.
    """

    def __init__(self, clients: ClientPool, auth: ClientCredentials, endpoint: EndpointContext, *, timeout_s: float):
        self._clients, self._place, self._timeout_s = clients, endpoint, timeout_s
        self._url = endpoint.fill(auth.token_url)
        client_id, secret = endpoint.fill(auth.client_id), endpoint.fill(auth.client_secret)
        self._form = {
            "grant_type": "client_credentials",
            **{name: endpoint.fill(each) for name, each in auth.extra_payload.items()},
        }
        self._form |= {"scope": " ".join(auth.scopes)} if auth.scopes else {}
        self._form |= {"audience": endpoint.fill(auth.audience)} if auth.audience else {}
        self._headers: dict[str, str] = {}
        if auth.basic:
            credentials = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
            endpoint.hide(credentials)
            self._headers["authorization"] = f"Basic {credentials}"
        else:
            self._form |= {"client_id": client_id, "client_secret": secret}
        self._lock = anyio.Lock()
        self._token, self._valid_until = "", 0.0
        self._failure: EndpointError | None = None
        self._timeouts = 0

    async def get(self) -> str:
        """A valid token.

        Raises:
            EndpointError: the token server refused.
            TransientError: the token server failed and may recover.
        """
        if self._token and time.monotonic() < self._valid_until:
            return self._token
        with unmeasured_wait():
            async with self._lock:
                # Another message may have fetched one while this one waited.
                if not self._token or time.monotonic() >= self._valid_until:
                    await self._fetch()
                return self._token

    @property
    def current(self) -> str:
        """The last token; empty if there is none."""
        return self._token

    def invalidate(self, token: str) -> None:
        """Fetch a new token next time, because the endpoint refused this one."""
        if token == self._token:  # another message may have renewed it already
            self._token = ""

    async def _fetch(self) -> None:
        if self._failure is not None:
            raise self._failure
        request = httpx.Request("POST", self._url, data=self._form, headers=self._headers)
        try:
            with self._clients.one() as client:
                answer = await send_request(client, request, self._place, timeout_s=self._timeout_s)
            self._take(answer)
        except EndpointError as error:
            self._timeouts += error.kind == "timeout"
            if error.kind != "timeout" or self._timeouts == _MOST_TIMEOUTS:
                self._failure = error  # permanent: no further request
            raise

    def _take(self, text: bytes) -> None:
        try:
            data: Any = json.loads(text)
            # RFC 6749 makes `expires_in` optional.
            token, lifetime_s = data["access_token"], float(data.get("expires_in") or _DEFAULT_LIFETIME_S)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            token = None
        if not token or not isinstance(token, str):
            raise self._place.fail("there is no access_token in the answer", kind="json_parsing_error")
        self._place.hide(token)
        self._token, self._timeouts = token, 0
        self._valid_until = time.monotonic() + lifetime_s - min(_EARLY_REFRESH_S, lifetime_s * _EARLY_REFRESH_SHARE)
