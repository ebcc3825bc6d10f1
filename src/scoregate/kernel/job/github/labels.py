"""Labels of pull requests, verified: who set one and when, and which commit was the head then.

Nothing here depends on what the author of a pull request can write: the event's payload, dates of commits, or a label
alone. GitHub sets the time of labels and of pushes, and knows who may write.
"""

from __future__ import annotations

from datetime import datetime

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.responses import text_at
from scoregate.kernel.job.github.rights import is_user, may_write
from scoregate.kernel.types.records import record

_MOST_EVENTS, _MOST_PUSHES = 4_000, 2_000


class LabelRefused(Exception):
    """A label doesn't count; the message says why."""


@record
class VerifiedLabel:
    """A label that someone with write access set.

    Args:
        login: who set it.
        time: when, by GitHub's clock.
    """

    login: str
    time: datetime


async def has_label(api: Api, number: int, label: str) -> bool:
    """Whether a pull request has a label now.

    Raises:
        GitHubRefused: it can't be read.
    """
    names = [text_at(each, "name") async for each in api.pages(f"issues/{number}/labels")]
    return any(_is_same(name, label) for name in names)


async def verify_label(api: Api, number: int, label: str, *, missing: str = "it is not set") -> VerifiedLabel:
    """Verify that a pull request has a label, and that someone with write access set it.

    Args:
        api: the repository.
        number: the number of the pull request.
        label: the label, in lower case.
        missing: the message if the pull request doesn't have it.

    Raises:
        LabelRefused: the label doesn't count.
        GitHubRefused: the events or the rights can't be read.
    """
    if not await has_label(api, number, label):
        raise LabelRefused(missing)
    advice = f"set the label `{label}` again"
    last, count = None, 0
    async for event in api.pages(f"issues/{number}/events"):
        count += 1
        kind = event.get("event")
        if kind in ("labeled", "unlabeled") and _is_same(text_at(event, "label", "name"), label):
            last = event
    if count > _MOST_EVENTS:
        raise LabelRefused("the pull request has too many events to find who set the label")
    if last is None or last.get("event") != "labeled":
        raise LabelRefused(f"GitHub doesn't list who set the label; {advice}")
    login = text_at(last, "actor", "login")
    if not is_user(last["actor"]):
        raise LabelRefused(f"the label was set by {login[:100]}, which is not a user; {advice}")
    if not await may_write(api, login):
        raise LabelRefused(f"the label was set by {login}, without write access")
    return VerifiedLabel(login, _time_at(last, "created_at"))


def _is_same(name: str, label: str) -> bool:
    return name.casefold() == label  # GitHub ignores the case of labels


async def find_labelled_head(api: Api, number: int, label: str, time: datetime) -> str:
    """The head of the pull request's branch when a label was set, from GitHub's list of pushes.

    Raises:
        LabelRefused: it is unknown.
        GitHubRefused: the pushes can't be read.
    """
    advice = f"set the label `{label}` again"
    request = await api.get(f"pulls/{number}")
    if text_at(request, "head", "repo", "full_name") != api.repository:
        raise LabelRefused("its branch is in another repository")
    branch, head = text_at(request, "head", "ref"), text_at(request, "head", "sha")
    newest, count = None, 0
    async for push in api.pages("activity", ref=f"refs/heads/{branch}"):
        count += 1
        after, pushed = text_at(push, "after"), _time_at(push, "timestamp")
        newest = newest or after
        if newest != head or count > _MOST_PUSHES:  # the list doesn't have the newest push yet
            break
        if pushed == time:
            raise LabelRefused(f"the label was set in the same second as a push; {advice}")
        if pushed < time:
            return after
    raise LabelRefused(f"GitHub's list of pushes lacks the one before the label; run the job again, or {advice}")


def _time_at(response: object, key: str) -> datetime:
    text = text_at(response, key)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise GitHubRefused(f"GitHub's response can't be used: {key} is {text[:50]!r}, not a time")
    return time
