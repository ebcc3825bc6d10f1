"""The app of `scoregate view`: the list of runs and their reports."""

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

from scoregate.kernel.report.html import assets
from scoregate.web.server import POLICY, AccessKeys, Guard, error_handlers, page_routes
from scoregate.web.view_runs import RunList

_STATIC = Path(__file__).parent / "static" / "view"
_CHUNK = 1 << 18
_PAGE_HEADERS = {"Content-Security-Policy": "; ".join((*POLICY, "frame-src 'self'"))}
_FRAME_POLICY = (
    "; ".join(each for each in POLICY if not each.startswith("frame-ancestors")) + "; frame-ancestors 'self'"
)
_MEDIA_POLICY = "default-src 'none'; img-src 'self'; media-src 'self'; frame-ancestors 'none'"
_ERROR_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No report · scoregate</title>
<link rel="stylesheet" href="/static/base.css">
<link rel="stylesheet" href="/static/page.css">
</head>
<body><main><h1>This report can't be shown</h1><pre>{}</pre></main></body>
</html>
"""


def build_view_app(runs: RunList, keys: AccessKeys) -> Starlette:
    """Build the app."""

    async def state(request: Request) -> Response:  # noqa: ARG001
        return JSONResponse(await to_thread.run_sync(runs.state))

    turn = Lock()

    async def report(request: Request) -> Response:
        if file := await to_thread.run_sync(partial(runs.open_stored, **request.path_params)):
            return _report_response(file)
        async with turn:
            if await request.is_disconnected():  # the user has chosen another run
                return Response(status_code=HTTPStatus.NO_CONTENT)
            return _report_response(await to_thread.run_sync(partial(runs.render, **request.path_params)))

    async def media(request: Request) -> Response:
        file = await to_thread.run_sync(partial(runs.read_media, **request.path_params))
        return Response(file.data, media_type=file.type, headers={"Content-Security-Policy": _MEDIA_POLICY})

    return Starlette(
        routes=[
            *page_routes(_STATIC, _PAGE_HEADERS),
            Route("/state", state),
            Route("/report/{key}/{against}", report),
            Route("/media/{digest}", media),
        ],
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers=error_handlers(_error_page),
    )


def _report_response(file: IO[bytes]) -> Response:
    """A report. The policy lets the browser run scoregate's script only, whoever wrote the file."""
    size = os.fstat(file.fileno()).st_size

    async def chunks() -> AsyncIterator[bytes]:
        with file:
            offset = 0
            # `pread`, since the handles of a cached report share their position.
            while chunk := await to_thread.run_sync(os.pread, file.fileno(), min(_CHUNK, size - offset), offset):
                yield chunk
                offset += len(chunk)

    headers = {"Content-Security-Policy": f"{assets.policy()}; frame-ancestors 'self'", "Content-Length": str(size)}
    return StreamingResponse(chunks(), headers=headers, media_type="text/html")


def _error_page(message: str, status: int) -> Response:
    return HTMLResponse(_ERROR_PAGE.format(escape(message)), status, headers={"Content-Security-Policy": _FRAME_POLICY})
