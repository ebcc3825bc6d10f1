"""Webhooks that get alerts: Slack's format, and plain JSON. Their addresses are secrets and are never printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio

from scoregate import __version__
from scoregate.features.alert.declare import AlertKind

WEBHOOK_VARIABLES: Mapping[AlertKind, str] = {
    AlertKind.SLACK: "SCOREGATE_SLACK_WEBHOOK",
    AlertKind.WEBHOOK: "SCOREGATE_ALERT_WEBHOOK",
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LIMIT_S = 10.0
_MOST_LINES, _LONGEST_LINE = 20, 300


async def post_alert(kind: AlertKind, url: str, message: Mapping[str, Any]) -> str:
    """Post an alert; returns why it was not delivered, else an empty text. It never takes longer than ten seconds.

    Args:
        kind: the format.
        url: the address; `https`, or a server on this machine.
        message: see `make_message`.
    """
    name = WEBHOOK_VARIABLES[kind]
    if not url:
        return f"`alert` has {kind}, but {name} is not set"
    if not _is_allowed(url):
        return f"{name} is not an address that starts with https://"
    import httpx

    body = _to_slack(message) if kind is AlertKind.SLACK else message
    headers = {"Content-Type": "application/json", "User-Agent": f"scoregate/{__version__}"}
    content = json.dumps(body).encode()
    try:
        with anyio.fail_after(_LIMIT_S):
            async with (
                httpx.AsyncClient(timeout=_LIMIT_S, follow_redirects=False) as client,
                client.stream("POST", url, content=content, headers=headers) as response,  # the body is never read
            ):
                return "" if response.is_success else f"the address in {name} answered {response.status_code}"
    except TimeoutError:
        return f"the address in {name} did not answer within {_LIMIT_S:.0f} s"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        # A message could repeat the address.
        return f"the alert could not be sent to the address in {name}: {type(error).__name__}"


def _is_allowed(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK))


def _to_slack(message: Mapping[str, Any]) -> dict[str, str]:
    """The message as text in Slack's markup, in which `&`, `<` and `>` are escaped."""
    lines = [f"*{_escape(message['title'])}*"]
    problems = message["problems"]
    lines += [f"• {_escape(_describe(each))}" for each in problems[:_MOST_LINES]]
    lines += [f"… {len(problems) - _MOST_LINES} more"] if len(problems) > _MOST_LINES else []
    lines += [f"<{url}|{text}>" for url, text in _list_links(message)]
    return {"text": "\n".join(lines)}


def _describe(problem: Mapping[str, Any]) -> str:
    place = " · ".join(filter(None, (problem["suite"], problem["evaluator"])))
    return f"{place}: {problem['text']}"


def _list_links(message: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    links = ((message["run_url"], "run"), (message["issue_url"], "issue"))
    return ((url, text) for url, text in links if url)


def _escape(text: str) -> str:
    line = " ".join(text.split())[:_LONGEST_LINE]
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
