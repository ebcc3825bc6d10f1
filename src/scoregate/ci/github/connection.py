"""GitHub as far as a job reaches it: what it told us, and its API where there is a token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from scoregate.ci.github.api import Api, open_api
from scoregate.ci.github.context import GitHub, read_context, slug
from scoregate.ci.settings import Settings


@dataclass(frozen=True, slots=True)
class Connection:
    """A job's GitHub. `api` is None without a token; `key` tells several uses in one repository apart."""

    github: GitHub
    api: Api | None
    key: str

    @property
    def artifact(self) -> str:
        """The name of the artifact that the run is to be stored under."""
        return f"{ARTIFACT_PREFIX}{self.key}"


ARTIFACT_PREFIX = "scoregate-"


def token_of(settings: Settings, environ: Mapping[str, str]) -> str:
    """The token that was given; empty without one."""
    given = settings.github_token.get_secret_value() if settings.github_token else ""
    return given or environ.get("GITHUB_TOKEN", "")


@asynccontextmanager
async def connect(
    settings: Settings, environ: Mapping[str, str], stop: anyio.Event | None = None
) -> AsyncIterator[Connection | None]:
    """The job's GitHub, until the block ends; None outside of jobs. Once `stop` is set, it is asked everything once."""
    github = read_context(environ)
    if github is None:
        yield None
        return
    key = slug(settings.key or f"{github.workflow}-{github.job}")
    if not (token := token_of(settings, environ)):
        yield Connection(github, None, key)
        return
    async with open_api(github.api_url, github.repository, token, stop=stop) as api:
        yield Connection(github, api, key)
