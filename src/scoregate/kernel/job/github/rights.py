"""Who may write to a repository, asked of GitHub. The payload of an event is not evidence of it."""

from __future__ import annotations

import re

from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.responses import text_at

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})")
_WRITERS = ("admin", "write")


def is_user(account: object) -> bool:
    """Whether an account, as the API describes it, is a user: no bot, and not deleted."""
    if not isinstance(account, dict) or account.get("type") != "User":
        return False
    return bool(LOGIN.fullmatch(text_at(account, "login")))


async def may_write(api: Api, login: str) -> bool:
    """Whether a user has write access to the repository.

    Raises:
        GitHubRefused: it can't be read.
    """
    known = await api.get(f"collaborators/{login}/permission")
    return text_at(known, "permission") in _WRITERS
