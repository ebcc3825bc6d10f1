"""What goes over the wire: a request as it was recorded, a call as a handler sees it, an answer, a refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.github.identity import Token
    from tests.fakes.github.repository import Repository
    from tests.fakes.github.server import GitHub

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass
class Exchange:
    """A request that arrived, with what was answered.

    Header names are in lower case, the path is without the API's prefix unless the request missed that.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    misses_prefix: bool = False
    operation: str = ""
    status: int | None = None
    answer: Any = None

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class Refused(Exception):
    """GitHub's no: a status, a message, and for validation the fields it is about."""

    status: int
    message: str
    errors: list[dict[str, Any]] = field(default_factory=list)

    @property
    def body(self) -> dict[str, Any]:
        content = {"message": self.message, "documentation_url": DOCUMENTATION, "status": str(self.status)}
        return {**content, "errors": self.errors} if self.errors else content


@dataclass(frozen=True)
class Answer:
    """A handler's answer: bytes are sent as they are (cut after so many), anything else as JSON."""

    content: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_after: int | None = None


@dataclass(frozen=True)
class Call:
    """A request that was understood: who asks, which repository, with which parameters and body."""

    github: GitHub
    token: Token
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    url: str

    @property
    def repo(self) -> Repository:
        name = f"{self.path['owner']}/{self.path['repo']}".lower()
        for known, repository in self.github.repositories.items():
            if known.lower() == name:
                return repository
        raise Refused(404, "Not Found")
