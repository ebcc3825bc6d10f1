"""The one issue of an alert: opened or updated while scores are worse, closed once they have recovered."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any, TypeAlias

from scoregate.features.alert.problems import FOUND, MOST_PROBLEMS, AlertProblem, AlertState
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.publish.comment_store import read_own_logins
from scoregate.kernel.report.markdown import code, prose
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record

_DATA = re.compile(r"^<!-- scoregate-alert-data: (\{.*\}) -->$", re.MULTILINE)
_LONGEST_NAME, _LONGEST_DATA = 300, 40_000


@record
class AlertIssue:
    """An open issue that scoregate wrote."""

    number: int
    body: str
    url: str


FindIssue: TypeAlias = Callable[[], Awaitable[AlertIssue | None]]


@record
class IssueChange:
    """What happened to the issue: its address, and whether it was closed; without an address there is none."""

    url: str = ""
    closed: bool = False


async def update_issue(
    view: ReportView, api: Api, key: str, *, graphql_url: str, redact: Callable[[str], str]
) -> IssueChange:
    """Open, update or close the issue.

    Args:
        view: the run, with its alert.
        api: the repository.
        key: identifies one of several uses in a repository.
        graphql_url: the URL of the GraphQL API.
        redact: removes known secrets from text.

    Raises:
        GitHubRefused: the issue can't be read or written.
    """
    alert, first = view.slots.get(FOUND), f"<!-- scoregate-alert:v1 key={key} -->"
    if alert is None or alert.state in (AlertState.UNKNOWN, AlertState.NOT_CONFIRMED):
        return IssueChange()
    find = partial(_find_issue, api, first, graphql_url=graphql_url)
    old = await find()
    known = () if old is None else parse_problems(old.body)
    left = tuple(each for each in known if not has_recovered(each, view))
    if alert.state is AlertState.CONFIRMED:
        body = f"{first}\n{redact(_render(view, _merge(left, alert.problems)))}"
        return IssueChange(await _write(api, _title(view, key), body, old, find))
    if old is None or left:
        return IssueChange("" if old is None else old.url)
    # `chr(10)`, since an f-string can't have a backslash before Python 3.12.
    body = f"{first}\n{redact(_describe_recovery(view))}\n\n{old.body.partition(chr(10))[2]}"
    await api.patch(f"issues/{old.number}", {"state": "closed", "state_reason": "completed", "body": body})
    return IssueChange(old.url, closed=True)


async def _find_issue(api: Api, first_line: str, *, graphql_url: str) -> AlertIssue | None:
    """The oldest open issue with the marker that the token's own user wrote: anyone can write the marker."""
    logins = await read_own_logins(api, graphql_url)
    issues = []
    for login in sorted(logins):
        async for each in api.pages("issues", state="open", creator=login):
            body, user = each.get("body"), each.get("user")
            is_own = isinstance(user, Mapping) and user.get("login") in logins
            if is_own and "pull_request" not in each and isinstance(body, str) and body.startswith(first_line):
                issues.append(AlertIssue(number_at(each, "number"), body, text_at(each, "html_url")))
    return min(issues, key=lambda issue: issue.number, default=None)


async def _write(api: Api, title: str, body: str, old: AlertIssue | None, find: FindIssue) -> str:
    if old is not None:
        await api.patch(f"issues/{old.number}", {"title": title, "body": body})
        return old.url

    async def find_created() -> Mapping[str, Any] | None:
        issue = await find()
        return None if issue is None else {"number": issue.number, "html_url": issue.url}

    return text_at(await api.post("issues", {"title": title, "body": body}, find_created=find_created), "html_url")


def parse_problems(body: str) -> tuple[AlertProblem, ...]:
    """The problems in the body of an issue; none if they can't be read, as people can edit it."""
    match = _DATA.search(body[:_LONGEST_DATA])
    try:
        listed = json.loads(match[1])["problems"] if match else []
        return tuple(map(_parse_problem, listed[:MOST_PROBLEMS]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()


def _parse_problem(data: Mapping[str, Any]) -> AlertProblem:
    suite, evaluator, rule, base, mean = (data[name] for name in ("suite", "evaluator", "rule", "base", "mean"))
    if not all(isinstance(each, str) for each in (suite, evaluator, rule)):
        raise TypeError("a name is not text")
    if not all(each is None or (isinstance(each, int | float) and isfinite(each)) for each in (base, mean)):
        raise TypeError("a mean is not a number")
    return AlertProblem(suite, evaluator, rule, "", base, mean)


def has_recovered(problem: AlertProblem, view: ReportView) -> bool:
    """Whether a gate holds again, or a mean score is nearer to that of before than to the worse one."""
    if problem.rule:
        failed = {
            (each.suite or "", each.evaluator or "", each.rule)
            for each in view.findings
            if each.conclusion is Conclusion.FAILED
        }
        return problem.key not in failed and any(each.label == problem.suite for each in view.suites)
    if problem.base is None or problem.mean is None:
        return True
    middle = (problem.base + problem.mean) / 2
    means = [each.row.mean for each in view.rows if (each.row.suite, each.row.evaluator) == problem.key[:2]]
    return any(mean is not None and (mean - middle) * (problem.base - problem.mean) >= 0 for mean in means)


def _merge(left: Iterable[AlertProblem], new: Iterable[AlertProblem]) -> list[AlertProblem]:
    """The new problems, with the mean score of before the first alert, and the old ones that are left."""
    known = {each.key: each for each in left}
    merged = {each.key: replace(each, base=known[each.key].base) if each.key in known else each for each in new}
    return list({**merged, **{key: each for key, each in known.items() if key not in merged}}.values())[:MOST_PROBLEMS]


def _title(view: ReportView, key: str) -> str:
    return f"scoregate: scores got worse on {view.run.branch or 'the base branch'} ({key})"


def _render(view: ReportView, problems: Sequence[AlertProblem]) -> str:
    data = [
        {
            "suite": each.suite[:_LONGEST_NAME],
            "evaluator": each.evaluator[:_LONGEST_NAME],
            "rule": each.rule,
            "base": each.base,
            "mean": each.mean,
        }
        for each in problems
    ]
    # In JSON, this character is only within texts. Without it, no name can end the comment.
    content = json.dumps({"problems": data}).replace(">", "\\u003e")
    lines = [
        f"<!-- scoregate-alert-data: {content} -->" if len(content) < _LONGEST_DATA else "",
        "Scores got worse. A second measurement on the same commit confirms it, or several runs without a change.",
        "",
        "| Suite · scorer | Change |",
        "|:--|:--|",
        *(f"| {_place(each)} | {prose(each.text) or 'not recovered yet'} |" for each in problems),
        "",
        _describe_run(view),
        "",
        "Later runs update this issue, and close it once all scores have recovered.",
    ]
    return "\n".join(lines)


def _place(problem: AlertProblem) -> str:
    names = (code(each[:_LONGEST_NAME]) for each in (problem.suite, problem.evaluator) if each)
    return " · ".join(map(str, names))


def _describe_run(view: ReportView) -> str:
    commit = f" of commit {view.run.commit[:7]}" if view.run.commit else ""
    baseline = f" Baseline: {prose(view.base_details)}." if view.base else ""
    return f"[Run{commit}]({view.context.run_url}).{baseline}"


def _describe_recovery(view: ReportView) -> str:
    return f"**Recovered.** {_describe_run(view)}\n\nBefore:"
