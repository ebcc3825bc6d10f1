"""The fake itself: GitHub on loopback, with what it holds and what it was asked."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable
from types import TracebackType

from tests.fakes.github import api
from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.faults import Faulty, matches
from tests.fakes.github.front import Front
from tests.fakes.github.identity import Token
from tests.fakes.github.loopback import Loopback
from tests.fakes.github.repository import Repository
from tests.fakes.github.storage import Storage


class GitHub(Faulty):
    """A running fake. `requests` has every request, `violations` every one that GitHub's description forbids."""

    def __init__(
        self, *, prefix: str = "", listen: str = "127.0.0.1", host: str = "127.0.0.1", server_url: str | None = None
    ) -> None:
        super().__init__()
        self.repositories: dict[str, Repository] = {}
        self.tokens: dict[str, Token] = {}
        self.requests: list[Exchange] = []
        self.storage = Storage(self)
        self._ids = itertools.count(1001)
        front = Front(self, self.requests, self._answer, prefix)
        blobs = Front(self.storage, self.storage.requests, self.storage.answer)
        self._server = Loopback({"api": front, "blobs": blobs}, listen=listen)
        origin = f"http://{host}:{self._server.ports['api']}"
        self.storage.url = f"http://{host}:{self._server.ports['blobs']}"
        self.url = origin + prefix
        self.server_url = server_url or origin
        self.graphql_url = f"{origin}{prefix.removesuffix('/v3')}/graphql"

    @classmethod
    def start(
        cls, *, prefix: str = "", listen: str = "127.0.0.1", host: str = "127.0.0.1", server_url: str | None = None
    ) -> GitHub:
        """Start on free ports; `prefix="/api/v3"` plays an Enterprise Server, `host` is the name others reach it by."""
        return cls(prefix=prefix, listen=listen, host=host, server_url=server_url)

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> GitHub:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def repository(
        self, full_name: str, *, private: bool = False, default_branch: str = "main", fork_of: Repository | None = None
    ) -> Repository:
        """A new repository; a fork shares its parent's commits and starts with its branches."""
        made = Repository(self, full_name, self.next_id(), private, default_branch, fork_of)
        if fork_of:
            made.objects, made.refs = fork_of.objects, dict(fork_of.refs)
        self.repositories[full_name] = made
        return made

    def token(
        self, login: str = "github-actions[bot]", *, repositories: Iterable[str] | None = None, **permissions: str
    ) -> str:
        """A token with these permissions, e.g. contents="read", pull_requests="write"; a login that ends in [bot] is an
        installation's. `repositories`: the full names it is limited to."""
        secret = f"{'ghs' if login.endswith('[bot]') else 'ghp'}_{secrets.token_hex(18)}"
        areas = {area.replace("_", "-"): level for area, level in permissions.items()}
        limited = None if repositories is None else frozenset(repositories)
        self.tokens[secret] = Token(secret, login, areas, limited)
        return secret

    @property
    def environment(self) -> dict[str, str]:
        """The addresses as a runner's environment gives them."""
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_GRAPHQL_URL": self.graphql_url,
            "GITHUB_SERVER_URL": self.server_url,
        }

    def asked(self, method: str, path: str) -> list[Exchange]:
        """The requests of a method to paths that match a glob."""
        return [exchange for exchange in self.requests if matches(method, path, exchange)]

    def next_id(self) -> int:
        return next(self._ids)

    def _answer(self, exchange: Exchange, url: str) -> Answer:
        return api.answer(self, exchange, url)
