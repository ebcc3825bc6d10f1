"""Calls to Autoblocks' platform as they come in: answered by `cloud`, and told of where the report should know."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio.to_thread

from scoregate.ci.listen.cloud import Answer, Request, answer
from scoregate.ci.listen.desk import Desk
from scoregate.core.events import ErrorInfo

PREFIX = "/cloud"


def is_cloud(path: str) -> bool:
    """Whether a path below a token is one of the platform's."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


async def ask_cloud(desk: Desk, scope: Mapping[str, Any], body: bytes) -> tuple[int, Any]:
    """The status and content that answer a request; the book may block, so that it is asked in a thread."""
    # A path as it was sent: a slash in a suite's id is not one between two parts.
    path = scope["raw_path"].decode("latin-1").partition(PREFIX)[2]
    request = Request(scope["method"], path, scope["query_string"].decode("latin-1"), body)
    try:
        found = await anyio.to_thread.run_sync(partial(answer, request, desk.book))
    except Exception as error:  # ours: the report learns of it, whatever the SDK makes of the answer
        told = ErrorInfo(type(error).__name__, f"scoregate failed: {error!s:.500}", traceback.format_exc(limit=-20))
        if not desk.closed:
            desk.failed(None, told)
        return 500, {"error": f"scoregate failed: {type(error).__name__}"}
    if not desk.closed:
        _tell(desk, request, found)
    return found.status, found.content


def _tell(desk: Desk, request: Request, found: Answer) -> None:
    if found.unknown:
        desk.notices.tell(
            f"a call to Autoblocks' platform was kept on this machine: {request.method:.10} {request.path or '/':.100}"
        )
    if found.review is not None:
        desk.review(found.review.run, found.review.name, assignees=found.review.assignees)
    if found.crowned is not None:
        desk.crowned(found.crowned.suite, found.crowned.case)
    if found.failure is not None:
        desk.failed(found.failure.suite, found.failure.error)
