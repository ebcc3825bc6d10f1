"""A refusal in words: what was asked, what GitHub answered, and which permission to add."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scoregate.ci.github.answers import parse_json
from scoregate.ci.github.waiting import is_rate_limited
from scoregate.errors import GitHubRefused

if TYPE_CHECKING:
    import httpx

_QUERY = re.compile(r"\?.*")
# By the path that was asked for, what a job must be given; the first that matches.
_PERMISSIONS = (
    (re.compile(r"issues/|pulls"), "pull-requests", "write"),
    (re.compile(r"check-runs"), "checks", "write"),
    (re.compile(r"actions/"), "actions", "read"),
    (re.compile(r"git/"), "contents", "write"),
    (re.compile(r"commits|compare/"), "contents", "read"),
)


def refusal(method: str, path: str, answer: httpx.Response | httpx.RequestError) -> GitHubRefused:
    """What the answer, or that none came, means."""
    asked = f"GitHub, {method} {_QUERY.sub('', path)[:200]}"
    if isinstance(answer, Exception):
        return GitHubRefused(f"{asked}: no answer ({type(answer).__name__})", advice="Run the job again later.")
    limited, told = is_rate_limited(answer), _message(answer)
    return GitHubRefused(
        f"{asked}: {answer.status_code} {told}",
        advice=_advice(method, path, answer.status_code, told=told, limited=limited),
        status=answer.status_code,
    )


def _message(answer: httpx.Response) -> str:
    try:
        found = parse_json(answer.content)
    except ValueError:
        return answer.reason_phrase
    parts = [found.get("message"), *_details(found.get("errors"))] if isinstance(found, dict) else []
    return ": ".join(str(part) for part in parts if part)[:300] or answer.reason_phrase


def _details(errors: object) -> list[str]:
    found = errors[:3] if isinstance(errors, list) else []
    return [str(each.get("message") or each.get("code")) if isinstance(each, dict) else str(each) for each in found]


def _advice(method: str, path: str, status: int, *, told: str, limited: bool) -> str:
    if limited:
        return "The token has used up its requests; run the job again later."
    if status == 401:
        return "The token is missing or no longer valid: check the input github-token."
    if status == 410:
        return "It is gone, or issues and pull requests are switched off."
    if "locked" in told.lower():
        return "The conversation is locked; unlock it, or set `comment: off`."
    if status in (403, 404):
        return _permission(method, path)
    return "GitHub has a fault at the moment; run the job again." if status >= 500 else ""


def _permission(method: str, path: str) -> str:
    for pattern, name, level in _PERMISSIONS:
        if pattern.search(path):
            needed = "read" if method == "GET" and name != "pull-requests" else level
            return f"Add `{name}: {needed}` to the job's permissions; a fork's pull request never has more than read."
    return ""
