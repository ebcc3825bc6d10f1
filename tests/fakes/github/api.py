"""From a recorded request to an answer: who asks, what for, is it well formed, is it allowed, then do it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.fakes.github.conform import Conformity
from tests.fakes.github.description import load
from tests.fakes.github.exchange import Answer, Call, Exchange, Refused
from tests.fakes.github.identity import Token, allow
from tests.fakes.github.routes import GRAPHQL, OPERATIONS, ROUTES, Route

if TYPE_CHECKING:
    from tests.fakes.github.server import GitHub

VERSIONS = {"2022-11-28", "2026-03-10"}


@cache
def conformity() -> Conformity | None:
    """GitHub's description as a judge; None where it is not installed."""
    description = load(OPERATIONS)
    return Conformity(description) if description else None


def answer(github: GitHub, exchange: Exchange, url: str) -> Answer:
    """What GitHub would answer, refusals included, with the headers that it sends with everything."""
    try:
        made = handled(github, exchange, url)
    except Refused as refused:
        made = Answer(refused.body, refused.status)
    reset = str(int(time.time()) + 3600)
    date = format_datetime(datetime.now(UTC), usegmt=True)
    limits = {"date": date, "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4999", "x-ratelimit-reset": reset}
    return Answer(
        made.content, made.status, {**limits, "x-github-request-id": f"{len(github.requests):04X}", **made.headers}
    )


def handled(github: GitHub, exchange: Exchange, url: str) -> Answer:
    if not exchange.headers.get("user-agent"):
        raise Refused(
            403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
        )
    if exchange.headers.get("x-github-api-version", "2022-11-28") not in VERSIONS:
        raise Refused(400, "The requested API version is not supported.")
    token = authenticated(github, exchange)
    route, path = routed(github, exchange)
    exchange.operation = route.operation
    body = parsed(exchange)
    if route is not GRAPHQL:
        hold_to_description(github, exchange, path, body)
    call = Call(github, token, path, exchange.query, exchange.headers, body or {}, url)
    if "repo" in path:
        allow(token, call.repo, route.level, route.areas, even_if_public=route.strict)
    return route.handler(call)


def authenticated(github: GitHub, exchange: Exchange) -> Token:
    scheme, _, secret = exchange.headers.get("authorization", "").partition(" ")
    if not secret:
        raise Refused(401, "Requires authentication")
    if scheme.lower() not in ("bearer", "token") or secret not in github.tokens:
        raise Refused(401, "Bad credentials")
    return github.tokens[secret]


def routed(github: GitHub, exchange: Exchange) -> tuple[Route, dict[str, str]]:
    if exchange.method == "POST" and exchange.path == urlsplit(github.graphql_url).path:
        return GRAPHQL, {}
    for route in ROUTES:
        path = None if route.method != exchange.method or exchange.misses_prefix else route.match(exchange.path)
        if path is not None:
            return route, path
    github.violations.append(f"{exchange}: the fake does not serve this")
    raise Refused(404, "Not Found")


def parsed(exchange: Exchange) -> Any:
    try:
        body = exchange.json
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None
    if body is not None and not isinstance(body, dict):
        raise Refused(400, "Body should be a JSON object")
    return body


def hold_to_description(github: GitHub, exchange: Exchange, path: dict[str, str], body: Any) -> None:
    """Refuse what GitHub's description does not allow, and record it as a violation of the sender."""
    judge = conformity()
    wrong = judge.of_request(exchange.operation, path, exchange.query, body) if judge else []
    if wrong:
        github.violations.append(f"{exchange}: {'; '.join(wrong)}")
        raise Refused(422, "Invalid request.\n\n" + "\n".join(wrong))
