"""Access to the service: by a token, by a key, or by a token that it issued."""

from __future__ import annotations

import base64
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs


@dataclass
class Guard:
    """`token` and `key` are those that are taken; `clients` are secrets by id. With none of these all may come in."""

    token: str | None = None
    key: str | None = None
    clients: dict[str, str] = field(default_factory=dict)
    expires_in: float | None = 3600
    issued: dict[str, float] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def lets_in(self, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        """Whether a request may pass."""
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self.token is not None:
            return bearer == self.token
        if self.key is not None:
            return self.key in (headers.get("x-api-key"), query.get("key"))
        return not self.clients or self.issued.get(bearer, 0.0) > time.monotonic()

    def issue(self, form: bytes, headers: Mapping[str, str]) -> dict[str, object] | None:
        """A token for an id and a secret; None where these are wrong."""
        given = {name: values[0] for name, values in parse_qs(form.decode()).items()}
        kind, _, coded = headers.get("authorization", "").partition(" ")
        identity, secret = given.get("client_id", ""), given.get("client_secret", "")
        if kind == "Basic":
            identity, _, secret = base64.b64decode(coded).decode().partition(":")
        if given.get("grant_type") != "client_credentials" or self.clients.get(identity) != secret:
            return None
        token = f"issued-token-{next(self._numbers)}"
        lasts_s = self.expires_in
        self.issued[token] = time.monotonic() + (3600 if lasts_s is None else lasts_s)
        token_data = {"access_token": token, "token_type": "Bearer"}
        return {**token_data, "expires_in": lasts_s} if lasts_s is not None else {**token_data}

    def revoke(self) -> None:
        """No token is good any more."""
        self.issued.clear()
