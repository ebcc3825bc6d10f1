"""Who asks, and what they may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fakes.github.exchange import Refused

if TYPE_CHECKING:
    from tests.fakes.github.repository import Repository

ACTIONS_APP = 15368


@dataclass(frozen=True)
class Token:
    """A token as it was handed out: `permissions` as in a workflow file, e.g. {"pull-requests": "write"}."""

    secret: str
    login: str
    permissions: Mapping[str, str] = field(default_factory=dict)
    repositories: frozenset[str] | None = None

    @property
    def is_installation(self) -> bool:
        return self.login.endswith("[bot]")

    @property
    def app(self) -> str:
        return self.login.removesuffix("[bot]")

    def sees(self, repository: Repository) -> bool:
        """Whether a private repository is there at all for this token."""
        return self.repositories is None or repository.full_name in self.repositories

    def level(self, area: str, repository: Repository) -> str:
        """ "write", "read" or "" for an area such as "contents"."""
        return self.permissions.get(area, "") if self.sees(repository) else ""


def allow(
    token: Token, repository: Repository, level: str, areas: Sequence[str], *, even_if_public: bool = False
) -> None:
    """Refuse as GitHub does: what one may not see is not there, what one may not do is forbidden."""
    if not areas and repository.private and not token.sees(repository):
        raise Refused(404, "Not Found")
    if not areas or (level == "read" and not repository.private and not even_if_public):
        return
    granted = {token.level(area, repository) for area in areas}
    if "write" in granted or level in granted:
        return
    if repository.private and granted == {""}:
        raise Refused(404, "Not Found")
    who = "integration" if token.is_installation else "personal access token"
    raise Refused(403, f"Resource not accessible by {who}")
