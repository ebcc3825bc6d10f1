"""The addresses of the page, and what each of them answers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from functools import partial
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import IO

from anyio import Lock, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from scoregate.ci.report.html import assets
from scoregate.loopback.guard import POLICY, Guard, Keys
from scoregate.loopback.pages import page_routes, troubles
from scoregate.viewing.shelf import Shelf

_STATIC = Path(__file__).with_name("static")
_CHUNK = 1 << 18
_OF_PAGE = {"Content-Security-Policy": "; ".join((*POLICY, "frame-src 'self'"))}
_FRAMED = "; ".join(each for each in POLICY if not each.startswith("frame-ancestors")) + "; frame-ancestors 'self'"
_ERROR = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not shown · scoregate</title>
<link rel="stylesheet" href="/static/base.css">
<link rel="stylesheet" href="/static/page.css">
</head>
<body><main><h1>This cannot be shown</h1><pre>{}</pre></main></body>
</html>
"""


def app_of(shelf: Shelf, keys: Keys) -> Starlette:
    """The whole of it."""

    async def state(request: Request) -> Response:  # noqa: ARG001
        return JSONResponse(await to_thread.run_sync(shelf.state))

    turn = Lock()

    async def report(request: Request) -> Response:
        if file := await to_thread.run_sync(partial(shelf.written, **request.path_params)):
            return _sent(file)
        async with turn:
            if await request.is_disconnected():  # somebody who walked on through the list
                return Response(status_code=HTTPStatus.NO_CONTENT)
            return _sent(await to_thread.run_sync(partial(shelf.made, **request.path_params)))

    return Starlette(
        routes=[
            *page_routes(_STATIC, _OF_PAGE),
            Route("/state", state),
            Route("/report/{key}/{against}", report),
        ],
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers=troubles(_unshown),
    )


def _sent(file: IO[bytes]) -> Response:
    """A report. The browser runs our script in it and no other, whoever wrote the file."""
    size = os.fstat(file.fileno()).st_size
    headers = {"Content-Security-Policy": f"{assets.policy()}; frame-ancestors 'self'", "Content-Length": str(size)}
    return StreamingResponse(_chunks(file, size), headers=headers, media_type="text/html")


async def _chunks(file: IO[bytes], size: int) -> AsyncIterator[bytes]:
    with file:
        at = 0
        while chunk := await to_thread.run_sync(os.pread, file.fileno(), min(_CHUNK, size - at), at):
            yield chunk
            at += len(chunk)


def _unshown(why: str, status: int) -> Response:
    return HTMLResponse(_ERROR.format(escape(why)), status, headers={"Content-Security-Policy": _FRAMED})
