"""The host that artifacts' bytes come from: another origin, with signed addresses that work for a minute."""

from __future__ import annotations

import hmac
import secrets
import time
from typing import TYPE_CHECKING

from tests.fakes.github.actions import Artifact
from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.faults import Faulty

if TYPE_CHECKING:
    from tests.fakes.github.server import GitHub

VALID = 60


class Storage(Faulty):
    """Serves signed addresses; a request that brings an Authorization header is refused, and a violation."""

    def __init__(self, github: GitHub) -> None:
        super().__init__()
        self.github, self.violations = github, github.violations
        self.url = ""
        self.requests: list[Exchange] = []
        self._key = secrets.token_bytes(16)

    def sign(self, artifact: Artifact, *, valid: int = VALID) -> str:
        until = int(time.time()) + valid
        path = f"/{artifact.run.repository.full_name}/{artifact.id}.zip"
        return f"{self.url}{path}?se={until}&sig={self._signature(path, str(until))}"

    def answer(self, exchange: Exchange, _url: str) -> Answer:
        until = exchange.query.get("se", "0")
        if "authorization" in exchange.headers:
            self.violations.append(f"{exchange}: the token was sent to the blob host")
            return Answer(b"<Error><Code>InvalidAuthenticationInfo</Code></Error>", 400)
        signed = hmac.compare_digest(exchange.query.get("sig", ""), self._signature(exchange.path, until))
        if exchange.method != "GET" or not signed or float(until) < time.time():
            return Answer(b"<Error><Code>AuthenticationFailed</Code></Error>", 403)
        full_name, _, name = exchange.path.lstrip("/").rpartition("/")
        artifact = self.github.repositories[full_name].artifacts.get(int(name.removesuffix(".zip")))
        if artifact is None:
            return Answer(b"<Error><Code>BlobNotFound</Code></Error>", 404)
        content = artifact.content if artifact.served is None else artifact.served
        return Answer(content, headers={"content-type": "application/zip"}, cut_after=artifact.cut_after)

    def _signature(self, path: str, until: str) -> str:
        return hmac.new(self._key, f"{path} {until}".encode(), "sha256").hexdigest()
