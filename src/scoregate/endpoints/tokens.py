"""Tokens of OAuth 2.0's client credentials: fetched once, kept until they expire, shared by all who send."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import anyio
import httpx

from scoregate.endpoints.clients import Clients
from scoregate.endpoints.pace import waiting
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.transport import sent
from scoregate.errors import EndpointError
from scoregate.store.endpoints import ClientCredentials

_EARLY_S, _EARLY_SHARE = 30.0, 0.1
_KEPT_S = 3600.0
# One answer may come late; who never answers is not waited for by every test.
_MOST_TIMEOUTS = 3


class Tokens:
    """Of one endpoint in one event loop.

    Args:
        clients: what fetches them. auth: for whom. place: the endpoint, for messages. timeout_s: of fetching one.
    """

    def __init__(self, clients: Clients, auth: ClientCredentials, place: Surroundings, *, timeout_s: float):
        self._clients, self._place, self._timeout_s = clients, place, timeout_s
        self._url = place.filled(auth.token_url)
        self._form, self._basic = _form(auth, place)
        self._lock = anyio.Lock()
        self._token, self._good_until = "", 0.0
        self._refused: EndpointError | None = None
        self._timeouts = 0

    async def get(self) -> str:
        """A token that is good now.

        Raises:
            EndpointError: none is given. Passing: not now.
        """
        if self._token and time.monotonic() < self._good_until:
            return self._token
        with waiting():
            async with self._lock:
                if not self._token or time.monotonic() >= self._good_until:
                    await self._fetch()
                return self._token

    @property
    def current(self) -> str:
        """The last one that was fetched; empty where none was."""
        return self._token

    def spoil(self, token: str) -> None:
        """This one was not taken: the next who asks gets a new one."""
        if token == self._token:
            self._token = ""

    async def _fetch(self) -> None:
        if self._refused is not None:
            raise self._refused
        request = httpx.Request("POST", self._url, data=self._form, headers=self._basic)
        try:
            with self._clients.one() as client:
                answer = await sent(client, request, self._place, timeout_s=self._timeout_s)
            self._take(answer)
        except EndpointError as error:
            self._timeouts += error.kind == "timeout"
            if error.kind != "timeout" or self._timeouts == _MOST_TIMEOUTS:
                self._refused = error  # it will not pass: nobody asks again
            raise

    def _take(self, text: bytes) -> None:
        token, lasts_s = _told(text)
        if not token:
            raise self._place.fail("there is no access_token in the answer", kind="json_parsing_error")
        self._place.hide(token)
        self._token, self._timeouts = token, 0
        self._good_until = time.monotonic() + lasts_s - min(_EARLY_S, lasts_s * _EARLY_SHARE)


def _told(text: bytes) -> tuple[str, float]:
    """The token, empty where there is none, and for how many seconds it is good."""
    try:
        told: Any = json.loads(text)
        token, lasts_s = told["access_token"], float(told.get("expires_in") or _KEPT_S)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "", 0.0
    return (token, lasts_s) if isinstance(token, str) else ("", 0.0)


def _form(auth: ClientCredentials, place: Surroundings) -> tuple[dict[str, str], dict[str, str]]:
    """What is posted, and the header of those who want the secret there."""
    identity, secret = place.filled(auth.client_id), place.filled(auth.client_secret)
    form = {
        "grant_type": "client_credentials",
        **{name: place.filled(each) for name, each in auth.extra_payload.items()},
    }
    form |= {"scope": " ".join(auth.scopes)} if auth.scopes else {}
    form |= {"audience": place.filled(auth.audience)} if auth.audience else {}
    if not auth.basic:
        return {**form, "client_id": identity, "client_secret": secret}, {}
    coded = base64.b64encode(f"{identity}:{secret}".encode()).decode()
    place.hide(coded)
    return form, {"authorization": f"Basic {coded}"}
