"""The label that approves entries which a pull request adds, verified through GitHub's API.

Nothing here depends on what the author of the pull request can write: the event's payload, dates of commits, or a
label alone. GitHub sets the time of labels and of pushes, and knows who may write. The approved entries are those in
the files of the commit that was the head of the branch when the label was set.
"""

from __future__ import annotations

import re
from datetime import datetime

from scoregate.ci.commit_files import GitHubFiles
from scoregate.ci.exemptions.commits import read_commit_exemptions
from scoregate.ci.exemptions.files import ExemptionFiles
from scoregate.ci.github.client import Api
from scoregate.ci.github.context import Connection, PullRequest
from scoregate.ci.github.responses import text_at
from scoregate.core.records import record
from scoregate.errors import GitHubRefused, SettingsError

LABEL = "scoregate: accept"
_MOST_EVENTS, _MOST_PUSHES = 4_000, 2_000
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})")
_WRITERS = ("admin", "write")
_ADVICE = f"set the label `{LABEL}` again"


@record
class Approval:
    """The entries that the label approves; without any, why.

    Args:
        files: the entries.
        why: why none is approved; empty if the label counts.
    """

    files: ExemptionFiles = ExemptionFiles()
    why: str = ""


class _Refused(Exception):
    """The label doesn't count; the message says why."""


async def find_approved_files(connection: Connection, request: PullRequest, folder: str) -> Approval:
    """Find the entries that the label on a pull request approves.

    Args:
        connection: the connection to GitHub.
        request: the pull request.
        folder: the folder of the project within the repository.
    """
    needed = f"it needs the label `{LABEL}`, set by someone with write access"
    if connection.api is None:
        return Approval(why=f"{needed}, and without a token no label can be verified")
    if request.is_fork_of(connection.github.repository):
        return Approval(why="in a pull request of a fork no label can approve it; add it on the base branch")
    try:
        labelled = await _find_label(connection.api, request.number, needed)
        head = await _find_labelled_head(connection.api, request.number, labelled)
        return Approval(
            await read_commit_exemptions(GitHubFiles(connection.api, head), folder, where=f" of {head[:7]}")
        )
    except _Refused as refused:
        return Approval(why=str(refused))
    except GitHubRefused as error:
        return Approval(why=f"the label can't be verified: {error.message}")
    except SettingsError as error:
        return Approval(why=f"the file was not valid when the label was set: {error.message.partition(chr(10))[0]}")


async def _find_label(api: Api, number: int, needed: str) -> datetime:
    """When someone with write access set the label that the pull request has now."""
    names = [text_at(each, "name") async for each in api.pages(f"issues/{number}/labels")]
    if not any(_is_label(name) for name in names):
        raise _Refused(needed)
    last, count = None, 0
    async for event in api.pages(f"issues/{number}/events"):
        count += 1
        kind = event.get("event")
        if kind in ("labeled", "unlabeled") and _is_label(text_at(event, "label", "name")):
            last = event
    if count > _MOST_EVENTS:
        raise _Refused("the pull request has too many events to find who set the label")
    if last is None or last.get("event") != "labeled":
        raise _Refused(f"GitHub doesn't list who set the label; {_ADVICE}")
    login = text_at(last, "actor", "login")
    if text_at(last, "actor", "type") != "User" or not _LOGIN.fullmatch(login):
        raise _Refused(f"the label was set by {login[:100]}, which is no user; {_ADVICE}")
    known = await api.get(f"collaborators/{login}/permission")
    if text_at(known, "permission") not in _WRITERS:
        raise _Refused(f"the label was set by {login}, without write access")
    return _time_at(last, "created_at")


def _is_label(name: str) -> bool:
    return name.casefold() == LABEL


async def _find_labelled_head(api: Api, number: int, labelled: datetime) -> str:
    """The head of the pull request's branch when the label was set, from GitHub's list of pushes."""
    request = await api.get(f"pulls/{number}")
    if text_at(request, "head", "repo", "full_name") != api.repository:
        raise _Refused("its branch is in another repository")
    branch, head = text_at(request, "head", "ref"), text_at(request, "head", "sha")
    newest, count = None, 0
    async for push in api.pages("activity", ref=f"refs/heads/{branch}"):
        count += 1
        after, pushed = text_at(push, "after"), _time_at(push, "timestamp")
        newest = newest or after
        if newest != head or count > _MOST_PUSHES:
            break
        if pushed == labelled:
            raise _Refused(f"the label was set in the same second as a push; {_ADVICE}")
        if pushed < labelled:
            return after
    raise _Refused(f"GitHub's list of pushes lacks the one before the label; run the job again, or {_ADVICE}")


def _time_at(response: object, key: str) -> datetime:
    text = text_at(response, key)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise GitHubRefused(f"GitHub's response can't be used: {key} is {text[:50]!r}, not a time")
    return time
